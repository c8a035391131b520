import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Explainer } from '../answers/explain/explain-live.ts';
import type { Catalog } from '../catalog/live/catalog.ts';
import type { Trust } from '../catalog/trust/trust.ts';
import type { Clock, Randomness } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { Usage } from '../usage/usage.ts';
import type { Access } from './access/access.ts';
import type { BrowserFileDeps } from './browser-file-routes.ts';
import type { Captcha } from './captcha/captcha.ts';
import type { RouteDeps } from './deps.ts';
import type { PartTags } from './documentation/documents.ts';
import type { Load } from './limits/load.ts';
import type { ComponentSource } from './status/components.ts';
import type { Status } from './status/status.ts';
import type { WorkerLink } from './workers/worker-link.ts';

/** A part of the service (accounts, usage, monitoring …), as the composition root receives it. */
export interface Part {
  /** Creates the routes when every part is open. The service registers the routes in the order of the parts. */
  readonly routes?: (deps: PartRouteDeps) => FastifyPluginAsyncZod;
  readonly tags?: PartTags;
  /** Shown on the status page, in this order. */
  readonly components?: readonly ComponentSource[];
  readonly background?: readonly BackgroundTask[];
  /** Clean-up tasks, run once an hour by one process. The log names each by its key. */
  readonly housekeeping?: Readonly<Record<string, () => Promise<number>>>;
  /** Facts about the part for the log when the service listens, by name. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** A task that runs in the background. */
export interface BackgroundTask {
  start(): void;
  /** @param answered settles when the last request has been answered */
  stop(answered: Promise<unknown>): Promise<void>;
}

/** The dependencies that every part gets when the service creates it, in addition to its settings. */
export interface PartDeps {
  /** The store's time. */
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** The store that the service writes to. */
  readonly store: ObjectStore;
  readonly releaseStore: ObjectStore;
  /** Undefined: signatures of catalogs do not matter. */
  readonly trust: Trust | undefined;
  /** The origins whose pages may send cookies and access tokens: the origins of the website, and the service's own. */
  readonly origins: readonly string[];
  readonly captcha: Captcha;
  readonly explain: Explainer;
  /** Limits work that takes a whole processor, in all workers of one service together. */
  readonly inTurn: WorkerLink['inTurn'] | undefined;
  /**
   * Makes a function that reports to the status page whether real requests to a component succeeded.
   *
   * @param failure the sentence that visitors of the status page read; without a host, key or secret
   */
  readonly reportOutcome: (component: string, failure: string) => (isSuccess: boolean) => void;
}

/** The dependencies of the routes of a part. */
export interface PartRouteDeps extends RouteDeps, BrowserFileDeps {
  readonly access: Access;
  readonly catalog: Catalog;
  readonly load: Load;
  readonly status: Status;
  readonly usage: Usage;
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly basePath: string;
  /** The machine's clock. The service's own clock may follow the store's clock. */
  readonly machineClock: Pick<Clock, 'now'>;
  /** The version of Slipway. */
  readonly version: string;
}

/**
 * More frequent probes would look like an attack to other services. Between probes, real requests report whether the
 * other service works.
 */
export const OUTSIDE_PROBE_INTERVAL_MS = 60_000;
