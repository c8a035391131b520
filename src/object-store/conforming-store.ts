import type { Clock, Randomness } from '../clock.ts';
import { ensureConforming } from './conformance-probe.ts';
import type { ObjectStore } from './object-store.ts';

/** A store that is written to only after it has passed the conformance probe. */
export interface ConformingStore extends ObjectStore {
  /**
   * Probes now, unless this process has done so: the first write then does not wait for the probe.
   *
   * @throws AppError `store_nonconforming`, and the store's
   */
  ensureConforming(): Promise<void>;
}

/**
 * Probes the store before this process's first write; a process that only reads never probes.
 *
 * After a failed probe, the next write probes again. Nothing is written before the probe has passed.
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
