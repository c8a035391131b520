import type { Clock, Randomness } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { ComponentSource } from '../status/components.ts';

/** What each part beside the catalog (accounts, contact, usage …) hands to the composition root. */
export interface Part {
  /** Shown on the status page, in this order. */
  readonly components?: readonly ComponentSource[];
  readonly background?: readonly BackgroundTask[];
  /** Clean-up tasks, run once an hour by one process. The log names each by its key. */
  readonly housekeeping?: Readonly<Record<string, () => Promise<number>>>;
}

/** Runs in the background. */
export interface BackgroundTask {
  start(): void;
  /** @param answered settles when the last request has been answered */
  stop(answered: Promise<unknown>): Promise<void>;
}

/** What every part is created with. */
export interface PartDeps {
  readonly config: Config;
  /** The store's time. */
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** The store that the service writes to. */
  readonly store: ObjectStore;
  /**
   * Makes a function that reports to the status page whether real requests to a component succeeded.
   *
   * @param failure the sentence that visitors of the status page read; without a host, key or secret
   */
  readonly reportOutcome: (component: string, failure: string) => (isSuccess: boolean) => void;
}

/** More frequent probes would look like an attack to other services. Between probes, real requests report. */
export const OUTSIDE_PROBE_INTERVAL_MS = 60_000;
