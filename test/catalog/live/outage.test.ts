import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { applicationsKey, hintKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import { MANIFEST_BYTES_MAX } from '../../../src/catalog/documents/manifest-document.ts';
import { packDocument, unpackDocument } from '../../../src/catalog/documents/packed-document.ts';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  problemsOf,
  STALE_MAX_MS,
  untilSaved,
  useCatalogs,
  type World,
} from './live-catalog.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();
let directories = 0;
const pack = (text: string): string => packDocument(Buffer.from(text)).toString('latin1');

function open(world: World, stateDirectory?: string): Catalog {
  return catalogs.open(world, stateDirectory === undefined ? {} : { stateDirectory });
}

/** A process that has seen `versions`, saved its state and ended. */
async function runOnce(versions: readonly string[]) {
  const world = createWorld();
  const stateDirectory = path.join(temporary.path, `state-${directories++}`);
  for (const version of versions) await publish(world.parts, { version, artifacts: [setup] });
  const catalog = open(world, stateDirectory);
  await catalog.start();
  await untilSaved(world, stateDirectory);
  await catalog.stop();
  return { ...world, world, stateDirectory };
}

/** Reading and writing state takes real time, which the test's clock knows nothing of. */
function eventuallyOffers(world: World, catalog: Catalog, version: string): Promise<void> {
  return vi.waitFor(async () => {
    await world.clock.advance(POLL_MS);
    expect(await offered(catalog)).toBe(version);
  });
}

async function isReadyAfterStart(catalog: Catalog): Promise<boolean> {
  await catalog.start();
  return catalog.health().ready;
}

describe('a store that is down', () => {
  it('for ten minutes does not affect or delay the answers of a running process', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const catalog = open(world);
    await catalog.start();
    await world.clock.advance(POLL_MS);
    world.store.goDown();
    let asked = 0;
    let answered = 0;
    let calls = 0;
    for (let second = 0; second < 600; second++) {
      await world.clock.advance(1_000);
      world.store.forgetCalls();
      for (let client = 0; client < 10; client++) {
        asked += 1;
        if ((await offered(catalog)) === '1.0.0') answered += 1;
      }
      calls += world.store.total();
    }
    console.log(
      `store down for 10 simulated minutes: ${answered} of ${asked} checks answered, ${calls} store calls on their path`,
    );
    expect({ answered, calls }).toEqual({ answered: asked, calls: 0 });
    expect(catalog.health()).toMatchObject({
      ready: true,
      applications: { desktop: { source: 'live', storeFailing: true } },
    });
    const { confirmedAt = 0 } = catalog.health().applications.desktop ?? {};
    expect(world.clock.now() - confirmedAt).toBeGreaterThan(590_000);
    // Once for the list, the application and the hints, not once per attempt.
    expect(world.log).toHaveLength(3);
    world.store.comeUp();
    await publish(world.parts, { version: '2.0.0', artifacts: [setup] });
    await world.clock.advance(60_000);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
  });

  it('for longer than CATALOG_STALE_MAX: nothing is offered until it answers', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const catalog = open(world);
    await catalog.start();
    world.store.goDown();
    await world.clock.advance(STALE_MAX_MS - 60_000);
    expect(await offered(catalog)).toBe('1.0.0');
    await world.clock.advance(120_000);
    await expect(offered(catalog)).rejects.toMatchObject({
      code: 'catalog_unavailable',
      retryAfterSeconds: 5,
    });
    expect(catalog.health().ready).toBe(false);
    world.store.comeUp();
    await world.clock.advance(60_000);
    expect(await offered(catalog)).toBe('1.0.0');
  });

  it('at a cold start: clients are answered from the saved state, without a store call', async () => {
    const { world, stateDirectory } = await runOnce(['1.0.0', '2.0.0']);
    world.store.goDown();
    const catalog = open(world, stateDirectory);
    expect(await isReadyAfterStart(catalog)).toBe(true);
    world.store.forgetCalls();
    expect(await offered(catalog)).toBe('2.0.0');
    expect(world.store.total()).toBe(0);
    expect(catalog.health().applications.desktop).toMatchObject({ source: 'saved', revision: 2 });
    world.store.comeUp();
    await publish(world.parts, { version: '3.0.0', artifacts: [setup] });
    await eventuallyOffers(world, catalog, '3.0.0');
    expect(catalog.health().applications.desktop).toMatchObject({ source: 'live' });
  });

  it('at a cold start: a saved state that is too old is not used', async () => {
    const { world, stateDirectory } = await runOnce(['1.0.0']);
    world.store.goDown();
    await world.clock.advance(STALE_MAX_MS + 60_000);
    const catalog = open(world, stateDirectory);
    expect(await isReadyAfterStart(catalog)).toBe(false);
    await expect(offered(catalog)).rejects.toMatchObject({ code: 'catalog_unavailable' });
  });

  it('at a cold start with nothing saved: answers 503 within a second, also when the store hangs', async () => {
    for (const when of ['before', 'hang'] as const) {
      const world = createWorld();
      await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
      world.store.setPlan(() => ({ when }));
      const catalog = open(world);
      const started = catalog.start();
      await world.clock.advance(1_000);
      await expect(offered(catalog)).rejects.toMatchObject({
        code: 'catalog_unavailable',
        retryAfterSeconds: 5,
      });
      expect(catalog.health().ready).toBe(false);
      if (when === 'hang') continue;
      await started;
      world.store.setPlan(undefined);
      await world.clock.advance(60_000);
      expect(await offered(catalog)).toBe('1.0.0');
    }
  });

  it('that hangs does not prevent answers from the saved state', async () => {
    const { world, stateDirectory } = await runOnce(['1.0.0']);
    world.store.setPlan(() => ({ when: 'hang' }));
    const catalog = open(world, stateDirectory);
    void catalog.start();
    await eventuallyOffers(world, catalog, '1.0.0');
    expect(catalog.health().applications.desktop).toMatchObject({ source: 'saved' });
  });
});

describe('a store rolled back to an older state', () => {
  const withdraw = async (world: World, keys: readonly string[]) => {
    for (const key of keys) await world.tamper(key, () => undefined);
  };

  it('does not make a running process serve the older state', async () => {
    const world = createWorld();
    for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
      await publish(world.parts, { version, artifacts: [setup] });
    }
    const catalog = open(world);
    await catalog.start();
    // A backup that is older than the revisions lacks their hints, too.
    const later = [2, 3].flatMap((number) => [revisionKey('desktop', number), hintKey(number)]);
    await withdraw(world, later);
    await world.clock.advance(20 * POLL_MS);
    expect(await offered(catalog)).toBe('3.0.0');
    // Others go on from the old state: another history under numbers that were seen before.
    for (const version of ['1.5.0', '1.6.0', '1.7.0']) {
      await publish(world.parts, { version, artifacts: [setup] });
    }
    await world.clock.advance(20 * POLL_MS);
    expect(await offered(catalog)).toBe('3.0.0');
    expect(problemsOf(catalog)).toContain('the catalog was replaced');
    expect(world.log.join('\n')).toContain('the catalog was replaced');
  });

  it.each([
    ['the newest revision', [revisionKey('desktop', 3)]],
    [
      'everything',
      [1, 2, 3].map((revision) => revisionKey('desktop', revision)).concat(applicationsKey(1)),
    ],
  ])('does not make a restarted process serve the older state: %s', async (_what, keys) => {
    const { world, stateDirectory, log } = await runOnce(['1.0.0', '2.0.0', '3.0.0']);
    await withdraw(world, keys);
    const catalog = open(world, stateDirectory);
    expect(await isReadyAfterStart(catalog)).toBe(true);
    await world.clock.advance(20 * POLL_MS);
    expect(await offered(catalog)).toBe('3.0.0');
    expect(problemsOf(catalog)).toContain('went backwards');
    expect(log.join('\n')).toContain('went backwards');
  });

  it('with another revision under a number that was seen', async () => {
    const { world, stateDirectory } = await runOnce(['1.0.0', '2.0.0']);
    await withdraw(world, [revisionKey('desktop', 2), hintKey(2)]);
    await publish(world.parts, { version: '1.1.0', artifacts: [setup] });
    const catalog = open(world, stateDirectory);
    await catalog.start();
    await world.clock.advance(20 * POLL_MS);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toContain('another one now');
  });
});

describe('saved state', () => {
  it('that cannot be written causes two warnings, about the state and the manifests, and nothing else', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const occupied = path.join(temporary.path, 'occupied');
    await writeFile(occupied, 'a file where the directory should be');
    const catalog = open(world, path.join(occupied, 'state'));
    await catalog.start();
    for (const version of ['2.0.0', '3.0.0']) {
      await publish(world.parts, { version, artifacts: [setup] });
      await eventuallyOffers(world, catalog, version);
    }
    expect(world.log).toEqual([
      expect.stringContaining('cannot use the saved catalog'),
      expect.stringContaining('so they stay in memory'),
    ]);
    expect(problemsOf(catalog)).toBe('');
  });

  it('that was truncated or edited counts as missing', async () => {
    for (const edit of [(text: string) => text.slice(0, 400), (text: string) => `${text} `]) {
      const { world, stateDirectory } = await runOnce(['1.0.0']);
      const files = await readdir(stateDirectory, { recursive: true });
      const saved = files.filter((name) => /desktop.\d+\.catalog$/.test(name));
      expect(saved).toHaveLength(1);
      const file = path.join(stateDirectory, saved[0] ?? '');
      const text = await readFile(file, 'latin1');
      await writeFile(file, edit(text), 'latin1');
      world.store.goDown();
      const catalog = open(world, stateDirectory);
      await catalog.start();
      await expect(offered(catalog)).rejects.toMatchObject({ code: 'catalog_unavailable' });
    }
  });

  it.each([
    ['has other facts', (text: string) => pack(text.replace(/"filename":"./, '"filename":"~'))],
    ['cannot be unpacked', (text: string) => '\xff'.repeat(pack(text).length)],
    ['unpacks to more than a manifest may have', () => pack(' '.repeat(4 * MANIFEST_BYTES_MAX))],
  ])('with a manifest that %s is used without it: the store decides', async (_, edit) => {
    const { world, stateDirectory } = await runOnce(['1.0.0']);
    const files = await readdir(stateDirectory, { recursive: true });
    const file = path.join(stateDirectory, files.find((name) => name.endsWith('.catalog')) ?? '');
    const saved = await readFile(file, 'latin1');
    const [line = '', name] = /^([0-9a-f]{64}) \d+\n/m.exec(saved) ?? [];
    const start = saved.indexOf(line);
    const manifest = Buffer.from(saved.slice(start + line.length), 'latin1');
    const text = unpackDocument(manifest).toString();
    expect(text).toContain('"filename":"');
    const altered = edit(text);
    const edited = `${saved.slice(0, start)}${name} ${altered.length}\n${altered}`;
    await writeFile(file, edited, 'latin1');
    world.store.goDown();
    const catalog = open(world, stateDirectory);
    await catalog.start();
    await expect(offered(catalog)).rejects.toMatchObject({ code: 'store_unavailable' });
    world.store.comeUp();
    await eventuallyOffers(world, catalog, '1.0.0');
    // The read that ends the outage uses the disk.
    await expect.poll(() => problemsOf(catalog)).toBe('');
  });

  it('that is lost has no effect while the store answers', async () => {
    const { world, stateDirectory } = await runOnce(['1.0.0']);
    await rm(stateDirectory, { recursive: true });
    const catalog = open(world, stateDirectory);
    await catalog.start();
    expect(await offered(catalog)).toBe('1.0.0');
    expect(world.log).toEqual([]);
  });
});
