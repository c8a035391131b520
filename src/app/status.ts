import type { Captcha } from '../captcha/captcha.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock, Randomness } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Mailer } from '../contact/mail.ts';
import type { Identity } from '../identity/identity.ts';
import type { Log } from '../log.ts';
import type { MonitoringUpstream } from '../monitoring/upstream.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import {
  type ComponentSource,
  catalogComponents,
  clockComponent,
  diskComponent,
  objectStoreComponent,
} from '../status/components.ts';
import { createStatus, type Status } from '../status/status.ts';

/** What the components on the status page are made of. */
export interface WatchedParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly privateStore: ObjectStore;
  readonly catalog: Catalog;
  /** Called when a probe runs. Undefined: accounts are off, or still being opened. */
  readonly identity: () => Identity | undefined;
  readonly mailer: Mailer | undefined;
  readonly captcha: () => Captcha;
  readonly monitoring: MonitoringUpstream | undefined;
}

/** More frequent probes would look like an attack to other services; real traffic reports in between. */
const OUTSIDE_PROBE_INTERVAL_MS = 60_000;
const MAIL_PROBE_TIMEOUT_MS = 15_000;

/** Creates the status with every component that the configuration switches on. */
export function openStatus(parts: WatchedParts): Status {
  const { config, clock, randomness, log, store, catalog } = parts;
  return createStatus({
    clock,
    randomness,
    log,
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
      ...optionalComponents(parts),
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

function optionalComponents(parts: WatchedParts): ComponentSource[] {
  const { config, identity, mailer, captcha, monitoring, randomness } = parts;
  const components: ComponentSource[] = [];
  const outageImpact = 'minor' as const;
  if (mailer !== undefined) {
    components.push({
      kind: 'probed',
      id: 'mail',
      name: 'Mail',
      outageImpact,
      probe: (signal) => mailer.verify(signal),
      intervalMs: OUTSIDE_PROBE_INTERVAL_MS,
      timeoutMs: MAIL_PROBE_TIMEOUT_MS,
    });
  }
  if (config.accounts.provider.kind !== 'off') {
    components.push({
      kind: 'probed',
      id: 'identity_provider',
      name: 'Signing in',
      outageImpact,
      probe: async (signal) => identity()?.provider.probe(signal),
    });
  }
  if (config.captcha.kind !== 'none' && config.captcha.kind !== 'missing') {
    components.push({
      kind: 'probed',
      id: 'captcha',
      name: 'Captcha',
      outageImpact,
      probe: () => captcha().probe(),
      intervalMs: OUTSIDE_PROBE_INTERVAL_MS,
    });
  }
  if (monitoring !== undefined) {
    components.push({
      kind: 'probed',
      id: 'monitoring',
      name: 'Monitoring',
      outageImpact,
      probe: () => monitoring.probe(randomness.id()),
    });
  }
  return components;
}
