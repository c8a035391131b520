import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { createRetrying, createSettled } from '../../src/sequence/create-settled.ts';
import { createFixedClock } from '../support/clock.ts';
import { createFaultyStore } from '../support/faulty-store.ts';

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

  it('reports a refusal of the first attempt at once and unchanged', async () => {
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
