import { beforeEach, expect, it, vi } from 'vitest';
import {
  openPublishedMetadata,
  type PublishedMetadata,
} from '../../../src/catalog/live/published-metadata.ts';
import { renewFreshness } from '../../../src/catalog/writing/signing.ts';
import { AppError } from '../../../src/core/errors.ts';
import { ci, k1, must, OPERATORS_DECIDE, useTrustedWorld } from '../trust/trusted-world.ts';
import type { World } from './live-catalog.ts';

/** Clients that verify ask for the timestamp of a revision whose publisher has not signed it yet. */

const trusted = await useTrustedWorld();
let world: World;
let metadata: PublishedMetadata;
let stopping: AbortController;
/** The number of the revision that the service answers from. */
let served: number;
let old: number;

beforeEach(async () => {
  world = trusted.begin();
  await trusted.init(OPERATORS_DECIDE, k1, ci);
  await trusted.publishTo('stable', '1.0.0', ci);
  await trusted.publishTo('stable', '1.1.0', ci);
  stopping = new AbortController();
  const deps = { store: world.memory, clock: world.clock, stopping: stopping.signal };
  metadata = must(openPublishedMetadata(deps, trusted.publisher().trust)('desktop'));
  old = must(await metadata.newestTimestamp({ revision: await trusted.newestNumber() }));
  await world.clock.advance(5_000);
  await trusted.yankAndDie();
  served = await trusted.newestNumber();
});

/** Asks, and tells what the answer is; undefined: the request still waits. */
async function ask() {
  const asked: { version?: number | undefined } = {};
  void metadata.newestTimestamp({ revision: served }).then((version) => {
    asked.version = version;
  });
  await world.clock.advance(0);
  return asked;
}

it('a request waits for the timestamp, and all requests share the reads of the store', async () => {
  const listing = vi.spyOn(world.memory, 'list');
  const asked = await Promise.all(Array.from({ length: 200 }, ask));
  await world.clock.advance(1_500);
  expect(asked.filter(({ version }) => version !== undefined)).toEqual([]);
  const state = await trusted.presentState();
  const { version } = await renewFreshness(trusted.publisher(ci), 'desktop', state);
  expect(version).toBeGreaterThan(old);
  const reads = listing.mock.calls.length;
  await world.clock.advance(1_000);
  expect(new Set(asked.map((each) => each.version))).toEqual(new Set([version]));
  expect(reads).toBeLessThan(10);
  expect(listing.mock.calls.length - reads).toBe(1);
});

it('a request waits three seconds at most, and none waits once a publisher is dead', async () => {
  const first = await ask();
  await world.clock.advance(2_900);
  expect(first.version).toBeUndefined();
  await world.clock.advance(100);
  expect(first.version).toBe(old);
  const second = await ask();
  await world.clock.advance(2_900);
  expect(second.version).toBeUndefined();
  await world.clock.advance(20_000);
  const late = await ask();
  expect([second.version, late.version]).toEqual([old, old]);
});

it('no request waits when the process stops', async () => {
  const asked = await ask();
  await world.clock.advance(500);
  expect(asked.version).toBeUndefined();
  stopping.abort();
  await world.clock.advance(0);
  expect(asked.version).toBe(old);
});

it('a request waits on while the store does not answer', async () => {
  const listing = vi.spyOn(world.memory, 'list').mockImplementation(() => {
    throw new AppError('store_unavailable', 'down');
  });
  const asked = await ask();
  await world.clock.advance(1_500);
  expect(asked.version).toBeUndefined();
  listing.mockRestore();
  await renewFreshness(trusted.publisher(ci), 'desktop', await trusted.presentState());
  await world.clock.advance(1_000);
  expect(asked.version).toBeGreaterThan(old);
});
