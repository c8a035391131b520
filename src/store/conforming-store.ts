import type { Clock, Randomness } from '../core/clock.ts';
import { ensureConforming } from './conformance-probe.ts';
import type { ObjectStore } from './object-store.ts';

/** A store that accepts writes only after it has passed the conformance probe. */
export interface ConformingStore extends ObjectStore {
  /**
   * Probes now unless this process has probed already, so that the first write does not wait.
   *
   * @throws AppError `store_nonconforming`, or an error of the store
   */
  ensureConforming(): Promise<void>;
}

/**
 * Probes the store before this process's first write. A process that only reads never probes.
 *
 * Rejects every write until a probe has passed. After a failed probe, the next write probes again.
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
