import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { artifactKey } from '../../src/catalog/documents/keys.ts';
import type { PublishRequest } from '../../src/releases/publish/publish-request.ts';
import { pathOf } from '../../src/store/filesystem/names.ts';
import { signIn } from '../features/accounts/routes/account-support.ts';
import {
  createElectronClient,
  type ElectronClient,
  type ElectronClientOptions,
} from '../support/electron-updater.ts';
import { makeArtifact, publish } from '../support/release.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import {
  createTestService,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts';

/** The real electron-updater against the complete service: an update, no update, corrupt files, an outage. */

let service: TestService;

afterEach(() => service.close());

async function openClient(
  options: Omit<ElectronClientOptions, 'url'>,
  at = service,
): Promise<ElectronClient> {
  const url = `${await at.listen()}/feeds/desktop/stable/electron`;
  return createElectronClient({ url, ...options });
}

const PACKAGES = {
  nsis: { platform: 'windows', format: 'nsis', extension: 'exe' },
  mac: { platform: 'macos', format: 'zip', extension: 'zip' },
  appimage: { platform: 'linux', format: 'appimage', extension: 'AppImage' },
  deb: { platform: 'linux', format: 'deb', extension: 'deb' },
} as const;

async function publishFor(
  kind: keyof typeof PACKAGES,
  version: string,
  filename?: string,
  request: Partial<PublishRequest> = {},
) {
  const { extension, ...artifact } = PACKAGES[kind];
  const content = randomBytes(300_000);
  const directory = path.join(service.directory, version);
  const name = filename ?? `App-${version}.${extension}`;
  const built = await makeArtifact(directory, { ...artifact, filename: name, content });
  const published = await publish(service, { version, artifacts: [built], ...request });
  await service.refresh();
  const stored = published.artifacts[0]?.artifact.object ?? '';
  const key = artifactKey('desktop', stored);
  return { content, file: pathOf(path.join(service.config.dataDirectory, 'objects'), key) };
}

describe('on a directory store', () => {
  beforeEach(async () => {
    service = await createTestService({ store: 'directory' });
  });

  it.each(['nsis', 'mac', 'appimage', 'deb'] as const)(
    '%s: finds the newer release and downloads it by the stable address',
    async (kind) => {
      await publishFor(kind, '1.0.0');
      const { content } = await publishFor(kind, '2.0.0');
      const client = await openClient({ kind, version: '1.0.0' });

      expect(await client.check()).toBe('2.0.0');
      const { bytes } = await client.download();

      expect(bytes.equals(content)).toBe(true);
      const url = await service.listen();
      const file = `${url}/feeds/desktop/stable/electron/2.0.0/App-2.0.0.${PACKAGES[kind].extension}`;
      // The client requests a stable address, which redirects to a link that expires.
      expect(client.requests).toContainEqual(
        expect.objectContaining({ url: file, status: 302, hasToken: false }),
      );
      expect(client.requests.at(-1)?.url).toMatch(`${url}/files/`);
      expect(client.requests.at(-1)?.status).toBe(200);
    },
  );

  it('offers nothing to the newest client, whether it sends its version or not', async () => {
    await publishFor('nsis', '1.0.0');
    await publishFor('nsis', '2.0.0');
    for (const requestHeaders of [null, { 'x-current-version': '2.0.0' }]) {
      const client = await openClient({
        kind: 'nsis',
        version: '2.0.0',
        configure: (updater) => Object.assign(updater, { requestHeaders }),
      });
      expect(await client.check()).toBeNull();
      expect(client.requests.map(({ status }) => status)).toEqual([200]);
    }
  });

  it('offers a staged release by the id that the client itself sends', async () => {
    await publishFor('nsis', '1.0.0');
    const rollout = { text: '50%', freezeWindows: [] };
    await publishFor('nsis', '2.0.0', undefined, { rollout });
    const offered = new Set<string | null>();
    for (let client = 0; client < 60 && offered.size < 2; client++) {
      const { check, requests } = await openClient({ kind: 'nsis', version: '1.0.0' });
      const version = await check();
      offered.add(version);
      // The same client gets the same answer again.
      expect(await check()).toBe(version);
      expect(requests.every(({ status }) => status === 200)).toBe(true);
    }
    expect(offered).toEqual(new Set(['2.0.0', null]));
  });

  it.each([
    'My App Setup 2.0.0.exe',
    'App+Tools-2.0.0+1.exe',
    'App #2 50% & more.exe',
    'Überblick 2.0.0.exe',
  ])('serves a file named %j', async (filename) => {
    await publishFor('nsis', '1.0.0');
    const { content } = await publishFor('nsis', '2.0.0', filename);
    const client = await openClient({ kind: 'nsis', version: '1.0.0' });
    expect(await client.check()).toBe('2.0.0');
    const { name, bytes } = await client.download();
    expect(name).toBe(filename);
    expect(bytes.equals(content)).toBe(true);
  });

  it('serves a version with build metadata, whose addresses contain a +', async () => {
    await publishFor('nsis', '1.0.0');
    const { content } = await publishFor('nsis', '2.0.0+build.7');
    const client = await openClient({ kind: 'nsis', version: '1.0.0' });
    expect(await client.check()).toBe('2.0.0+build.7');
    expect((await client.download()).bytes.equals(content)).toBe(true);
  });

  it('serves corrupt bytes of the same size, which the client refuses', async () => {
    await publishFor('nsis', '1.0.0');
    const { content, file } = await publishFor('nsis', '2.0.0');
    await writeFile(file, randomBytes(content.length));
    const client = await openClient({ kind: 'nsis', version: '1.0.0' });
    expect(await client.check()).toBe('2.0.0');
    await expect(client.download()).rejects.toMatchObject({ code: 'ERR_CHECKSUM_MISMATCH' });
  });

  const offeredAfterRestart = async (options: TestServiceOptions): Promise<string | null> => {
    const restarted = await createTestService(options);
    try {
      return await (await openClient({ kind: 'nsis', version: '0.9.0' }, restarted)).check();
    } finally {
      await restarted.close();
    }
  };

  it('does not offer a file of another size after a restart', async () => {
    await publishFor('nsis', '1.0.0');
    const { content, file } = await publishFor('nsis', '2.0.0');
    await writeFile(file, content.subarray(1));
    expect(await offeredAfterRestart({ store: service.store })).toBe('1.0.0');
  });

  it('does not offer a file of another size after a restart from saved state', async () => {
    await publishFor('nsis', '1.0.0');
    const { content, file } = await publishFor('nsis', '2.0.0');
    const env = { DATA_DIR: service.config.dataDirectory };
    const before = await createTestService({ env });
    const state = path.join(env.DATA_DIR, 'state');
    await vi.waitFor(async () => {
      const saved = await readdir(state, { recursive: true });
      expect(saved).toContainEqual(expect.stringMatching(/desktop.2\.catalog$/));
    });
    await before.close();
    await writeFile(file, content.subarray(1));
    expect(await offeredAfterRestart({ env })).toBe('1.0.0');
  });

  it('reports a deleted file as a failed download', async () => {
    await publishFor('nsis', '1.0.0');
    const { file } = await publishFor('nsis', '2.0.0');
    await rm(file);
    const client = await openClient({ kind: 'nsis', version: '1.0.0' });
    expect(await client.check()).toBe('2.0.0');
    await expect(client.download()).rejects.toThrow(/status 404/);
  });
});

describe('when the catalog cannot be read', () => {
  it('is an error for the client, and not "no update"', async () => {
    service = await createTestService({ start: false });
    const client = await openClient({
      kind: 'nsis',
      version: '1.0.0',
      configure: (updater) =>
        Object.assign(updater, { requestHeaders: { 'x-current-version': '1.0.0' } }),
    });
    await expect(client.check()).rejects.toMatchObject({ statusCode: 503 });
  });
});

describeS3('on a real S3 server', (server) => {
  const bucket = useBucket(server);

  it('downloads from a channel that requires a token, and sends the token only to the service', async () => {
    const TIERS = JSON.stringify({ free: ['channel:desktop/stable'] });
    service = await createTestService({
      store: bucket.store({ prefix: 'token/' }),
      env: { TIERS },
    });
    for (const version of ['1.0.0', '2.0.0']) {
      const directory = path.join(service.directory, version);
      const filename = `App-${version}.exe`;
      const map = await makeArtifact(directory, { filename: `${filename}.blockmap` });
      const companions = [{ ...map, kind: 'blockmap' as const }];
      const artifacts = [await makeArtifact(directory, { filename, content: version, companions })];
      await publish(service, { version, artifacts });
    }
    await service.refresh();
    const { access } = await signIn(service);
    const client = await openClient({
      kind: 'nsis',
      version: '1.0.0',
      configure: (updater) => {
        updater.requestHeaders = { authorization: `Bearer ${access}` };
      },
    });
    expect(await client.check()).toBe('2.0.0');
    expect((await client.download()).bytes.toString()).toBe('2.0.0');
    const store = client.requests.filter(({ url }) => url.startsWith(server.endpoint));
    expect(store.map(({ status, hasToken }) => [status, hasToken])).toEqual(
      // The block maps of both versions, and the file.
      [1, 2, 3].map(() => [200, false]),
    );
    const maps = client.requests.filter(
      (each) => /blockmap/.test(each.url) && !store.includes(each),
    );
    expect(maps.map(({ status, hasToken }) => [status, hasToken])).toEqual([
      [302, true],
      [302, true],
    ]);
  });

  it('redirects to a presigned URL of the bucket', async () => {
    service = await createTestService({ store: bucket.store() });
    await publishFor('nsis', '1.0.0');
    const { content } = await publishFor('nsis', '2.0.0', 'My App+#2 Setup.exe');
    const client = await openClient({ kind: 'nsis', version: '1.0.0' });
    expect(await client.check()).toBe('2.0.0');
    const { name, bytes } = await client.download();
    expect(name).toBe('My App+#2 Setup.exe');
    const digest = (data: Buffer) => createHash('sha512').update(data).digest('hex');
    expect(digest(bytes)).toBe(digest(content));
    const last = new URL(client.requests.at(-1)?.url ?? '');
    expect(last.origin).toBe(new URL(server.endpoint).origin);
    expect(last.searchParams.has('X-Amz-Signature')).toBe(true);
  });
});
