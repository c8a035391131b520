import { comparePreference } from '../domain/choose-artifact.ts';
import { admittedArches } from '../domain/compatible-arches.ts';
import { newestFor } from '../domain/decide-update.ts';
import type { Offer } from '../domain/offer.ts';
import { ARCHES, type Arch, PLATFORMS, type Platform } from '../domain/platform.ts';
import type { Artifact, Release } from '../domain/release.ts';
import { visitorOn } from '../domain/update-query.ts';
import { compareVersions } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import { openChannel, type ServiceDeps } from './check-for-update.ts';

export interface LatestQuery {
  readonly application: string;
  readonly channel: string;
  /** Null: every platform. */
  readonly platform: Platform | null;
  /** Null: every architecture. */
  readonly arch: Arch | null;
}

export interface Latest {
  readonly revision: number;
  readonly channel: string;
  /** Whether another account may get another answer. */
  readonly isRestricted: boolean;
  /** The newest of the releases that `downloads` come from. */
  readonly release: Release;
  /** By platform; the first of a platform is what a download button gives. */
  readonly downloads: readonly { readonly release: Release; readonly artifact: Artifact }[];
}

/**
 * The newest release for each kind of machine, which need not be the same one.
 *
 * @param tier of the account that asks; null: the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `not_entitled`, `no_release`,
 *   `unsupported_platform`, `catalog_unavailable`, and the store's
 */
export async function listLatest(
  deps: ServiceDeps,
  query: LatestQuery,
  tier: string | null,
): Promise<Latest> {
  const application = deps.catalog.application(query.application);
  const { channel, isRestricted, revision } = openChannel(deps, application, query.channel, tier);
  const downloads: { release: Release; artifact: Artifact; offer: Offer }[] = [];
  for (const platform of query.platform === null ? PLATFORMS : [query.platform]) {
    for (const [arch, offer] of newestByArch(channel, platform, query.arch)) {
      const release = await application.release(offer);
      // Faulty: the catalog has dropped it by now; answer from what is left.
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
  return { revision, channel: channel.name, isRestricted, release, downloads };
}

/** Per architecture of artifacts: the newest active offer that has one of it. */
function newestByArch(
  channel: Parameters<typeof newestFor>[0],
  platform: Platform,
  wanted: Arch | null,
): readonly (readonly [Arch, Offer])[] {
  if (wanted !== null) {
    // One machine asks: the newest release it can run, and in that, whatever it can run.
    const offer = newestFor(channel, visitorOn(platform, wanted));
    return offer === undefined
      ? []
      : admittedArches(platform, wanted).map((arch) => [arch, offer] as const);
  }
  return ARCHES.flatMap((arch) => {
    const offer = channel.offers.find(
      (candidate) =>
        candidate.status === 'active' &&
        candidate.artifacts.some((a) => a.platform === platform && a.arch === arch),
    );
    return offer === undefined ? [] : [[arch, offer] as const];
  });
}

interface Download {
  readonly artifact: Artifact;
  readonly offer: Offer;
}

/** By platform; then what the machine runs, the newest first, the most suitable file first. */
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
    return new AppError('no_release', `Nothing is released on ${channel} of ${application}.`);
  }
  const machine = arch === null ? platform : `${platform}-${arch}`;
  return new AppError(
    'unsupported_platform',
    `No release on ${channel} of ${application} runs on ${machine}.`,
  );
}
