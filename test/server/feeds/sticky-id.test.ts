import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { release } from '../support.ts';

/** A rollout reaches the same installations in every dialect, by whatever name they send their id. */

let service: TestService;

beforeAll(async () => {
  service = await createTestService({ env: { LEGACY_ADDRESSES: 'hazel' } });
  const machines = ['macos x64 zip', 'windows x64 nsis', 'windows x64 msix'];
  await release(service, '1.0.0', machines);
  const rollout = { text: '50%', freezeWindows: [] };
  await release(service, '2.0.0', machines, { rollout });
});
afterAll(() => service.close());

const FEED = '/feeds/desktop/stable';
const IDS = Array.from({ length: 40 }, (_each, n) => `installation-${n}`);

async function isOffered(url: string, headers: Record<string, string> = {}): Promise<boolean> {
  const answer = await service.app.http.inject({ url, headers });
  // What depends on an id must not be kept by a cache for other clients.
  expect(answer.headers['cache-control']).toBe('private, no-store');
  return answer.body.includes('2.0.0');
}

describe.each([
  ['squirrel-mac', `${FEED}/squirrel-mac/darwin/x64/1.0.0`],
  ['msix', `${FEED}/msix/1.0.0`],
  ['electron', `${FEED}/electron/latest.yml`],
  ['hazel', '/update/darwin/1.0.0'],
])('%s', (_name, url) => {
  it('offers the same installations the release, however they send their id', async () => {
    const reached: string[] = [];
    for (const id of IDS) {
      const answers = await Promise.all([
        isOffered(`${url}?installation_id=${id}`),
        isOffered(`${url}?stagingId=${id}`),
        isOffered(url, { 'x-installation-id': id }),
        isOffered(url, { 'x-user-staging-id': id }),
      ]);
      expect(new Set(answers).size).toBe(1);
      if (answers[0]) reached.push(id);
    }
    expect(reached.length).toBeGreaterThan(8);
    expect(reached.length).toBeLessThan(32);
  });

  it('offers only what is at 100 % to a client without an id, also to one with an empty id', async () => {
    expect(await isOffered(url)).toBe(false);
    expect(await isOffered(`${url}?installation_id=&stagingId=`)).toBe(false);
    expect(await isOffered(url, { 'x-installation-id': '' })).toBe(false);
  });
});
