import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createRetrying, createSettled } from '../../../src/store/sequence/create-settled.ts';
import { createFixedClock } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';

const KEY = 'things/1.json';
const BYTES = Buffer.from('{}');

function setUp() {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  return { clock, memory, store: createFaultyStore(memory) };
}

describe.each([
  ['createSettled', createSettled],
  ['createRetrying', createRetrying],
])('%s', (_name, create) => {
  it('puts the identical bytes again while the store does not answer', async () => {
    for (const when of ['before', 'after'] as const) {
      const deps = setUp();
      deps.store.setPlan(({ number }) => (number <= 3 ? { when } : undefined));
      expect(await create(deps, KEY, BYTES)).toBe(when === 'before' ? 'created' : 'exists');
      expect(deps.store.counts.create).toBe(4);
      expect(Buffer.from((await deps.memory.get(KEY))?.body ?? [])).toEqual(BYTES);
    }
  });

  it('does not put again after the machine was suspended between two attempts', async () => {
    const deps = setUp();
    deps.store.setPlan(({ number }) => (number === 1 ? { when: 'before' } : undefined));
    const clock = { ...deps.clock, sleep: async () => deps.clock.advance(8 * 86_400_000) };
    await expect(create({ ...deps, clock }, KEY, BYTES)).rejects.toThrow();
    expect(deps.store.counts.create).toBe(1);
    expect(await deps.memory.get(KEY)).toBeUndefined();
  });

  it('ends when the clock is set back by a year meanwhile', async () => {
    const deps = setUp();
    deps.store.goDown();
    const start = deps.clock.now();
    const isSetBack = () => deps.store.counts.create > 0;
    const now = () => deps.clock.now() - (isSetBack() ? 365 * 86_400_000 : 0);
    await expect(create({ ...deps, clock: { ...deps.clock, now } }, KEY, BYTES)).rejects.toThrow();
    expect(deps.clock.now() - start).toBeLessThan(6_000);
  });

  it('reports a refusal of the first attempt at once, as it is', async () => {
    const deps = setUp();
    deps.store.setPlan(() => ({ when: 'before', code: 'store_denied' }));
    await expect(create(deps, KEY, BYTES)).rejects.toMatchObject({ code: 'store_denied' });
    expect(deps.store.counts.create).toBe(1);
  });
});

describe('a store that stays silent, or refuses after an answer was lost', () => {
  const plans = [
    ['stays silent', undefined],
    ['refuses', 2],
  ] as const;

  it.each(plans)('%s: the outcome is unknown to createSettled', async (_what, refusedFrom) => {
    const deps = setUp();
    deps.store.setPlan(({ number }) =>
      refusedFrom !== undefined && number >= refusedFrom
        ? { when: 'before', code: 'store_denied' }
        : { when: 'after' },
    );
    await expect(createSettled(deps, KEY, BYTES)).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
  });

  it('is tried for four seconds', async () => {
    const deps = setUp();
    const begun = deps.clock.now();
    deps.store.goDown();
    await expect(createRetrying(deps, KEY, BYTES)).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(deps.clock.now() - begun).toBeGreaterThanOrEqual(4_000);
    expect(deps.clock.now() - begun).toBeLessThan(6_000);
  });
});
