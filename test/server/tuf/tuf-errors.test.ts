import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { manifestKey } from '../../../src/catalog/documents/keys.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/system.ts';
import { correctNotes } from '../../../src/releases/publish/correct-notes.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { signIn } from '../../features/accounts/routes/account-support.ts';
import { createHastyClock } from '../../support/clock.ts';
import { readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { createSignedService, type SignedService } from '../../support/signed-service.ts';
import { keysOf } from '../../support/trust.ts';
import { createBreakableStore, createErrorLedger, createSwitchedLoad, get } from '../support.ts';

/** Every error of the signed metadata, compared with the OpenAPI document in both directions; and who may read what. */

const ledger = createErrorLedger();
const broken = createBreakableStore(createMemoryStore({ clock: systemClock }));
const load = createSwitchedLoad();
const temporary = await makeTemporaryDirectory();
/** One route answers all addresses of the metadata. */
const ROUTE = 'GET /tuf/…';
let signed: SignedService;
let unloaded: TestService;

beforeAll(async () => {
  const tiers = JSON.stringify({ free: ['channel:desktop/insider'] });
  const { sleep } = createHastyClock();
  const now = Date.now();
  signed = await createSignedService({
    // A clock that stands still: a busy machine could otherwise read again.
    clock: { now: () => now, sleep },
    store: broken.store,
    load,
    env: { TIERS: tiers },
    root: (signers) => {
      const all = keysOf(1, ...signers);
      return { people: all, operators: signers, channels: { stable: all, insider: all } };
    },
  });
  unloaded = await createTestService({ start: false });
  await release('1.0.0');
  await release('1.1.0');
  await release('6.0.0', 'insider');
  const { service, trust } = signed;
  const asked = { application: 'desktop', version: '1.1.0', channel: undefined, reason: 'a test' };
  await changeStatus({ ...service, trust, actor: 'test' }, 'yank', asked);
  await service.refresh();
});
afterAll(async () => {
  await Promise.all([signed.close(), unloaded.close()]);
  await temporary.remove();
});

async function release(version: string, channel = 'stable'): Promise<void> {
  const content = `program ${version}`;
  const artifact = await makeArtifact(temporary.path, { filename: `App-${version}.exe`, content });
  await signed.publish({ version, channel, artifacts: [artifact] });
}

const produce = (status: number, code: ErrorCode, url: string, more: object = {}) =>
  ledger.produce(signed.service, ROUTE, status, code, { url: `/tuf/${url}`, ...more });

/** The SHA-256 of a stored manifest. */
async function digestOf(version: string, number = 1): Promise<string> {
  const text = await readText(signed.service.store, manifestKey('desktop', version, number));
  return createHash('sha256').update(String(text)).digest('hex');
}

/** Called for each request to the store. */
function countRequests() {
  const request = vi.fn();
  const { store } = signed.service;
  for (const name of ['get', 'read', 'open', 'head', 'list'] as const) {
    const inner = store[name] as (...call: unknown[]) => unknown;
    vi.spyOn(store, name).mockImplementation(((...call: unknown[]) => {
      request(name, call[0]);
      return inner(...call);
    }) as never);
  }
  return request;
}

/** The address of the file of a release, below the name of the application. */
async function fileOf(version: string, channel = 'stable'): Promise<string> {
  const text = await readText(signed.service.store, manifestKey('desktop', version, 1));
  const { sha256, filename } = JSON.parse(String(text)).signed.artifacts[0];
  return `desktop/targets/desktop/${channel}/${version}/${sha256}.${filename}`;
}

it('answers with each error that it documents', async () => {
  const zeros = '0'.repeat(64);
  const file = await fileOf('1.0.0');
  await produce(400, 'invalid_request', `${'a'.repeat(129)}/timestamp.json`);
  await produce(404, 'unknown_application', 'nothing/timestamp.json');
  await produce(404, 'unknown_file', 'desktop/7.snapshot.json');
  await produce(404, 'unknown_channel', 'desktop/1.channel-nightly.json');
  await produce(404, 'unknown_version', `desktop/targets/desktop/stable/9.9.9/${zeros}.App.exe`);
  await produce(403, 'not_entitled', 'desktop/1.channel-insider.json');
  await produce(403, 'not_entitled', await fileOf('6.0.0', 'insider'));
  await produce(410, 'release_withdrawn', await fileOf('1.1.0'));
  const several = { range: 'bytes=0-1,4-5' };
  await produce(416, 'range_not_satisfiable', file, { headers: { range: 'bytes=999-' } });
  const ifMatch = { headers: { ...several, 'if-match': '"x"' } };
  await produce(412, 'precondition_failed', file, ifMatch);
  for (const code of ['store_unavailable', 'store_denied'] as const) {
    broken.failWith(code);
    await produce(503, code, 'desktop/1.targets.json');
    broken.failWith(undefined);
  }
  load.set(true);
  await produce(503, 'overloaded', 'desktop/timestamp.json');
  load.set(false);
  const url = '/tuf/desktop/timestamp.json';
  await ledger.produce(unloaded, ROUTE, 503, 'catalog_unavailable', { url });
  const { store } = signed.service;
  for await (const { key } of store.list('apps/desktop/artifacts/')) {
    if (!key.endsWith('App-1.0.0.exe')) continue;
    await store.delete(key);
    await store.create(key, Buffer.from('other bytes'));
  }
  await produce(503, 'artifact_mismatch', file, { headers: several });
  const { body } = await get(signed.service, '/openapi.json');
  ledger.expectDocumentedTogether(body, ROUTE, (operation) => operation.startsWith('GET /tuf/'));
});

it('reads no store, however often and whatever number or digest of a manifest a client asks for', async () => {
  const requests = countRequests();
  const ask = async (name: string) => {
    const { statusCode } = await signed.service.app.http.inject({ url: `/tuf/desktop/${name}` });
    return [name, statusCode];
  };
  const digest = await digestOf('1.0.0');
  const own = `targets/desktop/stable/1.0.0/${digest}.1.json`;
  expect(await ask(own)).toEqual([own, 200]);
  requests.mockClear();
  for (let round = 0; round < 5; round += 1) {
    for (const name of ['5.channel-stable.json', '2.root.json', '12.snapshot.json']) {
      expect(await ask(name)).toEqual([name, 404]);
    }
  }
  const zeros = '0'.repeat(64);
  const wrong = [`targets/desktop/stable/1.0.0/${zeros}.1.json`];
  for (let number = 2; number <= 1_001; number += 1) {
    const asked = number % 2 === 0 ? digest : zeros;
    wrong.push(`targets/desktop/stable/1.0.0/${asked}.${number}.json`);
  }
  for (const name of wrong) expect(await ask(name)).toEqual([name, 404]);
  // Whether there is a newer list of a channel, the service knows from its catalog.
  expect(requests).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

it('serves the manifests that the list of a channel names, and named before its last change', async () => {
  await release('1.2.0');
  const target = async (number: number) => {
    const digest = await digestOf('1.2.0', number);
    return `/tuf/desktop/targets/desktop/stable/1.2.0/${digest}.${number}.json`;
  };
  const correct = async (text: string) => {
    const { service, trust } = signed;
    const notes = {
      application: 'desktop',
      version: '1.2.0',
      set: { en: text },
      remove: [],
      reason: 'a test',
    };
    await correctNotes({ ...service, trust, actor: 'test' }, notes);
    await service.refresh();
  };
  const statuses = async (...numbers: number[]) => {
    const found: number[] = [];
    for (const number of numbers) {
      found.push((await signed.service.app.http.inject({ url: await target(number) })).statusCode);
    }
    return found;
  };
  // The clients of the first list begin.
  await signed.service.app.http.inject({ url: '/tuf/desktop/timestamp.json' });
  await correct('Better notes');
  expect(await statuses(1, 2)).toEqual([200, 200]);
  await correct('The best notes');
  expect(await statuses(1, 2, 3)).toEqual([404, 200, 200]);
});

it('gives what only some accounts may read to these accounts, and to no shared cache', async () => {
  const { access } = await signIn(signed.service);
  const headers = { authorization: `Bearer ${access}` };
  const digest = await digestOf('6.0.0');
  for (const name of ['1.channel-insider.json', `targets/desktop/insider/6.0.0/${digest}.1.json`]) {
    const url = `/tuf/desktop/${name}`;
    expect((await signed.service.app.http.inject({ url })).statusCode).toBe(403);
    const answer = await signed.service.app.http.inject({ url, headers });
    expect([name, answer.statusCode]).toEqual([name, 200]);
    expect(answer.headers['cache-control']).toBe('private, no-store');
  }
  // A manifest of a restricted channel is not below another channel, whatever digest a client knows.
  const url = `/tuf/desktop/targets/desktop/stable/6.0.0/${digest}.1.json`;
  expect((await signed.service.app.http.inject({ url })).statusCode).toBe(404);
});
