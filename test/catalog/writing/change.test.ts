import { expect, it } from 'vitest';
import { changeCatalog, type WriterDeps } from '../../../src/catalog/writing/change.ts';
import { AppError } from '../../../src/core/errors.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createHastyClock, createSeededRandomness } from '../../support/clock.ts';

const change = { kind: 'channel' as const, version: null, channels: ['stable'], reason: null };

/** Each attempt plans another channel, and its plan names that channel. */
function planByAttempt() {
  let attempts = 0;
  return () => {
    attempts += 1;
    const plan = `attempt-${attempts}`;
    const channels = { [plan]: { inherits: null, offers: [], retired: [] } };
    return { edit: { change, channels }, plan };
  };
}

it('returns the plan of the stored attempt, also when another writer was first and when the answer was lost', async () => {
  const memory = createMemoryStore({ clock: createFixedClock() });
  const parts = { clock: createHastyClock(), randomness: createSeededRandomness(1), actor: 'test' };
  const rival: WriterDeps = { ...parts, store: memory, randomness: createSeededRandomness(2) };
  let creates = 0;
  const store: typeof memory = {
    ...memory,
    create: async (...call) => {
      if (!call[0].includes('/catalog/')) return memory.create(...call);
      creates += 1;
      // The first attempt is beaten to its number; the answer to the second one is lost after it was stored.
      if (creates === 1) await changeCatalog(rival, 'desktop', planByAttempt());
      const outcome = await memory.create(...call);
      if (creates === 2) throw new AppError('store_unavailable', 'The answer was lost.');
      return outcome;
    },
  };
  const committed = await changeCatalog({ ...parts, store }, 'desktop', planByAttempt());
  expect(committed).toMatchObject({ revision: 2, changed: true, plan: 'attempt-2' });
  expect(Object.keys(committed.after)).toEqual(['attempt-2']);
  expect(creates).toBe(3);
});

it('returns the plan of the last attempt when nothing has to change', async () => {
  const store = createMemoryStore({ clock: createFixedClock() });
  const deps = {
    store,
    clock: createHastyClock(),
    randomness: createSeededRandomness(1),
    actor: 'test',
  };
  await changeCatalog(deps, 'desktop', planByAttempt());
  const unchanged = await changeCatalog(deps, 'desktop', (before) => ({
    edit: undefined,
    plan: Object.keys(before),
  }));
  expect(unchanged).toMatchObject({ revision: 1, changed: false, plan: ['attempt-1'] });
});
