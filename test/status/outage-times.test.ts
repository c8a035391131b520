import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { catalogComponents, objectStoreComponent } from '../../src/status/components.ts';
import { createStatus } from '../../src/status/status.ts';
import { bulkPublish } from '../catalog/bulk-publish.ts';
import { createWorld, STALE_MAX_MS, useCatalogs, type World } from '../catalog/live-catalog.ts';
import type { FaultPlan } from '../support/faulty-store.ts';

/** Status is at most this late, when an outage of the store begins and when it ends. */
const LATE_MAX_MS = 10_000;
/** A request to a store on S3 that hangs: four attempts of two seconds, and the pauses in between. */
const HANGING_MS = 8_400;

const catalogs = useCatalogs();

async function watch(world: World, fraction: number) {
  const { clock, store } = world;
  const catalog = catalogs.open(world);
  await catalog.start();
  const randomness = { fraction: () => fraction, id: () => 'unused' };
  const health = () => catalog.health();
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const status = createStatus({
    ...{ clock, randomness, log: silent },
    components: [
      objectStoreComponent({ store, randomness }),
      catalogComponents({ health, clock, staleMaxMs: STALE_MAX_MS }),
    ],
  });
  status.start();
  /** How long the status takes to be like this. */
  const timeUntil = async (isReached: () => boolean): Promise<number> => {
    const begun = clock.now();
    while (!isReached() && clock.now() - begun < 3_600_000) await clock.advance(250);
    return clock.now() - begun;
  };
  return { status, timeUntil };
}

type Watched = Awaited<ReturnType<typeof watch>>;

const isFine = ({ status }: Watched) => status.report().indicator === 'none';
const isReported = ({ status }: Watched) => {
  const { indicator, components } = status.report();
  return (
    indicator === 'major' &&
    components.every(({ id, status }) => id === 'catalog' || status !== 'operational')
  );
};

const OUTAGES: [string, (world: World) => FaultPlan][] = [
  ['refuses', () => () => ({ when: 'before' })],
  [
    'hangs',
    ({ clock }) =>
      async () => {
        await clock.sleep(HANGING_MS);
        return { when: 'before' };
      },
  ],
];

it.each(
  OUTAGES.flatMap((outage) =>
    [1, 60].flatMap((count) => [0, 0.999].map((fraction) => [...outage, count, fraction] as const)),
  ),
)(
  'the status is at most 10 s late when the store %s, number %#',
  async (_name, planOf, count, fraction) => {
    const world = createWorld();
    for (let index = 0; index < count; index++) await bulkPublish(world, 1, `app-${index}`);
    const watched = await watch(world, fraction);
    expect(await watched.timeUntil(() => isFine(watched))).toBeLessThanOrEqual(LATE_MAX_MS);
    for (const lastsMs of [60_000, 601_700]) {
      world.store.setPlan(planOf(world));
      expect(await watched.timeUntil(() => isReported(watched))).toBeLessThanOrEqual(LATE_MAX_MS);
      await world.clock.advance(lastsMs);
      world.store.setPlan(undefined);
      expect(await watched.timeUntil(() => isFine(watched))).toBeLessThanOrEqual(LATE_MAX_MS);
    }
    await watched.status.stop();
    await setImmediate();
  },
);
