import { afterAll, describe, expect, it } from 'vitest';
import { APPLICATIONS_ROOT, revisionKey } from '../../../src/catalog/documents/keys.ts';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import type { CatalogReport } from '../../../src/catalog/live/relay.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
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

/** Catalogs of several processes of one machine, of which one polls the store. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const HOUR_MS = 3_600_000;

interface Team {
  readonly catalogs: readonly Catalog[];
  /** The leader ends without a word, and this one takes over. */
  lead(index: number): void;
  /** A process that starts later, with the newest report of each kind. `store`: through which it reads. */
  join(store?: ObjectStore): Promise<Catalog>;
}

const { open: openCatalog } = useCatalogs();

async function openTeam(world: World, size: number): Promise<Team> {
  const catalogs: Catalog[] = [];
  const kept = new Map<string, string>();
  let leader = 0;
  const open = (index: number, store?: ObjectStore): Catalog => {
    const send = (report: CatalogReport): void => {
      // Another process has a copy.
      const text = JSON.stringify(report);
      kept.set(`${report.kind} ${'application' in report ? report.application : ''}`, text);
      for (const other of catalogs) {
        if (other !== catalogs[index]) void other.follow(JSON.parse(text));
      }
    };
    const relay = { leads: () => leader === index, send };
    return openCatalog(world, store === undefined ? { relay } : { relay, store });
  };
  const join = async (store?: ObjectStore): Promise<Catalog> => {
    const catalog = open(catalogs.length, store);
    catalogs.push(catalog);
    for (const text of kept.values()) void catalog.follow(JSON.parse(text));
    await catalog.start();
    return catalog;
  };
  for (let index = 0; index < size; index++) await join();
  return {
    catalogs,
    join,
    lead: (index) => {
      void catalogs[leader]?.stop();
      leader = index;
      catalogs[index]?.lead();
    },
  };
}

const offers = (team: Team): Promise<string[]> =>
  Promise.all(team.catalogs.map((catalog) => offered(catalog)));

/** Deletes the file of the one release. @returns brings it back */
async function deleteFile({ memory }: World): Promise<() => Promise<unknown>> {
  const keys: string[] = [];
  for await (const { key } of memory.list(APPLICATIONS_ROOT)) {
    if (key.endsWith('App-Setup.exe')) keys.push(key);
  }
  const key = String(keys[0]);
  const file = await memory.get(key);
  await memory.delete(key);
  return () => memory.create(key, Buffer.from(file?.body ?? []));
}

describe('catalogs that follow one that polls', () => {
  it('ask the store nothing between publishes: three make the requests of one', async () => {
    const requests: Record<string, number>[] = [];
    for (const size of [1, 3]) {
      const world = createWorld();
      for (let minor = 0; minor < 5; minor++) {
        await publish(world.parts, { version: `1.${minor}.0`, artifacts: [setup] });
      }
      await openTeam(world, size);
      world.store.forgetCalls();
      await world.clock.advance(HOUR_MS);
      requests.push({ ...world.store.counts });
    }
    expect(requests[0]?.head).toBeGreaterThan(5 * 5);
    expect(requests[1]).toEqual(requests[0]);
  });

  it('answer from a new revision, and from a new application, within two poll intervals', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 3);
    await publish(world.parts, { version: '1.1.0', artifacts: [setup] });
    await world.clock.advance(2 * POLL_MS);
    expect(await offers(team)).toEqual(['1.1.0', '1.1.0', '1.1.0']);
    await publish(world.parts, { application: 'other', version: '3.0.0', artifacts: [setup] });
    await world.clock.advance(2 * POLL_MS);
    const others = team.catalogs.map((catalog) => offered(catalog, 'other'));
    expect(await Promise.all(others)).toEqual(['3.0.0', '3.0.0', '3.0.0']);
  });

  it('read a new revision once each', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    await openTeam(world, 3);
    const reads: string[] = [];
    await publish(world.parts, { version: '1.1.0', artifacts: [setup] });
    world.store.setPlan(({ key }) => {
      if (key === revisionKey('desktop', 2)) reads.push(key);
      return undefined;
    });
    await world.clock.advance(8 * POLL_MS);
    expect(reads.length).toBe(3);
  });

  it('keep confirming what they serve, and are stale when no report comes', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 2);
    await world.clock.advance(HOUR_MS / 2);
    const [leading, following] = team.catalogs.map((catalog) => catalog.health());
    expect(following?.applications).toEqual(leading?.applications);
    // The leader ends, and no other takes over.
    await team.catalogs[0]?.stop();
    await world.clock.advance(25 * HOUR_MS);
    await expect(offered(team.catalogs[1] as Catalog)).rejects.toMatchObject({
      code: 'catalog_unavailable',
    });
  });

  it('say that the store fails as long as it fails for the leader', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 2);
    world.store.goDown();
    await world.clock.advance(10 * POLL_MS);
    for (const catalog of team.catalogs) {
      expect(catalog.health().applications.desktop?.storeFailing).toBe(true);
      expect(await offered(catalog)).toBe('1.0.0');
    }
    world.store.comeUp();
    await world.clock.advance(10 * POLL_MS);
    for (const catalog of team.catalogs) {
      expect(catalog.health().applications.desktop?.storeFailing).toBe(false);
      expect(problemsOf(catalog)).toBe('');
    }
  });

  it('withdraw a release whose file is gone, and offer it again when the file is back', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 3);
    const bringBack = await deleteFile(world);
    await world.clock.advance(HOUR_MS / 6);
    for (const catalog of team.catalogs)
      expect(problemsOf(catalog)).toMatch(/1\.0\.0 is not offered/);
    expect(new Set(await offers(team))).not.toContain('1.0.0');
    await bringBack();
    await world.clock.advance(HOUR_MS / 60);
    expect(await offers(team)).toEqual(['1.0.0', '1.0.0', '1.0.0']);
    for (const catalog of team.catalogs) expect(problemsOf(catalog)).toBe('');
  });

  it('report a corrupt revision, as the leader does', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 2);
    await publish(world.parts, { version: '1.1.0', artifacts: [setup] });
    await world.tamper(revisionKey('desktop', 2), (text) => text.replace('1.1.0', '1.2.0'));
    await world.clock.advance(4 * POLL_MS);
    expect(await offers(team)).toEqual(['1.0.0', '1.0.0']);
    for (const catalog of team.catalogs) expect(problemsOf(catalog)).not.toBe('');
    expect(problemsOf(team.catalogs[1] as Catalog)).toBe(problemsOf(team.catalogs[0] as Catalog));
  });

  it('take over from a leader that ended between a change and its next poll', async () => {
    const world = createWorld();
    for (let number = 0; number < 40; number++) {
      const application = `app${number}`;
      await publish(world.parts, { application, version: '1.0.0', artifacts: [setup] });
    }
    const team = await openTeam(world, 3);
    await world.clock.advance(2 * POLL_MS);
    await publish(world.parts, { application: 'app33', version: '2.0.0', artifacts: [setup] });
    team.lead(2);
    await world.clock.advance(POLL_MS);
    for (const catalog of team.catalogs.slice(1))
      expect(await offered(catalog, 'app33')).toBe('2.0.0');
    await publish(world.parts, { application: 'app7', version: '3.0.0', artifacts: [setup] });
    await world.clock.advance(2 * POLL_MS);
    for (const catalog of team.catalogs.slice(1))
      expect(await offered(catalog, 'app7')).toBe('3.0.0');
  });

  it('verify the files again after taking over', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 2);
    team.lead(1);
    await deleteFile(world);
    await world.clock.advance(HOUR_MS / 6);
    expect(problemsOf(team.catalogs[1] as Catalog)).toMatch(/1\.0\.0 is not offered/);
  });

  it('answer from a new revision while they verify many releases', async () => {
    const world = createWorld();
    const keys = await bulkPublish(world, 70);
    const slow = new Set(keys.slice(0, -1));
    const team = await openTeam(world, 1);
    await world.clock.advance(POLL_MS);
    const joining = team.join({
      ...world.memory,
      head: async (key) => {
        if (slow.has(key)) await world.clock.sleep(HOUR_MS / 60);
        return world.memory.head(key);
      },
    });
    await world.clock.advance(POLL_MS);
    const late = await joining;
    await publish(world.parts, { version: '5.0.0', artifacts: [setup] });
    await world.clock.advance(2 * POLL_MS);
    expect(await offered(late)).toBe('5.0.0');
  });

  it('retry after taking over what the leader before could not verify', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const other = await makeArtifact(temporary.path, { filename: 'Other-Setup.exe' });
    await publish(world.parts, { version: '0.9.0', artifacts: [other] });
    const team = await openTeam(world, 2);
    const bringBack = await deleteFile(world);
    await world.clock.advance(HOUR_MS / 6);
    expect(problemsOf(team.catalogs[1] as Catalog)).toMatch(/1\.0\.0 is not offered/);
    team.lead(1);
    await world.clock.advance(HOUR_MS / 60);
    await bringBack();
    await world.clock.advance(HOUR_MS / 60);
    expect(problemsOf(team.catalogs[1] as Catalog)).toBe('');
    expect(await offered(team.catalogs[1] as Catalog)).toBe('1.0.0');
  });

  it('offer again what only a follower could not verify', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 1);
    await world.clock.advance(HOUR_MS / 60);
    const bringBack = await deleteFile(world);
    const late = await team.join();
    await world.clock.advance(POLL_MS);
    expect(problemsOf(late)).toMatch(/1\.0\.0 is not offered/);
    await bringBack();
    await world.clock.advance(HOUR_MS / 6);
    expect(problemsOf(late)).toBe('');
    expect(await offered(late)).toBe('1.0.0');
  });

  it('start late, and while the store is down once it answers', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const team = await openTeam(world, 1);
    await world.clock.advance(POLL_MS);
    expect(await offered(await team.join())).toBe('1.0.0');
    world.store.goDown();
    const late = await team.join();
    world.store.comeUp();
    await world.clock.advance(10 * POLL_MS);
    expect(await offered(late)).toBe('1.0.0');
  });
});

describe('a newest revision that was deleted', () => {
  const yank = (world: World, skipCorrupt: readonly number[] = []) =>
    changeStatus({ ...world.parts, actor: 'test', skipCorrupt }, 'yank', {
      application: 'desktop',
      version: '2.0.0',
      channel: undefined,
      reason: null,
    });
  const setUp = async (): Promise<World> => {
    const world = createWorld();
    for (const version of ['1.0.0', '2.0.0']) {
      await publish(world.parts, { version, artifacts: [setup] });
    }
    return world;
  };

  it('leaves the state unknown for every process that starts', async () => {
    const world = await setUp();
    await yank(world);
    await world.memory.delete(revisionKey('desktop', 3));
    const team = await openTeam(world, 3);
    await world.clock.advance(5 * POLL_MS);
    for (const catalog of team.catalogs) {
      await expect(offered(catalog)).rejects.toMatchObject({ code: 'catalog_unavailable' });
    }
  });

  it('is reported by every process, and each follows the revision behind it', async () => {
    const world = await setUp();
    const team = await openTeam(world, 3);
    await world.clock.advance(POLL_MS);
    world.store.goDown();
    await yank(world);
    await world.memory.delete(revisionKey('desktop', 3));
    world.store.comeUp();
    await world.clock.advance(10 * POLL_MS);
    for (const catalog of team.catalogs) {
      expect(problemsOf(catalog)).toContain(`${revisionKey('desktop', 3)} is missing`);
      expect(await offered(catalog)).toBe('2.0.0');
    }
    await yank(world, [3]);
    await world.clock.advance(5 * POLL_MS);
    for (const catalog of team.catalogs) expect(await offered(catalog)).toBe('1.0.0');
  });
});
