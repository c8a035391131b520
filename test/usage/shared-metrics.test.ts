import { afterEach, describe, expect, it } from 'vitest';
import type { PublicMetrics } from '../../src/usage/public-metrics.ts';
import { createSharedMetrics, type SharedMetrics } from '../../src/usage/shared-metrics.ts';
import { createManualClock } from '../catalog/live/live-catalog.ts';
import { createSeededRandomness } from '../support/clock.ts';

/** Processes of one machine, each of which has counted something else. */

const opened: SharedMetrics[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((metrics) => metrics.stop()));
});

function open(size: number) {
  const clock = createManualClock();
  const world = { clock, leader: 0, made: 0, all: [] as SharedMetrics[] };
  for (let index = 0; index < size; index++) {
    const metrics = createSharedMetrics({
      clock,
      randomness: createSeededRandomness(index),
      relay: {
        leads: () => world.leader === index,
        send: (update) => {
          for (const other of world.all) {
            if (other !== metrics) other.follow(JSON.parse(JSON.stringify(update)));
          }
        },
      },
      make: () => {
        world.made++;
        return metricsOf(index, clock.now());
      },
    });
    metrics.start();
    opened.push(metrics);
    world.all.push(metrics);
  }
  return world;
}

function metricsOf(counted: number, generatedAt: number): PublicMetrics {
  return {
    generatedAt,
    countedSince: 0,
    links: { today: counted, last30Days: counted, allTime: counted },
    checksPerMinute: counted,
    offersPerMinute: counted,
    shares: { versions: [], platforms: [], channels: [] },
  };
}

const shown = (all: readonly SharedMetrics[], application: string | null = null) =>
  all.map((metrics) => metrics.get(application).links.today);

describe('public metrics of several processes', () => {
  it("are the leader's, whichever process a client asks first", () => {
    const { all } = open(3);
    expect(shown([...all].reverse())).toEqual([0, 0, 0]);
    expect(shown(all, 'desktop')).toEqual([0, 0, 0]);
  });

  it('are made every five seconds, and no more when no client asks', async () => {
    const world = open(3);
    shown(world.all);
    await world.clock.advance(10 * 60_000);
    expect(new Set(world.all.map((metrics) => metrics.get(null).generatedAt)).size).toBe(1);
    expect(world.all[2]?.get(null).generatedAt).toBeGreaterThan(world.clock.now() - 10_000);
    await world.clock.advance(20 * 60_000);
    world.made = 0;
    await world.clock.advance(60 * 60_000);
    expect(world.made).toBe(0);
  });

  it('are those of the next leader after the first one ended', async () => {
    const world = open(3);
    shown(world.all);
    await world.all[0]?.stop();
    const living = world.all.slice(1);
    world.leader = 1;
    await world.clock.advance(10_000);
    expect(shown(living)).toEqual([1, 1]);
  });

  it('are the own ones of each process while no process leads', async () => {
    const world = open(2);
    shown(world.all);
    world.leader = -1;
    await world.clock.advance(60_000);
    expect(shown(world.all)).toEqual([0, 1]);
  });
});
