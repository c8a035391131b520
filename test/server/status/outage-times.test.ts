import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { catalogComponents, objectStoreComponent } from '../../../src/server/status/components.ts';
import { createStatus } from '../../../src/server/status/status.ts';
import { bulkPublish } from '../../catalog/bulk-publish.ts';
import {
  createWorld,
  STALE_MAX_MS,
  useCatalogs,
  type World,
} from '../../catalog/live/live-catalog.ts';
import type { FaultPlan } from '../../support/faulty-store.ts';

/** The status reports the beginning and the end of an outage at most this late. */
const LATE_MAX_MS = 10_000;
/** The time-out of an attempt to read from a store on S3, with the pause before the next one; there are four. */
const ATTEMPT_MS = 2_100;

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
  /** How long it takes until the status is the expected one, in milliseconds. */
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
  return indicator === 'major' && components[0]?.status === 'major_outage';
};

const OUTAGES: [string, (world: World, isUp: () => boolean) => FaultPlan][] = [
  ['refuses', () => () => ({ when: 'before' })],
  [
    'hangs',
    ({ clock }, isUp) =>
      async () => {
        for (let attempt = 1; attempt <= 4; attempt++) {
          await clock.sleep(ATTEMPT_MS);
          if (isUp()) return undefined;
        }
        return { when: 'before' };
      },
  ],
];

it.each(
  OUTAGES.flatMap((outage) =>
    [1, 12].flatMap((count) => [0, 0.999].map((fraction) => [...outage, count, fraction] as const)),
  ),
)(
  'the status is at most 10 s late when the store %s, number %#',
  async (_name, planOf, count, fraction) => {
    const world = createWorld();
    for (let index = 0; index < count; index++) await bulkPublish(world, 1, `app-${index}`);
    const watched = await watch(world, fraction);
    expect(await watched.timeUntil(() => isFine(watched))).toBeLessThanOrEqual(LATE_MAX_MS);
    for (const lastsMs of [60_000, 601_700]) {
      let isUp = false;
      world.store.setPlan(planOf(world, () => isUp));
      expect(await watched.timeUntil(() => isReported(watched))).toBeLessThanOrEqual(LATE_MAX_MS);
      await world.clock.advance(lastsMs);
      isUp = true;
      world.store.setPlan(undefined);
      expect(await watched.timeUntil(() => isFine(watched))).toBeLessThanOrEqual(LATE_MAX_MS);
    }
    await watched.status.stop();
    await setImmediate();
  },
);

it('a store that does not answer for one application is no outage for the others', async () => {
  const world = createWorld();
  for (let index = 0; index < 3; index++) await bulkPublish(world, 1, `app-${index}`);
  const watched = await watch(world, 0.5);
  world.store.setPlan(({ key }) =>
    key.startsWith('apps/app-1/catalog/') ? { when: 'before' } : undefined,
  );
  for (let seconds = 0; seconds < 120; seconds++) {
    await world.clock.advance(1_000);
    const { components } = watched.status.report();
    const degraded = components.filter(({ status }) => status !== 'operational');
    // Of the catalogs together, only a part is out.
    expect(degraded.filter(({ id }) => id !== 'catalog')).toEqual([]);
    expect(degraded.map(({ status }) => status)).not.toContain('major_outage');
  }
  expect(isFine(watched)).toBe(false);
  await watched.status.stop();
});
