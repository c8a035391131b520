import { AppError } from '../../core/errors.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { comparePreference } from '../../domain/choose-artifact.ts';
import { admittedArches } from '../../domain/compatible-arches.ts';
import { isForAllClients, newestFor } from '../../domain/decide-update.ts';
import type { Offer } from '../../domain/offer.ts';
import { ARCHES, type Arch, PLATFORMS, type Platform } from '../../domain/platform.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { visitorOn } from '../../domain/update-query.ts';
import { compareVersions } from '../../domain/version.ts';
import { openChannel, type ServiceDeps } from '../open-channel.ts';

export interface LatestQuery {
  readonly application: string;
  readonly channel: string;
  /** Null for every platform. */
  readonly platform: Platform | null;
  /** Null for every architecture. */
  readonly arch: Arch | null;
}

export interface Latest {
  /** The catalog revision that the answer comes from. */
  readonly revision: number;
  /** The source of the answer: another revision has another object. */
  readonly channel: ChannelView;
  /** The number of rollouts of the channel that had reached every client: see `RolloutStage`. */
  readonly completed: number;
  /** True when another account may get another answer: shared caches must not store it. */
  readonly isRestricted: boolean;
  /** The newest of the releases that `downloads` come from. */
  readonly release: Release;
  /** Sorted by platform. The first download of a platform is the file that its download button gives. */
  readonly downloads: readonly { readonly release: Release; readonly artifact: Artifact }[];
}

/**
 * The channel that {@link listLatest} answers from. Two equal questions about the same object have the same answer.
 *
 * @throws AppError `unknown_application`, `unknown_channel`, `not_entitled`, `catalog_unavailable`
 */
export function seeLatest(deps: ServiceDeps, query: LatestQuery, tier: string | null): ChannelView {
  const application = deps.catalog.application(query.application);
  return openChannel(deps, application, query.channel, tier).channel;
}

/**
 * The newest release for each kind of machine. Two kinds may have different newest releases.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `not_entitled`, `no_release`,
 *   `unsupported_platform`, `catalog_unavailable`, `store_unavailable`
 */
export async function listLatest(
  deps: ServiceDeps,
  query: LatestQuery,
  tier: string | null,
): Promise<Latest> {
  const application = deps.catalog.application(query.application);
  const { channel, isRestricted, revision } = openChannel(deps, application, query.channel, tier);
  // The clock is read once, because another rollout may become complete while releases are read.
  const now = deps.clock.now();
  const { completed } = channel.rolloutStage(now);
  const downloads: { release: Release; artifact: Artifact; offer: Offer }[] = [];
  for (const platform of query.platform === null ? PLATFORMS : [query.platform]) {
    for (const [arch, offer] of newestByArch(channel, platform, query.arch, now)) {
      const release = await application.release(offer);
      // The stored release does not match its digest, so the catalog has dropped it. This lists the remaining releases.
      if (release === undefined) return listLatest(deps, query, tier);
      for (const artifact of release.artifacts) {
        if (artifact.platform === platform && artifact.arch === arch) {
          downloads.push({ release, artifact, offer });
        }
      }
    }
  }
  downloads.sort((a, b) => compareForVisitor(a, b, query.arch));
  const newest = downloads.toSorted((a, b) => compareVersions(b.offer.version, a.offer.version))[0];
  if (newest === undefined) throw nothingFor(query, channel.offers.length === 0);
  const { release } = newest;
  return { revision, channel, completed, isRestricted, release, downloads };
}

/**
 * For each architecture, the newest offer that every client is offered and that has an artifact for this architecture.
 */
function newestByArch(
  channel: Parameters<typeof newestFor>[0],
  platform: Platform,
  wanted: Arch | null,
  now: number,
): readonly (readonly [Arch, Offer])[] {
  if (wanted !== null) {
    // For one machine, this finds the newest release that the machine can run, and the architectures of builds that it
    // can run.
    const offer = newestFor(channel, visitorOn(platform, wanted), now);
    return offer === undefined
      ? []
      : admittedArches(platform, wanted).map((arch) => [arch, offer] as const);
  }
  return ARCHES.flatMap((arch) => {
    const offer = channel.offers.find(
      (candidate) =>
        isForAllClients(candidate, now) &&
        candidate.artifacts.some((a) => a.platform === platform && a.arch === arch),
    );
    return offer === undefined ? [] : [[arch, offer] as const];
  });
}

interface Download {
  readonly artifact: Artifact;
  readonly offer: Offer;
}

/**
 * Sorts by platform. Within a platform, files that the machine can run come first, then newer versions, then more
 * suitable files.
 */
function compareForVisitor(a: Download, b: Download, arch: Arch | null): number {
  const { platform } = a.artifact;
  const visitor = visitorOn(platform, arch);
  const admitted = admittedArches(platform, arch);
  const refusal = ({ artifact }: Download): number => (admitted.includes(artifact.arch) ? 0 : 1);
  return (
    PLATFORMS.indexOf(platform) - PLATFORMS.indexOf(b.artifact.platform) ||
    refusal(a) - refusal(b) ||
    compareVersions(b.offer.version, a.offer.version) ||
    comparePreference(a.artifact, b.artifact, visitor)
  );
}

function nothingFor(query: LatestQuery, isEmpty: boolean): AppError {
  const { application, channel, platform, arch } = query;
  if (isEmpty || platform === null) {
    return new AppError('no_release', `${channel} of ${application} has no release.`);
  }
  const machine = arch === null ? platform : `${platform}-${arch}`;
  return new AppError(
    'unsupported_platform',
    `No release on ${channel} of ${application} runs on ${machine}.`,
  );
}
