import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { manifestKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import { MANIFEST_BYTES_MAX } from '../../../src/catalog/documents/manifest-document.ts';
import { REVISION_BYTES_MAX } from '../../../src/catalog/documents/revision-size.ts';
import { liveRevisionSequence } from '../../../src/catalog/live/live-revision.ts';
import { announceChange } from '../../../src/catalog/reading/hints.ts';
import { renderEnvelope } from '../../../src/store/sequence/envelope.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  problemsOf,
  useCatalogs,
  type World,
} from '../live/live-catalog.ts';

/** Documents by an attacker with a key for one application. They cost one reading, and other applications nothing. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();

/** An envelope whose digest is right. */
function sealed(signed: string): string {
  const digest = createHash('sha256').update(signed).digest('hex');
  return `{"signed":${signed},"digest":"${digest}","signatures":[]}\n`;
}

const repeated = (part: string, size: number): string =>
  part.repeat(Math.floor(size / part.length));
const names = (size: number): string =>
  Array.from({ length: Math.floor(size / 12) }, (_, index) => `"k${1e6 + index}":0`).join(',');
const inStable = (list: string): string => sealed(`{"channels":{"stable":{${list}}}}`);

const HOSTILE: Readonly<Record<string, (size: number) => string>> = {
  'open lists': (size) => repeated('[', size),
  'open objects': (size) => repeated('{"a":', size),
  'lists in lists': (size) => repeated('[', size / 2) + repeated(']', size / 2),
  'deep in an envelope': (size) => sealed(`{"a":${repeated('[', size)}}`),
  'deep in an offer': (size) => inStable(`"offers":[{"a":${repeated('{"a":', size)}1}]`),
  'many names': (size) => sealed(`{${names(size)}}`),
  'many channels': (size) => sealed(`{"channels":{${names(size)}}}`),
  'many values': (size) => sealed(`{"a":[[${repeated('{},', size)}0]]}`),
  'many wrong offers': (size) => inStable(`"offers":[${repeated('{},', size)}0]`),
  'many wrong versions': (size) => inStable(`"retired":[${repeated('0,', size)}0]`),
  'many wrong drafts': (size) => inStable(`"drafts":[${repeated('[],', size)}0]`),
  'equal names': (size) => sealed(`{${repeated('"a":[],', size)}"a":0}`),
  'a long number': (size) => sealed(`{"a":${repeated('9', size)}}`),
  'a long string': (size) => sealed(`{"a":"${repeated('x', size)}"}`),
  'a long name': (size) => inStable(`"${repeated('x', size)}":0`),
  'white space': (size) => repeated(' ', size),
};

async function setUp(): Promise<World> {
  const world = createWorld();
  await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
  await publish(world.parts, { version: '2.0.0', artifacts: [setup] });
  return world;
}

/** Counts the reads of an object from now on. Reads of only its first byte do not count: they ask whether it exists. */
function countReads(world: World, key: string): () => number {
  const { get } = world.store;
  let reads = 0;
  Object.assign(world.store, {
    get: (...call: Parameters<typeof get>) => {
      if (call[0] === key && call[1]?.range === undefined) reads++;
      return get(...call);
    },
  });
  return () => reads;
}

const cpuMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

describe('a hostile revision', () => {
  // Above the limit of a string, and of a document in another spelling.
  const size = 1_300_000;
  const opened = '['.repeat(size);
  const measureBase = (): Promise<number> =>
    cpuMs(() => expect(() => JSON.parse(opened)).toThrow());
  let base: number | undefined;
  /** What a busy machine adds to one measurement is not in all of them. */
  const TRIES = 8;

  it.each(Object.entries(HOSTILE))(
    'is refused within four times what JSON.parse needs for open lists of its size: %s',
    async (_name, make) => {
      const bytes = Buffer.from(make(size));
      const parsed = () => liveRevisionSequence('desktop').parse(bytes, 3);
      const refused = expect.objectContaining({ code: 'document_corrupt' });
      const ratios: number[] = [];
      while (ratios.length < TRIES && !ratios.some((ratio) => ratio < 4)) {
        base = ratios.length === 0 ? (base ?? (await measureBase())) : await measureBase();
        const own = await cpuMs(() => expect(parsed()).rejects.toEqual(refused));
        ratios.push(own / base);
      }
      expect(Math.min(...ratios)).toBeLessThan(4);
    },
  );
});

const POLLS = 20;

/** The documents that a running or a starting service refuses in different ways. */
const REFUSED: Readonly<Record<string, (sound: string) => string>> = {
  corrupt: () => HOSTILE['open lists']?.(100_000) ?? '',
  'too large': () => ' '.repeat(REVISION_BYTES_MAX + 1),
  'of a newer schema': (sound) => edited(sound, { schema_version: 3 }),
  'not made from the one before': (sound) =>
    edited(sound, { previous: { revision: 1, digest: 'a'.repeat(64) } }),
};

function edited(sound: string, fields: object): string {
  const { signed } = JSON.parse(sound) as { signed: object };
  return Buffer.from(renderEnvelope({ ...signed, ...fields })).toString();
}

describe.each(Object.entries(REFUSED))('a newest revision that is %s', (name, make) => {
  const key = revisionKey('desktop', 2);
  // A process that starts cannot see that a revision does not continue the one before it.
  const isSeenAtStart = name !== 'not made from the one before';

  it.each(isSeenAtStart ? ['running', 'starting'] : ['running'])(
    'costs a %s service one reading, and its repair is seen within a poll',
    async (when) => {
      const world = createWorld();
      await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
      const running = when === 'running' ? await catalogs.start(world) : undefined;
      await publish(world.parts, { version: '2.0.0', artifacts: [setup] });
      let sound = '';
      await world.tamper(key, (text) => {
        sound = text;
        return make(text);
      });
      const reads = countReads(world, key);
      const below = countReads(world, revisionKey('desktop', 1));
      const catalog = running ?? (await catalogs.start(world));
      await world.clock.advance(3 * POLL_MS);
      const first = reads();
      const firstBelow = below();
      await world.clock.advance(POLLS * POLL_MS);
      // A service reads it twice to prove that it is corrupt; a newer schema or a broken chain needs no proof.
      expect(first).toBeLessThanOrEqual(2);
      expect(reads()).toBe(first);
      expect(below()).toBe(firstBelow);
      expect(problemsOf(catalog)).toMatch(/desktop/);
      // Other applications notice nothing.
      await publish(world.parts, { application: 'other', version: '1.0.0', artifacts: [setup] });
      await world.clock.advance(3 * POLL_MS);
      expect(await offered(catalog, 'other')).toBe('1.0.0');

      await world.tamper(key, () => sound);
      await world.clock.advance(2 * POLL_MS);
      expect(await offered(catalog)).toBe('2.0.0');
      expect(problemsOf(catalog)).toBe('');
    },
  );
});

describe('a hostile manifest of an offer', () => {
  it('costs one reading, and only its own offer', async () => {
    const world = await setUp();
    const key = manifestKey('desktop', '2.0.0', 1);
    let sound = '';
    await world.tamper(key, (text) => {
      sound = text;
      return HOSTILE['deep in an envelope']?.(MANIFEST_BYTES_MAX - 1_000);
    });
    const reads = countReads(world, key);
    const catalog = await catalogs.start(world);
    await world.clock.advance(POLLS * POLL_MS);
    expect(reads()).toBe(2);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(problemsOf(catalog)).toMatch(/2\.0\.0 is not offered: .*nested deeper/);
    await world.tamper(key, () => sound);
    await world.clock.advance(10_000);
    expect(await offered(catalog)).toBe('2.0.0');
  });
});

describe('hundreds of corrupt revisions, and a hint of another one every second', () => {
  it.each(['running', 'starting'])(
    'do not delay the changes of another application by more than seconds: a %s service',
    async (when) => {
      const world = createWorld();
      await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
      await publish(world.parts, { application: 'other', version: '1.0.0', artifacts: [setup] });
      const catalog = catalogs.open(world);
      if (when === 'running') await catalog.start();
      for (let number = 2; number < 400; number++) {
        await world.memory.create(revisionKey('desktop', number), Buffer.from(`no ${number}`));
      }
      const { get, head } = world.store;
      const slowed = <C extends unknown[], A>(answer: (...call: C) => Promise<A>) =>
        async function later(...call: C): Promise<A> {
          await world.clock.sleep(25);
          return answer(...call);
        };
      Object.assign(world.store, { get: slowed(get), head: slowed(head) });
      if (when === 'starting') void catalog.start();
      const attack = async (seconds: number): Promise<void> => {
        for (let second = 0; second < seconds; second++) {
          await announceChange(world.parts, 'desktop', 1, 2);
          await world.clock.advance(1_000);
        }
      };
      await attack(15);
      // The first read of the application is still under way.
      expect(problemsOf(catalog)).toBe('');
      for (const version of ['2.0.0', '3.0.0', '4.0.0']) {
        await publish(world.parts, { application: 'other', version, artifacts: [setup] });
        await attack(6);
        expect(await offered(catalog, 'other')).toBe(version);
      }
      await attack(20);
      expect(problemsOf(catalog)).toContain('catalog/0000000399.json is truncated or not JSON');
      // So that the reads under way end with the test.
      Object.assign(world.store, { get, head });
      await world.clock.advance(1_000);
    },
  );
});

it('a revision of thousands of offers without manifests costs a bounded number of requests, and one short line of the log', async () => {
  const world = await setUp();
  const catalog = await catalogs.start(world);
  const COUNT = 1_500;
  await publish(world.parts, { version: '3.0.0', artifacts: [setup] });
  await world.tamper(revisionKey('desktop', 3), (text) => {
    const { signed } = JSON.parse(text);
    const [offer] = signed.channels.stable.offers;
    const offers = Array.from({ length: COUNT }, (_, at) => ({ ...offer, version: `3.0.${at}` }));
    return edited(text, { channels: { stable: { ...signed.channels.stable, offers } } });
  });
  const { get } = world.store;
  let reads = 0;
  Object.assign(world.store, {
    get: (...call: Parameters<typeof get>) => {
      if (call[0].includes('/manifest/')) reads++;
      return get(...call);
    },
  });
  // Other threads take part in reading a revision, so the number of seconds until the second round is not fixed.
  let seconds = 0;
  while (seconds < 120 || (reads <= COUNT && seconds < 10_000)) {
    await world.clock.advance(1_000);
    seconds++;
  }
  expect(problemsOf(catalog)).toContain('manifest/1.json is missing');
  expect(reads).toBeGreaterThan(COUNT);
  // A hundred a second.
  expect(reads).toBeLessThanOrEqual(seconds * 100 + COUNT);
  expect(world.log.join()).toMatch(/"count":\d{4}\b/);
  for (const line of world.log) expect(line.length).toBeLessThan(10_000);
});
