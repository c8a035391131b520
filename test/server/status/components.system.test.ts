import { afterEach, describe, expect, it } from 'vitest';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import {
  catalogComponents,
  type ObservedApplication,
  type ObservedCatalog,
  objectStoreComponent,
} from '../../../src/server/status/components.ts';
import { createStatus } from '../../../src/server/status/status.ts';
import {
  createWorld,
  offered,
  STALE_MAX_MS,
  untilSaved,
  type World,
} from '../../catalog/live/live-catalog.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

const HOUR_MS = 3_600_000;
const clock = createFixedClock();

const application = (state: Partial<ObservedApplication> = {}): ObservedApplication => ({
  revision: 7,
  source: 'live',
  confirmedAt: clock.now() - 3_000,
  problems: [],
  storeFailing: false,
  ...state,
});

function read(health: Partial<ObservedCatalog>) {
  const observed: ObservedCatalog = { ready: true, applications: {}, problems: [], ...health };
  return catalogComponents({ health: () => observed, clock, staleMaxMs: 24 * HOUR_MS });
}

describe('the catalog on the status page', () => {
  it.each<[string, Partial<ObservedApplication>, string, string, RegExp]>([
    ['live', {}, 'operational', 'none', /^Answers from revision 7, confirmed 3 s ago\.$/],
    [
      'registered and not published',
      { revision: 0, source: 'none' },
      'operational',
      'none',
      /Nothing is published/,
    ],
    [
      'the store does not answer',
      {
        storeFailing: true,
        problems: ['The object store cannot be read (store_unavailable).'],
        confirmedAt: clock.now() - 10 * 60_000,
      },
      'degraded_performance',
      'minor',
      /store cannot be read.*revision 7, confirmed 10 min ago/,
    ],
    [
      'a corrupt document',
      { problems: ['apps/desktop/catalog/0000000008.json is truncated.'] },
      'degraded_performance',
      'minor',
      /1 problem; see the log/,
    ],
    [
      'from disk',
      { source: 'saved', storeFailing: true, confirmedAt: clock.now() - 5 * HOUR_MS },
      'partial_outage',
      'major',
      /saved on disk: revision 7, confirmed 5 h ago/,
    ],
    [
      'too old',
      { storeFailing: true, confirmedAt: clock.now() - 24 * HOUR_MS - 1 },
      'major_outage',
      'major',
      /too long ago: nothing is offered/,
    ],
    ['never confirmed', { source: 'saved', confirmedAt: 0 }, 'major_outage', 'major', /too long/],
    [
      'not loaded',
      { revision: 0, source: 'none', confirmedAt: undefined },
      'major_outage',
      'major',
      /No catalog could be loaded/,
    ],
    [
      'every document corrupt',
      { revision: 0, source: 'none', problems: ['apps/desktop/catalog/0000000001.json is …'] },
      'major_outage',
      'major',
      /No catalog could be loaded/,
    ],
  ])('%s', (_case, state, status, impact, description) => {
    // A second one, so that the first being out does not mean that all are.
    const components = read({
      applications: { desktop: application(state), other: application() },
    }).read();
    expect(components.map(({ id }) => id)).toEqual(['catalog', 'catalog:desktop', 'catalog:other']);
    expect(components[1]).toMatchObject({
      status,
      impact,
      description: expect.stringMatching(description),
    });
    const whole = {
      operational: 'operational',
      degraded_performance: 'degraded_performance',
      partial_outage: 'degraded_performance',
      major_outage: 'partial_outage',
    }[status];
    expect(components[0]).toMatchObject({ status: whole, impact: 'none' });
    expect(JSON.stringify(components)).not.toMatch(/\.json/);
  });

  it.each<[string, Partial<ObservedCatalog>, string, string]>([
    ['nothing is published', {}, 'operational', 'none'],
    [
      'the list of applications cannot be read',
      { problems: ['…'] },
      'degraded_performance',
      'minor',
    ],
    ['nothing could be loaded', { ready: false }, 'major_outage', 'critical'],
    [
      'the only application is too old',
      { applications: { desktop: application({ confirmedAt: clock.now() - 25 * HOUR_MS }) } },
      'major_outage',
      'critical',
    ],
  ])('as a whole: %s', (_case, health, status, impact) => {
    expect(read(health).read()[0]).toMatchObject({ id: 'catalog', status, impact });
  });
});

describe('status while the store is down', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(() => Promise.all(cleanups.splice(0).map((cleanup) => cleanup())));

  async function openWorld() {
    const world = createWorld();
    const temporary = await makeTemporaryDirectory();
    cleanups.push(() => temporary.remove());
    const artifacts = [await makeArtifact(temporary.path)];
    await publish(world.parts, { version: '1.0.0', artifacts });
    return { world, stateDirectory: `${temporary.path}/state` };
  }

  function observe(world: World, catalog: Catalog) {
    const status = createStatus({
      clock: world.clock,
      randomness: { fraction: () => 0.5, id: () => crypto.randomUUID() },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      components: [
        objectStoreComponent({ store: world.store, randomness: createSeededRandomness(2) }),
        catalogComponents({
          health: () => catalog.health(),
          clock: world.clock,
          staleMaxMs: STALE_MAX_MS,
        }),
      ],
    });
    status.start();
    cleanups.push(
      () => status.stop(),
      () => catalog.stop(),
    );
    const page = () => {
      const { indicator, components } = status.report();
      const statuses = Object.fromEntries(components.map((one) => [one.id, one.status]));
      return { indicator, ...statuses };
    };
    return { status, page };
  }

  it('warm: degraded for ten minutes, with the age of the catalog; critical when too old; then operational again', async () => {
    const { world } = await openWorld();
    const catalog = world.open();
    await catalog.start();
    const { page } = observe(world, catalog);
    await world.clock.advance(0);
    expect(page()).toMatchObject({
      indicator: 'none',
      object_store: 'operational',
      catalog: 'operational',
    });
    world.store.goDown();
    await world.clock.advance(10 * 60_000);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(page()).toMatchObject({
      indicator: 'major',
      object_store: 'major_outage',
      catalog: 'degraded_performance',
    });
    await world.clock.advance(STALE_MAX_MS);
    expect(page()).toMatchObject({
      indicator: 'critical',
      catalog: 'major_outage',
    });
    world.store.comeUp();
    await world.clock.advance(60_000);
    expect(page()).toMatchObject({ indicator: 'none', catalog: 'operational' });
  });

  it('cold: major and answering with a saved state; critical without one', async () => {
    const { world, stateDirectory } = await openWorld();
    const first = world.open({ stateDirectory });
    await first.start();
    await untilSaved(world, stateDirectory);
    await first.stop();
    world.store.goDown();
    const saved = world.open({ stateDirectory });
    await saved.start();
    const warm = observe(world, saved);
    await world.clock.advance(1_000);
    expect(await offered(saved)).toBe('1.0.0');
    expect(warm.page()).toMatchObject({
      indicator: 'major',
      object_store: 'major_outage',
      catalog: 'degraded_performance',
    });
    const empty = world.open();
    await empty.start();
    const cold = observe(world, empty);
    await world.clock.advance(1_000);
    expect(cold.page()).toMatchObject({ indicator: 'critical', catalog: 'major_outage' });
  });

  it('makes no store request for a report, and one small request for a probe', async () => {
    const { world } = await openWorld();
    const catalog = world.open();
    await catalog.start();
    const { status } = observe(world, catalog);
    await world.clock.advance(0);
    world.store.forgetCalls();
    for (let turn = 0; turn < 1_000; turn++) status.report();
    expect(world.store.total()).toBe(0);
    await catalog.stop();
    world.store.forgetCalls();
    await world.clock.advance(4_000);
    expect(world.store.counts).toMatchObject({ get: 1, list: 0, head: 0, create: 0 });
  });
});

describe('the object store on the status page', () => {
  it.each(['store_denied', 'store_unavailable', 'invalid_configuration'] as const)(
    'is out when it answers %s for a missing object',
    async (code) => {
      const { store } = createWorld();
      const { probe } = objectStoreComponent({ store, randomness: createSeededRandomness(3) });
      const { signal } = new AbortController();
      await expect(probe?.(signal)).resolves.toBeUndefined();
      store.setPlan(() => ({ when: 'before', code }));
      await expect(probe?.(signal)).rejects.toMatchObject({ code });
    },
  );

  it('is out when it has an object that was never created', async () => {
    const { store, memory } = createWorld();
    const randomness = { fraction: () => 0, id: () => 'fixed' };
    const keys: string[] = [];
    store.setPlan(({ key }) => void keys.push(key));
    const { probe } = objectStoreComponent({ store, randomness });
    await probe?.(new AbortController().signal);
    await memory.create(String(keys[0]), new Uint8Array([1]));
    await expect(probe?.(new AbortController().signal)).rejects.toMatchObject({
      code: 'store_nonconforming',
    });
  });
});
