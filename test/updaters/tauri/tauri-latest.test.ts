import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BuiltArtifact } from '../../../src/builds/build-output.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** Tauri's latest.json over HTTP. The tests build on each other. */

const LATEST = '/feeds/desktop/stable/tauri/latest.json';

let service: TestService;

beforeAll(async () => {
  service = await createTestService();
  await release('1.0.0', []);
});

afterAll(() => service.close());

async function release(
  version: string,
  more: readonly Partial<BuiltArtifact>[],
  request: Partial<PublishRequest> = {},
) {
  const builds: Partial<BuiltArtifact>[] = [{}, { platform: 'linux', format: 'appimage' }, ...more];
  const artifacts = await Promise.all(
    builds.map((build, index) => {
      const filename = `App-${version}-${index}`;
      const signatures = [
        { scheme: 'minisign' as const, keyId: 'AB', value: `.sig of ${filename}` },
      ];
      return makeArtifact(service.directory, { filename, content: filename, signatures, ...build });
    }),
  );
  await publish(service, { version, artifacts, ...request });
  await service.refresh();
}

async function ask(query = '', headers: Record<string, string> = {}, address = LATEST) {
  const answer = await service.app.http.inject({ url: `${address}${query}`, headers });
  const { statusCode: status } = answer;
  const cache = answer.headers['cache-control'];
  return { status, cache, body: answer.body === '' ? undefined : JSON.parse(answer.body) };
}

describe('latest.json', () => {
  it('has the file and the signature of the same build for each target', async () => {
    const { status, cache, body } = await ask();
    expect([status, cache]).toEqual([200, expect.stringContaining('public')]);
    expect(Object.keys(body.platforms)).toEqual([
      ...['windows-x86_64', 'windows-x86_64-nsis', 'windows-aarch64', 'windows-aarch64-nsis'],
      ...['linux-x86_64', 'linux-x86_64-appimage'],
    ]);
    for (const { url, signature } of Object.values<Record<string, string>>(body.platforms)) {
      const name = url?.split('/').at(-1);
      expect(signature).toBe(`.sig of ${name}`);
      const link = await service.app.http.inject({ url: new URL(url ?? '').pathname });
      expect(link.statusCode).toBe(302);
    }
  });

  it('has a universal build under both names that applications choose as a target', async () => {
    const channel = 'universal';
    const askThere = async () => (await ask('', {}, LATEST.replace('stable', channel))).body;
    const universal = { platform: 'macos', arch: 'universal', format: 'tar.gz' } as const;
    await release('1.1.0', [universal], { channel });
    const { platforms } = await askThere();
    expect(platforms['darwin-universal']).toEqual(platforms['darwin-universal-app']);
    expect(platforms['macos-universal']).toEqual(platforms['darwin-universal']);
    expect(platforms['macos-universal'].url).toContain('1.1.0');
    // A release without a universal build leaves both out.
    const apart: Partial<BuiltArtifact>[] = [{ arch: 'arm64' }, { arch: 'x64' }];
    await release(
      '1.2.0',
      apart.map((build) => ({ ...universal, ...build })),
      { channel },
    );
    const newer = await askThere();
    expect(newer.version).toBe('1.2.0');
    expect(Object.keys(newer.platforms).filter((name) => name.includes('universal'))).toEqual([]);
  });

  it('differs for clients on different systems, and is rendered once for each', async () => {
    await release('2.0.0', [{ platform: 'macos', format: 'tar.gz', minimumOsVersion: '14.0' }]);
    const hasMac = async (query: string) => 'darwin-x86_64' in (await ask(query)).body.platforms;
    for (const _again of [1, 2]) {
      expect(await hasMac('')).toBe(false);
      expect(await hasMac('?os_version=13.0')).toBe(false);
      expect(await hasMac('?os_version=14.1')).toBe(true);
    }
  });

  it('is stored by no shared cache while a rollout gives clients different releases', async () => {
    await release('3.0.0', [], { rollout: { text: '50%', freezeWindows: [] } });
    const seen = new Set<string>();
    for (let id = 0; id < 20; id++) {
      const byQuery = await ask(`?installation_id=client-${id}`);
      const byHeader = await ask('', { 'x-installation-id': `client-${id}` });
      expect(byHeader).toEqual(byQuery);
      expect(byQuery.cache).toContain('private');
      seen.add(byQuery.body.version);
    }
    expect(seen).toEqual(new Set(['2.0.0', '3.0.0']));
    expect((await ask()).body.version).toBe('2.0.0');
  });

  it('is 204 to a client that states the newest version', async () => {
    expect((await ask('?current_version=1.0.0')).body.version).toBe('2.0.0');
    expect(await ask('?current_version=2.0.0')).toEqual({
      status: 204,
      cache: 'private, no-store',
      body: undefined,
    });
    expect((await ask('?current_version=two')).status).toBe(400);
  });

  it('is 204 when no release is offered, and 404 for an unknown channel', async () => {
    for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
      const yank = { application: 'desktop', channel: undefined, reason: null, version };
      await changeStatus({ ...service, actor: 'test' }, 'yank', yank);
    }
    await service.refresh();
    expect((await ask()).status).toBe(204);
    const url = LATEST.replace('stable', 'nightly');
    expect((await service.app.http.inject({ url })).statusCode).toBe(404);
  });
});
