import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshnessPrefix } from '../../../src/catalog/documents/keys.ts';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import { createFreshnessWatch } from '../../../src/catalog/live/watch-freshness.ts';
import { createTrust } from '../../../src/catalog/trust/create-trust.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { renewFreshness } from '../../../src/catalog/writing/signing.ts';
import { AppError } from '../../../src/core/errors.ts';
import { listKeys } from '../../support/objects.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { FRESH_MS, initTrust, trusting } from '../../support/trust.ts';
import {
  ci,
  DAY_MS,
  k1,
  must,
  OPERATORS_DECIDE,
  untilSavedRevision,
  useTrustedWorld,
} from '../trust/trusted-world.ts';
import { offered, problemsOf, useCatalogs, type World } from './live-catalog.ts';

/** A service while nothing changes, after restarts, and while a timestamp is missing. */

const HOUR_MS = 3_600_000;
/** A refused service looks every ten seconds, and its polls take a moment. */
const SOON_MS = 13_000;
const trusted = await useTrustedWorld();
const catalogs = useCatalogs();
let world: World;
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
  world = trusted.begin();
  await trusted.init(OPERATORS_DECIDE, k1, ci);
  await trusted.publishTo('stable', '1.0.0', ci);
  await trusted.publishTo('stable', '1.1.0', ci);
});
afterEach(() => directory.remove());

const timestamps = () => listKeys(world.memory, freshnessPrefix('desktop'));
const QUIET = {
  application: 'desktop',
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
};
const REFUSED = 'not known to be new';

/** What a client gets from a service with the saved state; the service stops afterwards. */
async function offeredAfterRestart(...signers: readonly Signer[]): Promise<string> {
  const catalog = await trusted.start(directory.path, ...signers);
  await untilSavedRevision(world, directory.path, await trusted.newestNumber());
  try {
    return await offered(catalog);
  } finally {
    await catalog.stop();
  }
}

/** The lines of the log that have this text. */
const logged = (text: string) => world.log.filter((line) => line.includes(text));

describe('a service for which TRUST_FRESH passes without a change', () => {
  it('goes on after a restart, as often as the store confirmed the state in between', async () => {
    expect(await offeredAfterRestart()).toBe('1.1.0');
    for (let restart = 0; restart < 3; restart++) {
      await world.clock.advance(FRESH_MS - DAY_MS);
      expect(await offeredAfterRestart()).toBe('1.1.0');
    }
    await expect(trusted.offeredCold()).rejects.toThrow(REFUSED);
    expect(await timestamps()).toHaveLength(3);
  });

  it('goes on after a restart while the store is down', async () => {
    await world.clock.advance(FRESH_MS - 10 * 60_000);
    const kept = new Map<string, Uint8Array>();
    const startWithCache = async () => {
      const trust = createTrust({
        store: world.store,
        clock: world.clock,
        roots: new Map([['desktop', trusted.root()]]),
        unsigned: new Set(),
        signers: async () => [],
        freshMs: FRESH_MS,
        cacheOf: () => ({
          read: async (key) => kept.get(key),
          write: async (key, bytes) => void kept.set(key, bytes),
        }),
      });
      return catalogs.start(world, { trust, stateDirectory: directory.path });
    };
    const before = await startWithCache();
    await untilSavedRevision(world, directory.path, await trusted.newestNumber());
    await before.stop();
    await world.clock.advance(20 * 60_000);
    world.store.setPlan(() => {
      throw new AppError('store_unavailable', 'down');
    });
    expect(await offered(await startWithCache())).toBe('1.1.0');
  });

  it('starts from no disk image of last year, which would offer what was yanked since', async () => {
    const old = await trusted.newestNumber();
    const before = await timestamps();
    expect(await offeredAfterRestart()).toBe('1.1.0');
    await trusted.yank();
    await trusted.deleteAfter(old);
    await trusted.deleteUnder(freshnessPrefix('desktop'), before);
    await world.clock.advance(365 * DAY_MS);
    // The store confirms the old state to the refused service. That must not make it new at the next start.
    for (let restart = 0; restart < 3; restart++) {
      await expect(offeredAfterRestart(ci)).rejects.toThrow(/expired at .*trust renew/);
      await world.clock.advance(HOUR_MS);
    }
    expect(await timestamps()).toEqual(before);
  });

  it('does not start from a state that it saved while it was refused', async () => {
    await world.clock.advance(FRESH_MS + DAY_MS);
    for (let restart = 0; restart < 3; restart++) {
      await expect(offeredAfterRestart()).rejects.toThrow(REFUSED);
      await world.clock.advance(HOUR_MS);
    }
    await renewFreshness(trusted.publisher(ci), 'desktop', await trusted.presentState());
    expect(await offeredAfterRestart()).toBe('1.1.0');
  });

  it('is not proven by a wrong clock of its machine, once the store has told the time', async () => {
    const at = world.clock.now();
    await world.clock.advance(365 * DAY_MS);
    let now = at + DAY_MS;
    const clock = { ...world.clock, now: () => now };
    const watch = must(createFreshnessWatch({ ...trusted.publisher(), ...QUIET, clock }));
    const revision = await trusted.newestNumber();
    watch.restore(undefined, { revision, confirmation: { at, revision } });
    expect(watch.refusal()).toBeUndefined();
    now = world.clock.now();
    await watch.look();
    expect(watch.refusal()).toContain(REFUSED);
  });

  it('signs no timestamp when it starts from a state whose timestamp is older than a day', async () => {
    expect(await offeredAfterRestart()).toBe('1.1.0');
    await world.clock.advance(FRESH_MS - DAY_MS);
    expect(await offeredAfterRestart()).toBe('1.1.0');
    await world.clock.advance(2 * DAY_MS);
    const before = await timestamps();
    const catalog = await trusted.start(directory.path, ci);
    await world.clock.advance(20 * 60_000);
    expect([await offered(catalog), await timestamps()]).toEqual(['1.1.0', before]);
  });

  it('warns at each start, two days before', async () => {
    await world.clock.advance(FRESH_MS - 2 * DAY_MS - HOUR_MS);
    const early = await trusted.start(directory.path);
    expect([world.log, problemsOf(early)]).toEqual([[], '']);
    await early.stop();
    for (let start = 1; start <= 2; start++) {
      await world.clock.advance(12 * HOUR_MS);
      const late = await trusted.start(directory.path);
      await world.clock.advance(60_000);
      const lines = logged('the signed timestamp is about to expire');
      expect(lines).toHaveLength(start);
      expect(lines.at(-1)).toContain('slipway trust renew');
      expect(problemsOf(late)).toMatch(/expires at .*slipway trust renew/);
      expect(await offered(late)).toBe('1.1.0');
      await late.stop();
    }
  });
});

describe('a refused service', () => {
  beforeEach(() => world.clock.advance(FRESH_MS + DAY_MS));
  const renew = async () =>
    renewFreshness(trusted.publisher(ci), 'desktop', await trusted.presentState());

  it('says why and since when, until an operator signs a timestamp', async () => {
    const began = world.clock.now();
    const catalog = await trusted.start();
    await world.clock.advance(60_000);
    const { ready, applications } = catalog.health();
    expect(ready).toBe(false);
    expect(applications.desktop?.refusal).toContain('slipway trust renew');
    expect(applications.desktop?.expiries?.timestamp).toBe(0);
    const since = new Date(began).toISOString();
    expect(problemsOf(catalog)).toContain(`Clients have got no answer since ${since}`);
    const lines = logged('clients get no answer');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('the store has no valid timestamp');
    await renew();
    await world.clock.advance(SOON_MS);
    expect(await offered(catalog)).toBe('1.1.0');
    expect([catalog.health().ready, problemsOf(catalog)]).toEqual([true, '']);
    expect(logged('clients get no answer')).toHaveLength(1);
  });

  it('sees the timestamp within ten seconds, also among many applications', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `app-${index}`);
    const roots = await Promise.all(
      names.map((application) =>
        initTrust(world.parts, { ...OPERATORS_DECIDE, application }, k1, ci),
      ),
    );
    const trust = trusting(world, [...roots, trusted.root()]);
    const catalog = await catalogs.start(world, { trust });
    // The poll of all applications has just read the last one, and begins again.
    await world.clock.advance(35_000);
    await renew();
    await world.clock.advance(SOON_MS);
    expect(await offered(catalog)).toBe('1.1.0');
  });
});

describe('a publisher that dies between its revision and its timestamp', () => {
  const named = async () =>
    must(await trusted.publisher().trust.of('desktop')?.freshness()).revision.revision;

  /** Polls: verifying takes real time, and more of it on a busy machine. */
  const untilOffered = (catalog: Catalog, version: string) =>
    expect
      .poll(async () => {
        await world.clock.advance(50);
        return offered(catalog);
      })
      .toBe(version);

  it('is followed by the timestamp of a service with a key, ten seconds later', async () => {
    const catalog: Catalog = await trusted.start(undefined, ci);
    const before = await timestamps();
    await trusted.yankAndDie();
    await world.clock.advance(6_000);
    // A withdrawal waits for no timestamp.
    await untilOffered(catalog, '1.0.0');
    expect(await timestamps()).toEqual(before);
    await world.clock.advance(SOON_MS);
    await expect
      .poll(async () => {
        await world.clock.advance(50);
        return timestamps();
      })
      .toHaveLength(before.length + 1);
    expect(await named()).toBe(await trusted.newestNumber());
    await world.clock.advance(60_000);
    expect(await timestamps()).toHaveLength(before.length + 1);
  });

  it('is not followed by a timestamp of a service that may renew none', async () => {
    await world.clock.advance(3 * HOUR_MS);
    const catalog = await trusted.start(undefined, ci);
    const before = await timestamps();
    await trusted.yankAndDie();
    await world.clock.advance(60_000);
    await untilOffered(catalog, '1.0.0');
    await world.clock.advance(SOON_MS);
    expect(await timestamps()).toEqual(before);
  });

  it('is followed by no second timestamp when it was only slow', async () => {
    const deps = { ...trusted.publisher(ci), ...QUIET, clock: world.clock };
    const watch = must(createFreshnessWatch(deps));
    await watch.look();
    await trusted.yankAndDie();
    const state = await trusted.presentState();
    await watch.renew(state);
    await world.clock.advance(9_000);
    await renewFreshness(trusted.publisher(ci), 'desktop', state);
    const before = await timestamps();
    await world.clock.advance(2_000);
    await watch.renew(state);
    expect(await timestamps()).toEqual(before);
    expect(must(watch.newest()).revision.revision).toBe(state.revision);
  });
});
