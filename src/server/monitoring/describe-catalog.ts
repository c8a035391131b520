import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Snapshot } from '../../catalog/live/snapshot.ts';
import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { mapInSteps, type Steps } from '../../core/steps.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { isForAllClients } from '../../domain/decide-update.ts';
import type { Offer } from '../../domain/offer.ts';
import {
  ARCHES,
  type Arch,
  FORMATS,
  type Format,
  PLATFORMS,
  type Platform,
} from '../../domain/platform.ts';
import { versionText } from '../../domain/version.ts';

/** An application as every visitor may see it: its releases and their targets. */
export type DescribedApplication =
  | { readonly application: string; readonly isAvailable: false }
  | {
      readonly application: string;
      readonly isAvailable: true;
      readonly revision: number;
      readonly channels: readonly DescribedChannel[];
      /** The number of versions that some channel offers or has paused. */
      readonly releasesCount: number;
      /** The machines that the offered releases are for, in the order of the vocabularies. */
      readonly machines: readonly DescribedMachine[];
    };

interface DescribedChannel {
  readonly name: string;
  readonly releasesCount: number;
  /** The newest version that every client is offered; null when there is none. */
  readonly newest: { readonly version: string; readonly releasedAt: string } | null;
}

interface DescribedMachine {
  readonly platform: Platform;
  readonly arch: Arch;
  readonly formats: readonly Format[];
}

export interface DescribeCatalogDeps {
  readonly catalog: Pick<Catalog, 'health' | 'application'>;
  /** False for a channel that is open to some tiers only: its name is not public either. */
  readonly isPublic: (application: string, channel: string) => boolean;
  /** The store's time, because rollouts advance by it. */
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Describes all published applications, from memory and in steps. It describes an application again only when the
 * application has another snapshot or one more rollout is complete, because a description takes time in proportion to
 * the number of offers.
 */
export interface CatalogDescriber {
  /**
   * Leaves out an application without a published release. Lists an application whose catalog cannot be used as not
   * available. Never throws.
   */
  describe(): Promise<readonly DescribedApplication[]>;
}

export function createCatalogDescriber(deps: DescribeCatalogDeps): CatalogDescriber {
  const bySnapshot = new WeakMap<
    Snapshot,
    { completed: number; described: DescribedApplication }
  >();
  const describe = function* (application: string): Steps<DescribedApplication> {
    const snapshot = deps.catalog.application(application).snapshot();
    const now = deps.clock.now();
    const known = bySnapshot.get(snapshot);
    const completed = completedRollouts(snapshot, now);
    if (known?.completed === completed) return known.described;
    const described = yield* describeApplication(deps, application, snapshot, now);
    bySnapshot.set(snapshot, { completed, described });
    return described;
  };
  const describeAll = function* (): Steps<readonly DescribedApplication[]> {
    const described: DescribedApplication[] = [];
    for (const application of Object.keys(deps.catalog.health().applications).sort()) {
      try {
        described.push(yield* describe(application));
      } catch (error) {
        if (!isAppError(error)) throw error;
        if (error.code === 'unknown_application') continue;
        described.push({ application, isAvailable: false });
      }
    }
    return described;
  };
  return { describe: () => runInTurns(describeAll()) };
}

function completedRollouts({ channels }: Snapshot, now: number): number {
  return [...channels.values()].reduce((sum, view) => sum + view.rolloutStage(now).completed, 0);
}

function* describeApplication(
  { isPublic }: DescribeCatalogDeps,
  application: string,
  { revision, channels }: Snapshot,
  now: number,
): Steps<DescribedApplication> {
  const shown = [...channels.values()]
    .filter(({ name }) => isPublic(application, name))
    // Leaves out the offers of an inherited channel that is closed to visitors.
    .map((channel) => channel.showing((inherited) => isPublic(application, inherited)));
  const versions = new Set<string>();
  const lists = new Set<Offer['artifacts']>();
  for (const { offers } of shown) {
    yield* mapInSteps(offers, ({ version, status, artifacts }) => {
      versions.add(versionText(version));
      if (status === 'active') lists.add(artifacts);
    });
    // This yields after a short list, too, because there may be a thousand applications.
    yield;
  }
  return {
    application,
    isAvailable: true,
    revision: revision.signed.revision,
    channels: shown.map((channel) => describeChannel(channel, now)),
    releasesCount: versions.size,
    machines: machinesOf(lists),
  };
}

function describeChannel({ name, offers }: ChannelView, now: number): DescribedChannel {
  const newest = offers.find((offer) => isForAllClients(offer, now));
  return {
    name,
    releasesCount: offers.length,
    newest:
      newest === undefined
        ? null
        : { version: versionText(newest.version), releasedAt: newest.releasedAt },
  };
}

/**
 * @param lists the different lists of artifacts. Equal lists are mostly the same object (see `createOfferParser`), so
 *   thousands of offers have only a few lists
 */
function machinesOf(lists: Iterable<Offer['artifacts']>): readonly DescribedMachine[] {
  const formats = new Map<string, Set<Format>>();
  for (const artifacts of lists) {
    for (const { platform, arch, format } of artifacts) {
      const machine = `${platform}-${arch}`;
      const known = formats.get(machine);
      if (known === undefined) formats.set(machine, new Set([format]));
      else known.add(format);
    }
  }
  return PLATFORMS.flatMap((platform) =>
    ARCHES.flatMap((arch) => {
      const known = formats.get(`${platform}-${arch}`);
      if (known === undefined) return [];
      return [{ platform, arch, formats: FORMATS.filter((format) => known.has(format)) }];
    }),
  );
}
