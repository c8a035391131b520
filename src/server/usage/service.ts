import type { Catalog } from '../../catalog/live/catalog.ts';
import type { TierSettings } from '../../domain/tier.ts';
import type { UsageSettings } from '../../usage/settings.ts';
import {
  createSharedMetrics,
  type MetricsRelay,
  type SharedMetrics,
} from '../../usage/shared-metrics.ts';
import { createUsage, type Usage } from '../../usage/usage.ts';
import type { Part, PartDeps } from '../part.ts';
import { createKnownVersions } from './known-versions.ts';

interface UsagePart extends Part {
  readonly usage: Usage;
  /** Undefined: no other process shows the same metrics. */
  readonly shared: SharedMetrics | undefined;
}

interface UsagePartDeps extends Pick<PartDeps, 'clock' | 'randomness' | 'log' | 'store'> {
  readonly config: UsageSettings & TierSettings;
  readonly catalog: Pick<Catalog, 'application'>;
  readonly relay: MetricsRelay | undefined;
}

/** The counts of checks, offers and links. */
export function openUsage(deps: UsagePartDeps): UsagePart {
  const { config, catalog, relay } = deps;
  const isPublicChannel = (application: string, channel: string): boolean =>
    !config.accounts.tiers.restricts(application, channel);
  const usage = createUsage({
    ...deps,
    flushIntervalMs: config.countersFlushMs,
    groupMin: config.publicGroupMin,
    isKnownVersion: createKnownVersions(catalog, isPublicChannel),
    isPublicChannel,
  });
  const task = {
    start: () => usage.start(),
    // Waits for the last answers, so that they are counted, too.
    stop: (answered: Promise<unknown>) => answered.catch(() => undefined).then(() => usage.stop()),
  };
  if (relay === undefined) return { usage, background: [task], shared: undefined };
  const shared = createSharedMetrics({ ...deps, relay, make: usage.publicMetrics });
  return {
    usage: { ...usage, publicMetrics: shared.get },
    background: [task, shared],
    shared,
  };
}
