import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createElectronProvider } from '../../src/client/electron-provider.ts';
import {
  expectDifferential,
  openClient,
  type Releases,
  releaseEach,
  update,
} from '../e2e/differential.ts';
import type { ElectronClient, ElectronClientOptions } from '../support/electron-updater.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createSignedService, type SignedService } from '../support/signed-service.ts';

/** The real electron-updater with the provider that verifies. */

const KINDS = ['nsis', 'mac', 'appimage'] as const;
const temporary = await makeTemporaryDirectory();
let signed: SignedService;
let builds: Record<(typeof KINDS)[number], Releases>;

beforeAll(async () => {
  signed = await createSignedService();
  const { service, trust } = signed;
  builds = await releaseEach({ ...service, trust }, KINDS, ['stable']);
  await service.refresh();
});
afterAll(async () => {
  await signed.close();
  await temporary.remove();
});

let caches = 0;

/** A client whose provider verifies with the root of the service. */
async function openVerified(
  options: Pick<ElectronClientOptions, 'kind'> & Partial<ElectronClientOptions>,
): Promise<ElectronClient> {
  const updateProvider = createElectronProvider({
    root: await readFile(signed.rootFile),
    cache: path.join(temporary.path, `cache-${++caches}`),
    url: await signed.service.listen(),
    app: 'desktop',
    arch: options.arch ?? 'x64',
    ...(options.kind === 'appimage' ? { format: 'appimage' } : {}),
  });
  return openClient(signed.service, {
    ...options,
    configure: (updater) => {
      updater.setFeedURL({ provider: 'custom', updateProvider });
      options.configure?.(updater);
    },
  });
}

/** The bytes of each request for a file of a release. */
const fileBytes = ({ requests }: ElectronClient): readonly string[] =>
  requests
    .filter(({ url }) => !url.includes('.yml'))
    .map(({ bytes, range }) => `${range ?? 'all'}: ${bytes}`);

describe.each(['current', 'next'] as const)('electron-updater, %s', (client) => {
  it.each(KINDS)('%s: downloads what changed, and as many bytes as without us', async (kind) => {
    const { old, next } = builds[kind];
    const options = { kind, client, installed: old.file } as const;
    const verified = await update(await openVerified(options));
    expectDifferential(verified, next.file);
    const plain = await update(await openClient(signed.service, options));
    expect(fileBytes(verified.client)).toEqual(fileBytes(plain.client));
    expect(verified.name).toBe(plain.name);
  });

  it('finds no update for the newest version', async () => {
    expect(await (await openVerified({ kind: 'nsis', client, version: '2.0.0' })).check()).toBe(
      null,
    );
  });
});

describe('a service that lies', () => {
  it('cannot make the client install a release that the keys of the channel did not sign', async () => {
    const client = await openVerified({ kind: 'nsis', version: '1.5.0' });
    const { fetch: honest } = globalThis;
    globalThis.fetch = async (input, init) => {
      const response = await honest(input, init);
      if (!String(input).includes('check-update')) return response;
      const text = await response.text();
      return new Response(text.replaceAll('2.0.0', '9.0.0'), response);
    };
    try {
      await expect(client.check()).rejects.toMatchObject({ code: 'offer_not_signed' });
    } finally {
      globalThis.fetch = honest;
    }
  });

  it('cannot replace the bytes of a file', async () => {
    const client = await openVerified({ kind: 'nsis' });
    expect(await client.check()).toBe('2.0.0');
    const { store } = signed.service;
    for await (const { key } of store.list('apps/desktop/artifacts/')) {
      if (!key.endsWith('App-Setup-2.0.0.exe')) continue;
      await store.delete(key);
      await store.create(key, Buffer.alloc(builds.nsis.next.file.length, 'x'));
    }
    await expect(client.download()).rejects.toThrow(/checksum/);
  });
});
