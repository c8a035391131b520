import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/live/catalog.ts';
import type { Clock, Randomness } from '../core/clock.ts';
import type { TierSettings } from '../domain/tier.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { LegacySettings } from '../updaters/legacy/settings.ts';
import type { App } from './deps.ts';
import type { Load } from './limits/load.ts';
import type { ServiceSettings } from './settings.ts';

/** The way in which a command opens the service in its own process. */

/** @throws AppError `invalid_configuration`, `store_unavailable` */
export type OpenService = (deps: OpenServiceDeps) => Promise<OpenedService>;

interface OpenServiceDeps {
  /** The environment variables from which the service reads its settings. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: FastifyBaseLogger;
  /** Default: the store that the settings name. */
  readonly store?: ObjectStore;
  /** When the load is too much, the service answers 503. Default: the load of this process. */
  readonly load?: Load;
  /**
   * True when the service answers from the store alone: it asks no other service, and needs no settings for other
   * services.
   */
  readonly onlyAnswers?: boolean;
}

/** The caller starts or refreshes `catalog`, and then listens, or asks with `http.inject`. */
export interface OpenedService {
  readonly config: ServiceSettings & LegacySettings & TierSettings;
  readonly http: App;
  readonly catalog: Catalog;
  /** Sets the address that clients use when PUBLIC_URL is not set. Call it once the service listens. */
  learnAddress(url: string): void;
}
