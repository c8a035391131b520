import { afterAll, describe, expect, it } from 'vitest';
import { hintKey } from '../../../src/catalog/documents/keys.ts';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import { announceChange, findLastHint, readHints } from '../../../src/catalog/reading/hints.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createWorld, offered, POLL_MS, useCatalogs, type World } from '../live/live-catalog.ts';

/** A publisher says in one shared sequence which application changed; services poll that. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();

const nameOf = (index: number) => `app-${String(index).padStart(3, '0')}`;

async function startWith(applications: number): Promise<{ world: World; catalog: Catalog }> {
  const world = createWorld();
  for (let index = 0; index < applications; index++) {
    await publish(world.parts, {
      application: nameOf(index),
      version: '1.0.0',
      artifacts: [setup],
    });
  }
  const catalog = await catalogs.start(world);
  return { world, catalog };
}

describe('with a hundred applications', () => {
  it('a change is live within five seconds, and an idle service costs as little as with one application', async () => {
    const { world, catalog } = await startWith(100);
    for (const index of [0, 57, 99]) {
      const application = nameOf(index);
      const { announced } = await publish(world.parts, {
        application,
        version: '2.0.0',
        artifacts: [setup],
      });
      expect(announced).toBe(true);
      await world.clock.advance(5_000);
      expect(await offered(catalog, application)).toBe('2.0.0');
    }
    // A new one as well.
    await publish(world.parts, { application: 'new', version: '1.0.0', artifacts: [setup] });
    await world.clock.advance(5_000);
    expect(await offered(catalog, 'new')).toBe('1.0.0');

    world.store.forgetCalls();
    await world.clock.advance(600_000);
    const perSecond = world.store.counts.get / 600;
    console.log(
      `100 idle applications: ${perSecond.toFixed(2)} GETs a second, ${(perSecond * 2.592).toFixed(1)} million a month`,
    );
    // Hints every two seconds, one turn a second, and a look for a deletion in some of the turns.
    expect(perSecond).toBeLessThan(1.7);
    expect(world.store.counts.list).toBe(0);
  });

  it('a change whose hint was lost is live when its turn comes', async () => {
    const { world, catalog } = await startWith(20);
    const store = createFaultyStore(world.memory, ({ method, key }) =>
      method === 'create' && key.startsWith('changes/') ? { when: 'before' } : undefined,
    );
    const { announced, changed } = await publish(
      { ...world.parts, store },
      { application: nameOf(7), version: '2.0.0', artifacts: [setup] },
    );
    expect({ announced, changed }).toEqual({ announced: false, changed: true });
    await world.clock.advance(30_000);
    expect(await offered(catalog, nameOf(7))).toBe('2.0.0');
  });

  it('a service that is far behind reads every application', async () => {
    const { world, catalog } = await startWith(3);
    for (let n = 0; n < 80; n++) await announceChange(world.parts, 'app-000', n);
    await publish(world.parts, { application: nameOf(2), version: '2.0.0', artifacts: [setup] });
    await world.clock.advance(2 * POLL_MS);
    expect(await offered(catalog, nameOf(2))).toBe('2.0.0');
  });

  it('a corrupt hint delays its application, and no other', async () => {
    const { world, catalog } = await startWith(5);
    const last = await findLastHint(world.memory, 0);
    await world.memory.create(hintKey(last + 1), Buffer.from('nonsense'));
    await publish(world.parts, { application: nameOf(3), version: '2.0.0', artifacts: [setup] });
    await world.clock.advance(5_000);
    expect(await offered(catalog, nameOf(3))).toBe('2.0.0');
  });
});

describe('announcing a change', () => {
  const setUp = () => {
    const clock = createFixedClock();
    const store = createFaultyStore(createMemoryStore({ clock }));
    return { store, clock, randomness: createSeededRandomness(1) };
  };

  it('by several publishers at once leaves no gap in the sequence', async () => {
    const deps = setUp();
    const done = await Promise.all(
      Array.from({ length: 3 }, (_, index) => announceChange(deps, nameOf(index), 0)),
    );
    expect(done).toEqual([true, true, true]);
    const { applications, last } = await readHints(deps.store, 0);
    expect([...(applications ?? [])].sort()).toEqual([0, 1, 2].map(nameOf));
    expect(last).toBe(3);
  });

  it('gives up after three attempts, and never throws', async () => {
    const deps = setUp();
    for (const code of ['store_unavailable', 'store_denied', 'store_full'] as const) {
      deps.store.setPlan(() => ({ when: 'before', code }));
      deps.store.forgetCalls();
      expect(await announceChange(deps, 'desktop', 0)).toBe(false);
      expect(deps.store.counts.create).toBe(3);
    }
  });
});
