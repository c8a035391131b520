import { describe, expect, it } from 'vitest';
import type { ComponentSource } from '../../../src/server/status/components.ts';
import {
  type ComponentUpdate,
  createStatus,
  type Status,
} from '../../../src/server/status/status.ts';
import { createManualClock } from '../../catalog/live/live-catalog.ts';

/** The status of several processes of one machine, of which one probes. */

function openTeam(size: number) {
  const clock = createManualClock();
  const world = { leader: 0, probes: 0, isMailDown: false, sources: [] as string[] };
  const all: Status[] = [];
  for (let index = 0; index < size; index++) {
    world.sources.push('operational');
    const components: ComponentSource[] = [
      {
        kind: 'probed',
        id: 'mail',
        name: 'Mail',
        outageImpact: 'minor',
        probe: async () => {
          world.probes++;
          if (world.isMailDown) throw new Error('down');
        },
      },
      {
        kind: 'read',
        read: () => [
          {
            id: 'catalog',
            name: 'Catalog',
            status: world.sources[index] === 'operational' ? 'operational' : 'major_outage',
            description: 'As it is.',
            impact: 'none',
          },
        ],
      },
    ];
    const send = (update: ComponentUpdate): void => {
      const copy = JSON.parse(JSON.stringify(update));
      for (const other of all) if (other !== all[index]) other.follow(copy);
    };
    all.push(
      createStatus({
        clock,
        randomness: { fraction: () => 0.5, id: () => 'unused' },
        log: { info: () => {}, warn: () => {}, error: () => {} },
        components,
        relay: { leads: () => world.leader === index, send },
      }),
    );
  }
  for (const status of all) status.start();
  const pages = () => all.map((status) => status.report().components);
  return { world, clock, all, pages };
}

describe('the status of several processes', () => {
  it('comes from the probes of the leader, and is the same in all of them', async () => {
    const { world, clock, all, pages } = openTeam(3);
    await clock.advance(60_000);
    expect(world.probes).toBe(3);
    world.isMailDown = true;
    await clock.advance(30_000);
    const [first, ...others] = pages();
    expect(first?.[0]).toMatchObject({ id: 'mail', status: 'major_outage' });
    for (const other of others) expect(other[0]).toEqual(first?.[0]);
    await Promise.all(all.map((status) => status.stop()));
  });

  it('contains what a request to any of them found', async () => {
    const { clock, all, pages } = openTeam(2);
    await clock.advance(1_000);
    all[1]?.noteFailure('mail', 'A mail could not be delivered.');
    for (const page of pages()) {
      expect(page[0]).toMatchObject({ description: 'A mail could not be delivered.' });
    }
    await Promise.all(all.map((status) => status.stop()));
  });

  it('shows one time of the last change of what each reads from its memory', async () => {
    const { world, clock, all, pages } = openTeam(2);
    await clock.advance(10_000);
    world.sources[0] = 'down';
    expect(pages().map((page) => page[1]?.status)).toEqual(['major_outage', 'operational']);
    await clock.advance(1_000);
    world.sources[1] = 'down';
    await clock.advance(20_000);
    world.sources.fill('operational');
    pages();
    const [one, other] = pages().map((page) => page[1]);
    expect(one).toMatchObject({ status: 'operational' });
    expect(other?.updatedAt).toBe(one?.updatedAt);
    await Promise.all(all.map((status) => status.stop()));
  });

  it('comes from another process when the leader has ended', async () => {
    const { world, clock, all, pages } = openTeam(2);
    await clock.advance(1_000);
    await all[0]?.stop();
    world.leader = 1;
    world.isMailDown = true;
    await clock.advance(60_000);
    expect(pages()[1]?.[0]).toMatchObject({ status: 'major_outage' });
    await all[1]?.stop();
  });
});
