import type { Catalog } from '../catalog/catalog.ts';
import { createUsage, type Usage } from '../usage/usage.ts';
import { createKnownVersions } from './known-versions.ts';
import type { Part, PartDeps } from './part.ts';

/** The counts of checks, offers and links. */
export function createUsagePart(
  deps: PartDeps,
  catalog: Pick<Catalog, 'application'>,
): Part & { readonly usage: Usage } {
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
  return { usage, background: [task] };
}
