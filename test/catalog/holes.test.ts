import { readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { applicationsKey, manifestKey, revisionKey } from '../../src/catalog/documents/keys.ts';
import { announceChange } from '../../src/catalog/reading/hints.ts';
import { readApplications, readRevision } from '../../src/catalog/reading/read.ts';
import { diagnose } from '../../src/features/doctor/diagnose/diagnose.ts';
import { verifyCatalog } from '../../src/releases/verify/verify-catalog.ts';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import { openFilesystemStore } from '../../src/store/filesystem/filesystem.ts';
import { createKnownStore } from '../../src/store/open/known-store.ts';
import { digestOf } from '../../src/store/sequence/envelope.ts';
import { createFaultyStore } from '../support/faulty-store.ts';
import { readText } from '../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  problemsOf,
  useCatalogs,
  type World,
} from './live/live-catalog.ts';

/** Objects that were deleted: galloping takes a hole for the end, so a listing is asked as well. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();

/** Revisions 1 to 4: 1.0.0, 2.0.0, 3.0.0, and 3.0.0 yanked. */
async function setUp(): Promise<World> {
  const world = createWorld();
  for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
    await publish(world.parts, { version, artifacts: [setup] });
  }
  const yank = { application: 'desktop', version: '3.0.0', channel: undefined, reason: null };
  await changeStatus({ ...world.parts, actor: 'test' }, 'yank', yank);
  return world;
}

const verify = (world: World) =>
  verifyCatalog(
    { store: world.memory, onProgress: () => undefined },
    { application: undefined, deep: false },
  );

const doctor = (world: World) =>
  diagnose({
    ...world.parts,
    storeClock: world.clock,
    privateStore: world.memory,
    probe: async () => '',
    versions: '',
    misspelled: [],
    findSaveProblem: async () => undefined,
    isBucket: false,
    ask: () => Promise.reject(new Error('no network')),
    readSpace: undefined,
    publicAddress: undefined,
    privateRoots: [],
    isOpenToUsers: async () => false,
  });

describe.each([[[2]], [[3]], [[2, 3]], [[1]], [[1, 2, 3]]])('without revisions %j', (deleted) => {
  it('a service that starts serves the newest revision', async () => {
    const world = await setUp();
    for (const number of deleted) await world.memory.delete(revisionKey('desktop', number));
    const catalog = await catalogs.start(world);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(catalog.health().applications.desktop?.revision).toBe(4);
  });

  it('a publisher appends after the newest revision, and never fills a hole', async () => {
    const world = await setUp();
    for (const number of deleted) await world.memory.delete(revisionKey('desktop', number));
    const { revision } = await publish(world.parts, { version: '4.0.0', artifacts: [setup] });
    expect(revision).toBe(5);
    for (const number of deleted) {
      expect(await world.memory.head(revisionKey('desktop', number))).toBeUndefined();
    }
    const { signed } = (await readRevision({ store: world.memory }, 'desktop', 5)) ?? {};
    const offers = signed?.channels.stable?.offers.map(({ version, status }) => [version, status]);
    expect(offers).toContainEqual(['3.0.0', 'yanked']);
    expect(signed?.previous?.revision).toBe(4);
  });

  it('doctor fails when a revision is missing above the number that galloping finds', async () => {
    const world = await setUp();
    for (const number of deleted) await world.memory.delete(revisionKey('desktop', number));
    const checks = await doctor(world);
    const catalogs = checks.find(({ name }) => name === 'catalogs');
    // Numbers 1, 2 and 4 are asked for one by one: a hole at 3 alone hides nothing.
    const isHidden = deleted.some((number) => number !== 3);
    expect(catalogs?.outcome).toBe(isHidden ? 'failed' : 'ok');
    if (isHidden) expect(catalogs?.detail).toMatch(/ missing: .*\. Restore from a backup/);
  });

  it('verify names each missing revision, and nothing else', async () => {
    const world = await setUp();
    for (const number of deleted) await world.memory.delete(revisionKey('desktop', number));
    const { applications } = await verify(world);
    expect(applications[0]?.problems).toEqual(
      deleted.map((number) => `${revisionKey('desktop', number)} is missing.`),
    );
  });
});

describe('a document that was deleted from the end', () => {
  it('is reported by a running service within two minutes', async () => {
    const world = await setUp();
    const catalog = await catalogs.start(world);
    await world.memory.delete(revisionKey('desktop', 4));
    await world.clock.advance(120_000);
    expect(problemsOf(catalog)).toContain(`${revisionKey('desktop', 4)} is missing`);
    // It goes on as it knows it: 3.0.0 was yanked.
    expect(await offered(catalog)).toBe('2.0.0');
  });

  it('that is the first of two manifests does not remove the offer of the second', async () => {
    const world = await setUp();
    const mac = await makeArtifact(temporary.path, {
      filename: 'App.dmg',
      platform: 'macos',
      arch: 'arm64',
      format: 'dmg',
    });
    await publish(world.parts, { version: '2.0.0', artifacts: [mac] });
    await world.memory.delete(manifestKey('desktop', '2.0.0', 1));
    const catalog = await catalogs.start(world);
    await world.clock.advance(5 * POLL_MS);
    expect(await offered(catalog)).toBe('2.0.0');
  });
});

/** Yanks 2.0.0: a change that makes no manifest. */
const yank = (world: World, deps: object = {}) =>
  changeStatus({ ...world.parts, actor: 'test', ...deps }, 'yank', {
    application: 'desktop',
    version: '2.0.0',
    channel: undefined,
    reason: null,
  });

describe.each([[[4]], [[3, 4]], [[1, 2, 3, 4]]])('without the newest revisions, %j', (deleted) => {
  const remove = async (world: World) => {
    for (const number of deleted) await world.memory.delete(revisionKey('desktop', number));
  };
  const newest = revisionKey('desktop', 4);

  it('a service that starts answers 503 for the application, and says so, until they are restored', async () => {
    const world = await setUp();
    await publish(world.parts, { application: 'other', version: '1.0.0', artifacts: [setup] });
    const stored = await Promise.all(
      deleted.map(async (number) => world.memory.get(revisionKey('desktop', number))),
    );
    await remove(world);
    const catalog = await catalogs.start(world);
    await world.clock.advance(5 * POLL_MS);
    await expect(offered(catalog)).rejects.toMatchObject({ code: 'catalog_unavailable' });
    expect(problemsOf(catalog)).toContain(`${newest} is missing, and changes/4.json names it`);
    expect(await offered(catalog, 'other')).toBe('1.0.0');
    for (const object of stored)
      await world.memory.create(object?.key ?? '', object?.body ?? Buffer.from(''));
    await world.clock.advance(5 * POLL_MS);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
  });

  it('verify and doctor report it', async () => {
    const world = await setUp();
    await remove(world);
    const { applications } = await verify(world);
    expect(applications[0]?.problems.join()).toContain(`${newest} is missing, and changes/4.json`);
    const checks = await doctor(world);
    const found = checks.find(({ name }) => name === 'catalogs');
    expect(found).toMatchObject({ outcome: 'failed', detail: expect.stringContaining(newest) });
  });

  it('a publisher refuses, and goes on at a number that was never used when a person says so', async () => {
    const world = await setUp();
    const warm = await catalogs.start(world);
    await remove(world);
    const refused = expect.objectContaining({
      code: 'document_corrupt',
      message: expect.stringContaining('--skip-corrupt 4;'),
    });
    const next = { version: '4.0.0', artifacts: [setup] };
    await expect(publish(world.parts, next)).rejects.toEqual(refused);
    await expect(yank(world)).rejects.toEqual(refused);
    await expect(publish({ ...world.parts, skipCorrupt: [3] }, next)).rejects.toEqual(refused);
    const isFirst = deleted.includes(1);
    const request = isFirst ? { ...next, create: true } : next;
    const { revision } = await publish({ ...world.parts, skipCorrupt: [4] }, request);
    expect(revision).toBe(5);
    const { signed } = (await readRevision({ store: world.memory }, 'desktop', 5)) ?? {};
    expect(signed?.skipped.map(({ number }) => number)).toEqual(deleted);
    // Everything works again, also for a process that knows the deleted revision.
    expect((await publish(world.parts, { ...request, version: '5.0.0' })).revision).toBe(6);
    await world.clock.advance(5 * POLL_MS);
    expect(await offered(warm)).toBe('5.0.0');
    const cold = await catalogs.start(createWorld(), { store: world.memory });
    expect(await offered(cold)).toBe('5.0.0');
    expect((await readRevision({ store: world.memory }, 'desktop'))?.signed.revision).toBe(6);
  });
});

describe('a newest revision that was deleted', () => {
  it('is reported by a service that has never read it, which then finds the revision behind it', async () => {
    const world = await setUp();
    const catalog = await catalogs.start(world);
    // An outage keeps the service from reading while the revision is created and deleted.
    world.store.goDown();
    await yank(world);
    await world.memory.delete(revisionKey('desktop', 5));
    world.store.comeUp();
    await world.clock.advance(10 * POLL_MS);
    expect(problemsOf(catalog)).toContain(`${revisionKey('desktop', 5)} is missing`);
    expect(await offered(catalog)).toBe('2.0.0');
    await yank(world, { skipCorrupt: [5] });
    await world.clock.advance(5 * POLL_MS);
    expect(catalog.health().applications.desktop?.revision).toBe(6);
    expect(await offered(catalog)).toBe('1.0.0');
    // Below a sound revision, a hole is reported and stops nothing.
    expect(problemsOf(catalog)).toBe(`${revisionKey('desktop', 5)} is missing.`);
  });

  it('is seen when hundreds of hints of other applications were stored since, and by verify after any number', async () => {
    const world = await setUp();
    await world.memory.delete(revisionKey('desktop', 4));
    const announce = async (from: number, to: number) => {
      for (let last = from; last < to; last++) await announceChange(world.parts, 'other', last, 1);
    };
    const missing = `${revisionKey('desktop', 4)} is missing, and changes/4.json`;
    await announce(4, 4 + 511);
    const catalog = await catalogs.start(world);
    await expect(offered(catalog)).rejects.toMatchObject({ code: 'catalog_unavailable' });
    expect(problemsOf(catalog)).toContain(missing);
    await expect(yank(world)).rejects.toThrow('--skip-corrupt 4;');
    await announce(4 + 511, 4 + 600);
    expect((await verify(world)).applications[0]?.problems.join()).toContain(missing);
  });

  it('is known from a manifest, too, when no hint names it', async () => {
    const world = await setUp();
    for await (const { key } of world.memory.list('changes/')) await world.memory.delete(key);
    // Killed between the manifest and the revision: the manifest names revision 4.
    const killed = createFaultyStore(world.memory);
    killed.setPlan(({ method, key }) =>
      method === 'create' && key.includes('/catalog/')
        ? { when: 'before', code: 'store_denied' }
        : undefined,
    );
    const next = { version: '4.0.0', artifacts: [setup] };
    await expect(publish({ ...world.parts, store: killed }, next)).rejects.toThrow();
    await world.memory.delete(revisionKey('desktop', 4));
    await expect(publish(world.parts, next)).rejects.toThrow('--skip-corrupt 4;');
    const { applications } = await verify(world);
    expect(applications[0]?.problems.join()).toContain(
      `${revisionKey('desktop', 4)} is missing, and ${manifestKey('desktop', '4.0.0', 1)}`,
    );
    const { revision } = await publish({ ...world.parts, skipCorrupt: [4] }, next);
    expect(revision).toBe(5);
  });

  it('is not assumed when another publisher commits and announces it meanwhile', async () => {
    const world = await setUp();
    let isFirst = true;
    const racing = createFaultyStore(world.memory);
    racing.setPlan(async ({ method, key }) => {
      if (!isFirst || method !== 'get' || !key.startsWith('changes/')) return undefined;
      isFirst = false;
      await yank(world);
      return undefined;
    });
    const { revision } = await publish(
      { ...world.parts, store: racing },
      { version: '4.0.0', artifacts: [setup] },
    );
    expect(revision).toBe(6);
    expect(isFirst).toBe(false);
  });

  it('is claimed by a false hint far above it: commands name the hint, and never its number as the next one', async () => {
    const world = await setUp();
    await announceChange(world.parts, 'desktop', 4, 1_000_000_000);
    const refused =
      'the newest stored number is 4. Restore the objects between them from a backup. If they never existed, delete this object: changes/5.json.';
    await expect(yank(world)).rejects.toThrow(refused);
    await expect(yank(world, { skipCorrupt: [1_000_000_000] })).rejects.toThrow(refused);
    const refusing = await catalogs.start(world);
    await expect(offered(refusing)).rejects.toMatchObject({ code: 'catalog_unavailable' });
    expect((await verify(world)).applications[0]?.problems).toEqual([
      expect.stringContaining('delete this object: changes/5.json'),
    ]);
    await world.memory.delete('changes/5.json');
    expect((await publish(world.parts, { version: '5.0.0', artifacts: [setup] })).revision).toBe(5);
    const cold = await catalogs.start(world);
    expect(await offered(cold)).toBe('5.0.0');
  });

  it.each([
    ['at the highest number', 9_999_999_999],
    ['of fifteen digits', 999_999_999_999_999],
    ['beyond the reach', 1_010],
  ])(
    'is not garbage %s: it is reported, and is neither the newest nor the base of the next number',
    async (_name, number) => {
      const world = await setUp();
      const key = revisionKey('desktop', number);
      await world.memory.create(key, Buffer.from('{'));
      const cold = await catalogs.start(world);
      expect(await offered(cold)).toBe('2.0.0');
      expect(problemsOf(cold)).toContain(`${key} is corrupt, and too far above`);
      const { revision } = await publish(world.parts, { version: '5.0.0', artifacts: [setup] });
      expect(revision).toBe(5);
      await world.clock.advance(POLL_MS);
      expect(await offered(cold)).toBe('5.0.0');
      expect((await verify(world)).applications[0]?.problems.join()).toContain(key);
    },
  );

  it('is found beside garbage at every number that galloping probes', async () => {
    const world = await setUp();
    const numbers = Array.from({ length: 31 }, (_, n) => 2 ** (n + 3));
    for (const number of numbers) {
      await world.memory.create(revisionKey('desktop', number), Buffer.from('{'));
    }
    // Garbage within reach may have been a withdrawal, so a person decides about it.
    await expect(yank(world)).rejects.toThrow(/8 --skip-corrupt 16 .*--skip-corrupt 512;/);
    const skipCorrupt = numbers.slice(0, 8);
    const first = { version: '5.0.0', artifacts: [setup] };
    expect((await publish({ ...world.parts, skipCorrupt }, first)).revision).toBe(513);
    const second = { version: '6.0.0', artifacts: [setup] };
    expect((await publish({ ...world.parts, skipCorrupt }, second)).revision).toBe(1_025);
    const cold = await catalogs.start(world);
    expect(await offered(cold)).toBe('6.0.0');
    expect((await verify(world)).applications[0]?.problems.length).toBeLessThan(1_100);
  });

  it('cannot be followed when a thousand corrupt objects follow it: they have to be deleted', async () => {
    const world = await setUp();
    for (let number = 5; number <= 1_010; number++) {
      await world.memory.create(revisionKey('desktop', number), Buffer.from('{'));
    }
    const skipCorrupt = Array.from({ length: 1_010 }, (_, n) => n);
    await expect(yank(world, { skipCorrupt })).rejects.toThrow(/No change can step over so many/);
  });

  it('is not a sound revision that says it was made from one more than 1,000 below', async () => {
    const world = await setUp();
    const text = JSON.parse(String(await readText(world.memory, revisionKey('desktop', 4))));
    const plant = async (number: number, previous: number) => {
      const signed = { ...text.signed, revision: number };
      signed.previous = { revision: previous, digest: '0'.repeat(64) };
      const bytes = JSON.stringify({ signed, digest: digestOf(signed), signatures: [] });
      await world.memory.create(revisionKey('desktop', number), Buffer.from(bytes));
    };
    await plant(5_000_000_000, 4);
    expect((await readRevision(world.parts, 'desktop'))?.signed.revision).toBe(4);
    // An accident deleted all revisions between them. Only what the newest one says counts.
    await plant(5_000, 4_999);
    expect((await readRevision(world.parts, 'desktop'))?.signed.revision).toBe(5_000);
  });
});

it('a revision that states a hint far above the newest one does not hide later hints', async () => {
  const world = await setUp();
  await world.tamper(revisionKey('desktop', 4), (text) => {
    const signed = { ...JSON.parse(text).signed, hint: Number.MAX_SAFE_INTEGER };
    return JSON.stringify({ signed, digest: digestOf(signed), signatures: [] });
  });
  const { announced } = await publish(world.parts, { version: '5.0.0', artifacts: [setup] });
  expect(announced).toBe(true);
  expect((await readRevision(world.parts, 'desktop'))?.signed.hint).toBe(4);
  expect(await readText(world.memory, 'changes/5.json')).toContain('"revision":5');
});

describe('a file of an offered release', () => {
  it('is missed by a running service within ten minutes of its deletion', async () => {
    const world = await setUp();
    const other = await makeArtifact(temporary.path, { filename: 'Other.exe', content: 'other' });
    await publish(world.parts, { version: '5.0.0', artifacts: [other] });
    const catalog = await catalogs.start(world);
    expect(await offered(catalog)).toBe('5.0.0');
    for await (const { key } of world.memory.list('apps/desktop/artifacts/')) {
      if (key.endsWith('/Other.exe')) await world.memory.delete(key);
    }
    world.store.forgetCalls();
    await world.clock.advance(600_000);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toMatch(/5\.0\.0 is not offered: .*Other\.exe is missing/);
    // Two files are offered: each is looked for once, and the missing one until it is back.
    expect(world.store.counts.head).toBeLessThan(40);
    await publish(world.parts, { version: '5.0.0', artifacts: [other] });
    await world.clock.advance(10_000);
    expect(await offered(catalog)).toBe('5.0.0');
  });
});

describe('a directory whose volume is not mounted', () => {
  it('does not count as an empty store: a service that starts answers from its saved state', async () => {
    const directory = path.join(temporary.path, 'volume');
    const signUrl = () => ({ url: 'http://h/', expiresAt: new Date() });
    const stateDirectory = path.join(temporary.path, 'state');
    const known = createKnownStore(stateDirectory, `directory:${directory}`);
    const openStore = () => openFilesystemStore({ directory, signUrl, known });
    const world = createWorld();
    const parts = { ...world.parts, store: await openStore() };
    await publish(parts, { version: '1.0.0', artifacts: [setup] });
    const first = world.open({ store: parts.store, stateDirectory });
    await first.start();
    await expect
      .poll(async () => readdir(stateDirectory, { recursive: true }))
      .toContainEqual(expect.stringMatching(/1\.catalog$/));
    await first.stop();

    await rename(directory, `${directory}-unmounted`);
    const again = await catalogs.start(world, { store: await openStore(), stateDirectory });
    expect(await offered(again)).toBe('1.0.0');
    expect(again.health().applications.desktop?.source).toBe('saved');
    expect(problemsOf(again)).toMatch(/cannot be read/);
    await rename(`${directory}-unmounted`, directory);
    await world.clock.advance(10_000);
    await expect.poll(() => again.health().applications.desktop?.source).toBe('live');
  });
});

describe('the list of applications', () => {
  it.each([['deleted'], ['corrupt']])(
    '%s: 503 at a cold start, not "unknown application"',
    async (how) => {
      const world = await setUp();
      await world.tamper(applicationsKey(1), (text) =>
        how === 'corrupt' ? text.slice(9) : undefined,
      );
      const catalog = await catalogs.start(world);
      for (const name of ['desktop', 'other']) {
        await expect(offered(catalog, name)).rejects.toMatchObject({ code: 'catalog_unavailable' });
      }
      expect(catalog.health().ready).toBe(false);
      expect(problemsOf(catalog)).toMatch(/applications/);
      const { listProblems } = await verify(world);
      if (how === 'corrupt') expect(listProblems.join()).toContain(applicationsKey(1));
    },
  );

  it('corrupt in a running service: known applications are served, and others are unavailable, not unknown', async () => {
    const world = await setUp();
    const catalog = await catalogs.start(world);
    await publish(world.parts, { application: 'second', version: '1.0.0', artifacts: [setup] });
    await world.tamper(applicationsKey(2), (text) => text.slice(9));
    await world.clock.advance(3 * POLL_MS);
    expect(await offered(catalog)).toBe('2.0.0');
    await expect(offered(catalog, 'second')).rejects.toMatchObject({ code: 'catalog_unavailable' });
    // A publisher cannot know what it would leave out, and says how to go on.
    const request = { application: 'third', version: '1.0.0', artifacts: [setup] };
    await expect(publish(world.parts, request)).rejects.toThrow('--skip-corrupt 2');
  });

  it('whose newest document was deleted: unknown names are unavailable, and a publisher does not use its number again', async () => {
    const world = await setUp();
    await publish(world.parts, { application: 'second', version: '1.0.0', artifacts: [setup] });
    await world.memory.delete(applicationsKey(2));
    const catalog = await catalogs.start(world);
    expect(await offered(catalog)).toBe('2.0.0');
    await expect(offered(catalog, 'second')).rejects.toMatchObject({ code: 'catalog_unavailable' });
    expect(problemsOf(catalog)).toContain('does not have "second", which changes/5.json announces');
    expect((await verify(world)).listProblems.join()).toContain('does not have "second"');
    const request = { application: 'third', version: '1.0.0', artifacts: [setup] };
    await expect(publish(world.parts, request)).rejects.toThrow('--skip-corrupt 2;');
    await publish({ ...world.parts, skipCorrupt: [2] }, request);
    // The publisher has decided to go on without it.
    await world.clock.advance(5 * POLL_MS);
    for (const service of [catalog, await catalogs.start(world)]) {
      await expect(offered(service, 'second')).rejects.toMatchObject({
        code: 'unknown_application',
      });
    }
    const again = { application: 'second', version: '1.1.0', artifacts: [setup] };
    await publish(world.parts, again);
    expect(await readApplications({ store: world.memory })).toEqual(['desktop', 'third', 'second']);
    expect(await world.memory.head(applicationsKey(2))).toBeUndefined();
    await world.clock.advance(5 * POLL_MS);
    expect(await offered(catalog, 'second')).toBe('1.1.0');
    expect(problemsOf(catalog)).toBe(`${applicationsKey(2)} is missing.`);
  });

  it('that is empty is believed when nothing was ever published', async () => {
    const catalog = await catalogs.start(createWorld());
    await expect(offered(catalog)).rejects.toMatchObject({ code: 'unknown_application' });
    expect(catalog.health().ready).toBe(true);
  });
});
