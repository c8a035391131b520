import type { Catalog } from '../catalog/catalog.ts';
import {
  createSharedMetrics,
  type MetricsRelay,
  type SharedMetrics,
} from '../usage/shared-metrics.ts';
import { createUsage, type Usage } from '../usage/usage.ts';
import { createKnownVersions } from './known-versions.ts';
import type { Part, PartDeps } from './part.ts';

interface UsagePart extends Part {
  readonly usage: Usage;
  /** Undefined: no other process shows the same metrics. */
  readonly shared: SharedMetrics | undefined;
}

/** The counts of checks, offers and links. */
export function createUsagePart(
  deps: PartDeps,
  catalog: Pick<Catalog, 'application'>,
  relay: MetricsRelay | undefined,
): UsagePart {
  const { config } = deps;
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
    // The last answers are counted too.
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
