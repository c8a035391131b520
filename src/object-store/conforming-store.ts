import type { Clock, Randomness } from '../clock.ts';
import { ensureConforming } from './conformance-probe.ts';
import type { ObjectStore } from './object-store.ts';

/** A store that nothing is written to before it has shown that it keeps its word. */
export interface ConformingStore extends ObjectStore {
  /**
   * Probes now, unless it was done: the first write does not have to wait for it then.
   *
   * @throws AppError `store_nonconforming`, and the store's
   */
  ensureConforming(): Promise<void>;
}

/**
 * A store that is probed before this process's first write to it: a service that only reads never does.
 *
 * A refusal is final until the next attempt to write; nothing is written before the probe was passed.
 */
export function createConformingStore(deps: {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
}): ConformingStore {
  const { store } = deps;
  let passed: Promise<void> | undefined;
  const ensure = (): Promise<void> => {
    passed ??= ensureConforming(deps).catch((error: unknown) => {
      passed = undefined;
      throw error;
    });
    return passed;
  };
  return {
    ...store,
    ensureConforming: ensure,
    create: async (key, body, options) => {
      await ensure();
      return store.create(key, body, options);
    },
    upload: async (key, source, options) => {
      await ensure();
      return store.upload(key, source, options);
    },
  };
}
