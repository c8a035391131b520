import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { systemClock } from '../../../src/core/system.ts';
import { slipway } from '../../cli/support.ts';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** The service on a directory store whose volume is not mounted: at its start, or from some moment on. */

let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  temporary = await makeTemporaryDirectory();
});
afterAll(() => temporary.remove());

let services = 0;
/** Does not wait between the tries of a request. */
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > 1_000 ? ms : 0, signal),
};
const open = (data: string, start = true) =>
  createTestService({ env: { DATA_DIR: data }, clock, start });

const ask = async ({ app }: TestService, url: string, payload?: object) => {
  const method = payload === undefined ? 'GET' : 'POST';
  return app.http.inject({ method, url, ...(payload === undefined ? {} : { payload }) });
};
const post = async (service: TestService, url: string, payload: object) =>
  (await ask(service, url, payload)).statusCode;
const contact = (service: TestService) =>
  post(service, '/api/v1/contact', {
    name: 'Ada',
    email: 'ada@example.org',
    subject: 'Hello',
    message: 'A message',
    captcha_token: 'none',
  });
const register = (service: TestService) =>
  post(service, '/api/v1/auth/register', {
    email: `ada${services}@example.org`,
    password: 'correct horse battery',
    name: 'Ada',
  });
const check = (service: TestService) =>
  post(service, '/api/v1/desktop/check-update', {
    current_version: '0.1.0',
    platform: 'windows',
    arch: 'x64',
  });
const statusOf = async (service: TestService): Promise<string> =>
  (await ask(service, '/api/v1/system/status')).body;
const idOf = (objects: string): string =>
  JSON.parse(readFileSync(path.join(objects, 'store!.json'), 'utf8')).id;

/** @param hasRelease whether a release exists; without one, the service saves no catalog */
async function prepare(hasRelease: boolean): Promise<{ data: string; objects: string }> {
  const data = path.join(temporary.path, String(services++));
  const service = await open(data, false);
  if (hasRelease) {
    const artifact = await makeArtifact(temporary.path);
    await publish(service, { version: '1.0.0', artifacts: [artifact] });
    await service.app.catalog.start();
    await expect
      .poll(() => readdirSync(path.join(data, 'state'), { recursive: true }).join())
      .toContain('1.catalog');
  }
  expect(await contact(service)).toBe(202);
  await service.close();
  return { data, objects: path.join(data, 'objects') };
}

it.each([
  ['gone', 'before the start', true, () => undefined],
  ['gone', 'before the start', false, () => undefined],
  ['an empty mount point', 'before the start', true, mkdirSync],
  ['an empty mount point', 'while the service runs', true, mkdirSync],
  [
    'another store',
    'before the start',
    true,
    async (objects: string) =>
      void (await (await openDirectoryStore(objects)).create('a', Buffer.from('x'))),
  ],
] as const)(
  'that is %s %s (with a release: %s) is not written to, and nothing is acknowledged',
  async (_, moment, hasRelease, replace) => {
    const { data, objects } = await prepare(hasRelease);
    const id = idOf(objects);
    const unmount = async () => {
      renameSync(objects, `${objects}-away`);
      await replace(objects);
    };
    if (moment === 'before the start') await unmount();
    const service = await open(data);
    if (moment === 'while the service runs') await unmount();
    const found = (() => {
      try {
        return readdirSync(objects);
      } catch {
        return undefined;
      }
    })();
    service.app.background.start();
    try {
      const answers = await Promise.all([contact(service), register(service), check(service)]);
      expect(answers).toEqual([503, 503, hasRelease ? 200 : 503]);
      await expect.poll(() => statusOf(service)).toContain(`Expected the store ${id}, and found`);
      if (found?.includes('store!.json')) expect(await statusOf(service)).toContain(idOf(objects));
      if (found === undefined) expect(() => readdirSync(objects)).toThrow('ENOENT');
      else expect(readdirSync(objects)).toEqual(found);

      rmSync(objects, { recursive: true, force: true });
      renameSync(`${objects}-away`, objects);
      // Without a restart.
      expect(await contact(service)).toBe(202);
      expect(await register(service)).toBe(202);
      if (hasRelease) expect(await check(service)).toBe(200);
    } finally {
      await service.app.background.stop(Promise.resolve());
      await service.close();
    }
    expect(idOf(objects)).toBe(id);
  },
);

it('is refused by every command, which makes no new store beside the service', async () => {
  const { data, objects } = await prepare(true);
  const id = idOf(objects);
  renameSync(objects, `${objects}-away`);
  const { path: file } = await makeArtifact(temporary.path);
  for (const words of [
    ['publish', '2.0.0', file, '--create'],
    ['publish', '2.0.0', file, '--create', '--dry-run'],
    ['yank', '1.0.0'],
    ['verify'],
    ['gc'],
    ['doctor'],
  ]) {
    const { code, stdout, stderr } = await slipway(words, {
      cwd: temporary.path,
      env: { DATA_DIR: data },
    });
    expect(code, words.join(' ')).toBe(1);
    expect(stdout + stderr, words.join(' ')).toMatch(
      new RegExp(`holds no store, and ${path.join(data, 'state')} says .* ${id}\\.`),
    );
  }
  expect(() => readdirSync(objects)).toThrow('ENOENT');
});
