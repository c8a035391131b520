import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { artifactKey } from '../../../src/catalog/documents/keys.ts';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import type { CatalogReport } from '../../../src/catalog/live/relay.ts';
import type { Fault } from '../../../src/catalog/live/release-loader.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { ObjectInfo, ObjectStore } from '../../../src/store/object-store.ts';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { bulkPublish } from '../bulk-publish.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  problemsOf,
  useCatalogs,
  type World,
} from './live-catalog.ts';

/** A stored file that other bytes of the same size replace, behind the back of the service. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const catalogs = useCatalogs();
const TEN_MINUTES_MS = 10 * 60_000;
const GOOD = 'the program of version 2';
const WRONG = 'THE PROGRAM OF VERSION 2';
const OTHER_WRONG = 'the malware of version 2';

/** Publishes two releases. @returns the key of the newer release's file */
async function publishTwo(world: World, application = 'desktop'): Promise<string> {
  const artifacts = async (content: string) => [
    await makeArtifact(temporary.path, { filename: 'App-Setup.exe', content }),
  ];
  const first = { application, version: '1.0.0', artifacts: await artifacts('version 1') };
  await publish(world.parts, first);
  const second = { application, version: '2.0.0', artifacts: await artifacts(GOOD) };
  const { release } = await publish(world.parts, second);
  return artifactKey(application, String(release.artifacts[0]?.object));
}

/** Counts the reads of files, whose keys the list gets. */
function recordingReads(world: World, change?: ObjectStore['read']) {
  const reads: string[] = [];
  const read = change ?? world.store.read;
  const store: ObjectStore = {
    ...world.store,
    read: (key, options) => {
      reads.push(key);
      return read(key, options);
    },
  };
  return { store, reads };
}

/** Replaces the file as an attacker can; the store dates the new object. */
const replace = (world: World, key: string, text: string) => world.tamper(key, () => text);

const isRefused = (catalog: Catalog, key: string) => {
  expect(problemsOf(catalog)).toBe(
    `2.0.0 is not offered: ${key} has other bytes than the release states.`,
  );
};

describe('a file that is replaced by other bytes of the same size', () => {
  it('is not offered after ten minutes, and is offered again when it is restored', async () => {
    const world = createWorld();
    const key = await publishTwo(world);
    const { store, reads } = recordingReads(world);
    const catalog = await catalogs.start(world, { store });
    await world.clock.advance(TEN_MINUTES_MS);
    expect(reads).toEqual([]);
    await replace(world, key, WRONG);
    await world.clock.advance(TEN_MINUTES_MS);
    expect(await offered(catalog)).toBe('1.0.0');
    isRefused(catalog, key);
    // Twice, and not again while the ETag stays.
    expect(reads).toEqual([key, key]);
    await world.clock.advance(3 * TEN_MINUTES_MS);
    expect(reads).toEqual([key, key]);
    isRefused(catalog, key);
    await replace(world, key, OTHER_WRONG);
    await world.clock.advance(30_000);
    isRefused(catalog, key);
    expect(reads).toHaveLength(4);
    await replace(world, key, GOOD);
    await world.clock.advance(30_000);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
    expect(reads).toHaveLength(5);
  });

  it('is found by a process that starts later, when it is younger than its release', async () => {
    const world = createWorld();
    const key = await publishTwo(world);
    await world.clock.advance(60_000);
    await replace(world, key, WRONG);
    const catalog = await catalogs.start(world);
    await world.clock.advance(2 * POLL_MS);
    expect(await offered(catalog)).toBe('1.0.0');
    isRefused(catalog, key);
  });

  it('stays younger when a later manifest of its release is made', async () => {
    const world = createWorld();
    const key = await publishTwo(world);
    await world.clock.advance(60_000);
    await replace(world, key, WRONG);
    await world.clock.advance(60_000);
    const mac = await makeArtifact(temporary.path, { filename: 'App.dmg', content: 'mac' });
    await publish(world.parts, {
      version: '2.0.0',
      artifacts: [{ ...mac, platform: 'macos', format: 'dmg', arch: 'arm64' }],
    });
    const catalog = await catalogs.start(world);
    await world.clock.advance(2 * POLL_MS);
    isRefused(catalog, key);
  });

  it('is found by a listing of many releases; a stale listing makes the service read nothing', async () => {
    const world = createWorld();
    const keys = await bulkPublish(world, 70);
    const [key = '', other = ''] = keys.slice(-2);
    let isStale = false;
    const { store: recorded, reads } = recordingReads(world);
    const store: ObjectStore = {
      ...recorded,
      listsInPages: true,
      async *list(prefix, options) {
        for await (const info of world.store.list(prefix, options)) {
          yield isStale && info.key === other ? { ...info, etag: '"before"' } : info;
        }
      },
    };
    const catalog = await catalogs.start(world, { store });
    await world.clock.advance(TEN_MINUTES_MS);
    expect(reads).toEqual([]);
    isStale = true;
    await replace(world, key, 'bad');
    await world.clock.advance(TEN_MINUTES_MS);
    expect(problemsOf(catalog)).toContain(`${key} has other bytes`);
    expect(reads).toEqual([key, key]);
  });

  it('of a directory store is found', async () => {
    const { path: directory, remove } = await makeTemporaryDirectory();
    const store = await openDirectoryStore(directory);
    const world = createWorld();
    // The files have the time of this machine.
    await world.clock.advance(Date.now() - world.clock.now() + 1_000);
    const artifact = { filename: 'setup.exe', content: GOOD };
    const artifacts = [await makeArtifact(temporary.path, artifact)];
    const { release } = await publish({ ...world.parts, store }, { version: '2.0.0', artifacts });
    const file = path.join(directory, artifactKey('desktop', String(release.artifacts[0]?.object)));
    const { store: recorded, reads } = recordingReads(world, store.read);
    const catalog = await catalogs.start(world, { store: { ...store, read: recorded.read } });
    // Reads of the disk take real time.
    const until = (answer: string) =>
      expect
        .poll(async () => {
          await world.clock.advance(60_000);
          return offered(catalog);
        })
        .toBe(answer);
    await until('2.0.0');
    await world.clock.advance(TEN_MINUTES_MS);
    expect(reads).toEqual([]);
    await writeFile(file, WRONG);
    await until('no_release');
    expect(problemsOf(catalog)).toContain('has other bytes than the release states');
    await writeFile(file, GOOD);
    await until('2.0.0');
    await catalog.stop();
    await remove();
  });
});

describe('a file with another ETag', () => {
  it('is read once for each ETag, and stays offered when its bytes are the same', async () => {
    const world = createWorld();
    const key = await publishTwo(world);
    let etag: string | undefined;
    const { store, reads } = recordingReads(world);
    const tagged = <T extends ObjectInfo>(info: T | undefined): T | undefined =>
      info?.key === key && etag !== undefined ? { ...info, etag } : info;
    const retagged: ObjectStore = {
      ...store,
      head: async (...call) => tagged(await store.head(...call)),
      read: async (...call) => tagged(await store.read(...call)),
    };
    const catalog = await catalogs.start(world, { store: retagged });
    await world.clock.advance(POLL_MS);
    for (const next of ['"uploaded-again-2"', '"uploaded-again-3"']) {
      etag = next;
      reads.length = 0;
      await world.clock.advance(3 * TEN_MINUTES_MS);
      expect(reads).toEqual([key]);
      expect(await offered(catalog)).toBe('2.0.0');
      expect(problemsOf(catalog)).toBe('');
    }
  });

  it.each([
    ['fails', () => Promise.reject(new AppError('store_unavailable', 'connection refused'))],
    ['ends early', async () => Readable.from([Buffer.from('the')])],
    ['has a flipped bit', async () => Readable.from([Buffer.from('thE program of version 2')])],
  ])('stays offered when an answer %s, and is read again', async (_, answer) => {
    const world = createWorld();
    const key = await publishTwo(world);
    await world.clock.advance(60_000);
    await replace(world, key, GOOD);
    const failing = new Set([1, 3]);
    let number = 0;
    const { store, reads } = recordingReads(world, async (...call) => {
      const object = await world.store.read(...call);
      if (object === undefined || !failing.has(++number)) return object;
      return { ...object, stream: await answer() };
    });
    const catalog = await catalogs.start(world, { store });
    await world.clock.advance(3 * TEN_MINUTES_MS);
    expect(reads).toEqual([key, key]);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
  });

  it('stays offered while two answers contradict each other', async () => {
    const world = createWorld();
    const key = await publishTwo(world);
    await world.clock.advance(60_000);
    await replace(world, key, GOOD);
    let number = 0;
    const { store } = recordingReads(world, async (...call) => {
      const object = await world.store.read(...call);
      return object && { ...object, stream: Readable.from([Buffer.from(`answer ${number++}`)]) };
    });
    const catalog = await catalogs.start(world, { store });
    await world.clock.advance(TEN_MINUTES_MS);
    // One try a minute.
    expect(number).toBeGreaterThan(10);
    expect(number).toBeLessThanOrEqual(24);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
    expect(world.log.join()).toContain('cannot read a stored file again');
  });

  it('adds no request to those of the verification', async () => {
    const world = createWorld();
    await publishTwo(world);
    await catalogs.start(world);
    await world.clock.advance(POLL_MS);
    world.store.forgetCalls();
    await world.clock.advance(TEN_MINUTES_MS);
    // The verification every nine minutes asks for each of the two files.
    expect(world.store.counts).toMatchObject({ head: 2, read: 0, list: 0, open: 0, create: 0 });
  });
});

describe('the results', () => {
  /** Runs a service until it has saved a result for the file. */
  const run = async (world: World, stateDirectory: string, result: RegExp) => {
    const { store, reads } = recordingReads(world);
    const faults: Fault[] = [];
    const send = (report: CatalogReport): void => {
      if (report.kind !== 'catalog_faults') return;
      faults.push(...report.faults.map(([, fault]) => fault));
    };
    const relay = { leads: () => true, send };
    const catalog = await catalogs.start(world, { store, stateDirectory, relay });
    await world.clock.advance(POLL_MS);
    const problems = problemsOf(catalog);
    await expect
      .poll(async () => {
        await world.clock.advance(60_000);
        return saved(stateDirectory);
      })
      .toMatch(result);
    await catalog.stop();
    return { reads, problems, faults };
  };

  it('outlive a restart: a copied store is not read again', async () => {
    const { path: directory, remove } = await makeTemporaryDirectory();
    const world = createWorld();
    const key = await publishTwo(world);
    await world.clock.advance(60_000);
    await replace(world, key, GOOD);
    const result = new RegExp(`${key}.*true`);
    const good = { problems: '', faults: [] };
    expect(await run(world, directory, result)).toEqual({ ...good, reads: [key] });
    expect(await run(world, directory, result)).toEqual({ ...good, reads: [] });
    await remove();
  });

  it('outlive a restart: wrong bytes are refused without another read', async () => {
    const { path: directory, remove } = await makeTemporaryDirectory();
    const world = createWorld();
    const key = await publishTwo(world);
    await world.clock.advance(60_000);
    await replace(world, key, WRONG);
    const result = new RegExp(`${key}.*false`);
    expect(await run(world, directory, result)).toMatchObject({ reads: [key, key] });
    const { reads, problems, faults } = await run(world, directory, result);
    expect(reads).toEqual([]);
    expect(problems).toContain(`${key} has other bytes`);
    // A follower must not clear the fault by comparing sizes.
    expect(faults).toMatchObject([{ version: '2.0.0', isOfBytes: true }]);
    await remove();
  });

  it('show that a file was replaced while no service ran, also in a release without dates', async () => {
    const { path: directory, remove } = await makeTemporaryDirectory();
    const world = createWorld();
    const [key = ''] = (await bulkPublish(world, 1)).slice(-1);
    await run(world, directory, /true/);
    const { lastModified } = (await world.memory.head(key)) ?? {};
    await replace(world, key, 'bad');
    // The new object is not younger: `cp -p` keeps the date of a file, too.
    const head: ObjectStore['head'] = async (each, options) => {
      const info = await world.memory.head(each, options);
      return info && lastModified && each === key ? { ...info, lastModified } : info;
    };
    const store = { ...world.store, head };
    const catalog = await catalogs.start(world, { store, stateDirectory: directory });
    await expect
      .poll(async () => {
        await world.clock.advance(POLL_MS);
        return problemsOf(catalog);
      })
      .toContain(`${key} has other bytes`);
    await catalog.stop();
    await remove();
  });
});

describe('processes that follow a leader', () => {
  it('refuse what the leader refuses, also after a new revision, and read no file', async () => {
    const { path: directory, remove } = await makeTemporaryDirectory();
    const world = createWorld();
    const key = await publishTwo(world);
    let leader = 0;
    const team: { catalog: Catalog; reads: string[] }[] = [];
    for (const index of [0, 1, 2]) {
      const send = (report: CatalogReport): void => {
        const copy = JSON.parse(JSON.stringify(report));
        for (const [other, { catalog }] of team.entries()) {
          if (other !== index) void catalog.follow(copy);
        }
      };
      const { store, reads } = recordingReads(world);
      const relay = { leads: () => leader === index, send };
      const catalog = catalogs.open(world, { store, relay, stateDirectory: directory });
      team.push({ catalog, reads });
      await catalog.start();
    }
    const refused = async () => {
      for (const { catalog } of team.slice(leader)) {
        isRefused(catalog, key);
        expect(await offered(catalog)).toBe('1.0.0');
      }
    };
    await world.clock.advance(POLL_MS);
    await replace(world, key, WRONG);
    await world.clock.advance(TEN_MINUTES_MS);
    await refused();
    const old = await makeArtifact(temporary.path, { content: 'version 0' });
    await publish(world.parts, { version: '0.9.0', artifacts: [old] });
    // No follower may offer the file for a moment, until the leader's next report.
    const seen = new Set<string>();
    let isWatching = true;
    const watching = (async () => {
      while (isWatching) {
        for (const { catalog } of team) seen.add(problemsOf(catalog));
        await new Promise(setImmediate);
      }
    })();
    await world.clock.advance(10 * POLL_MS);
    isWatching = false;
    await watching;
    expect([...seen]).toEqual([problemsOf(team[0]?.catalog as Catalog)]);
    await refused();
    expect(team.map(({ catalog }) => catalog.health().applications.desktop?.revision)).toEqual([
      3, 3, 3,
    ]);
    expect(team.map(({ reads }) => reads.length)).toEqual([2, 0, 0]);
    await expect
      .poll(async () => {
        await world.clock.advance(POLL_MS);
        return saved(directory);
      })
      .toContain('false');
    await team[0]?.catalog.stop();
    leader = 1;
    team[1]?.catalog.lead();
    for (let moment = 0; moment < 40; moment++) {
      await world.clock.advance(POLL_MS / 4);
      await refused();
    }
    expect(team.map(({ reads }) => reads.length)).toEqual([2, 0, 0]);
    await replace(world, key, GOOD);
    await expect
      .poll(async () => {
        await world.clock.advance(POLL_MS);
        return Promise.all(team.slice(leader).map(({ catalog }) => offered(catalog)));
      })
      .toEqual(['2.0.0', '2.0.0']);
    expect(team.map(({ reads }) => reads.length)).toEqual([2, 1, 0]);
    await remove();
  });
});

async function saved(directory: string): Promise<string> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const name = names.find((each) => each.endsWith('files.jsonl'));
  return name === undefined ? '' : readFile(path.join(directory, name), 'utf8');
}
