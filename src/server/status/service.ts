import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Clock, Randomness } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { StoreSettings } from '../../store/open/settings.ts';
import type { ServiceSettings } from '../settings.ts';
import {
  type ComponentSource,
  catalogComponents,
  clockComponent,
  diskComponent,
  objectStoreComponent,
} from './components.ts';
import { createStatus, type Status, type StatusRelay } from './status.ts';

/** The dependencies of the components on the status page. */
interface WatchedParts {
  readonly config: ServiceSettings & StoreSettings;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly privateStore: ObjectStore;
  readonly catalog: Catalog;
  /** The components of the other parts, shown after the components of the store and the catalog. */
  readonly components: readonly ComponentSource[];
  readonly relay: StatusRelay | undefined;
}

/** Creates the status with every component that the configuration switches on. */
export function openStatus(parts: WatchedParts): Status {
  const { config, clock, randomness, log, store, catalog, relay } = parts;
  return createStatus({
    clock,
    randomness,
    log,
    relay,
    components: [
      objectStoreComponent({ store, randomness }),
      // Only a directory store has an id.
      ...(store.identify === undefined ? [] : [diskComponent({ store, randomness })]),
      ...privateStoreComponent(parts),
      ...(store.clockOffsetMs === undefined ? [] : [clockComponent(store.clockOffsetMs)]),
      catalogComponents({
        health: () => catalog.health(),
        clock,
        staleMaxMs: config.catalogStaleMaxMs,
      }),
      ...parts.components,
    ],
  });
}

/** Accounts, messages and counts may be in another bucket than the releases. */
function privateStoreComponent({
  config,
  privateStore,
  randomness,
}: WatchedParts): ComponentSource[] {
  if (config.privateBucket === undefined) return [];
  const names = { id: 'private_store', name: 'Store of accounts and messages' };
  return [objectStoreComponent({ store: privateStore, randomness, ...names })];
}
