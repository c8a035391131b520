import type { Catalog } from '../catalog/catalog.ts';
import type { Clock, Randomness } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Mailer } from '../contact/mail.ts';
import type { Identity } from '../identity/identity.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { createStatus, type Status } from '../telemetry/status.ts';
import {
  type ComponentSource,
  catalogComponents,
  objectStoreComponent,
} from '../telemetry/status-components.ts';

/** What the status page watches here. */

export interface WatchedParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly catalog: Catalog;
  /** Undefined while they are not there; asked for when a probe runs. */
  readonly identity: () => Identity | undefined;
  readonly mailer: Mailer | undefined;
}

/** Signing in to a mail server every half minute would look like an attack to it. */
const MAIL_PROBE_INTERVAL_MS = 5 * 60_000;
const MAIL_PROBE_TIMEOUT_MS = 15_000;

export function openStatus(parts: WatchedParts): Status {
  const { config, clock, randomness, log, store, catalog } = parts;
  return createStatus({
    clock,
    randomness,
    log,
    components: [
      objectStoreComponent({ store, randomness }),
      catalogComponents({
        health: () => catalog.health(),
        clock,
        staleMaxMs: config.catalogStaleMaxMs,
      }),
      ...optionalComponents(parts),
    ],
  });
}

function optionalComponents({ config, identity, mailer }: WatchedParts): ComponentSource[] {
  const components: ComponentSource[] = [];
  const outageImpact = 'minor' as const;
  if (mailer !== undefined) {
    components.push({
      kind: 'probed',
      id: 'mail',
      name: 'Mail',
      outageImpact,
      probe: (signal) => mailer.verify(signal),
      intervalMs: MAIL_PROBE_INTERVAL_MS,
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
  // Nothing can be asked of these without a visitor's token, or on top of what is forwarded.
  if (config.captcha.kind !== 'none' && config.captcha.kind !== 'missing') {
    components.push({ kind: 'probed', id: 'captcha', name: 'Captcha', outageImpact });
  }
  if (config.monitoringUpstream !== undefined) {
    components.push({ kind: 'probed', id: 'monitoring', name: 'Monitoring', outageImpact });
  }
  return components;
}
