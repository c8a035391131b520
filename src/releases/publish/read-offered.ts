import type { Channels, WriterDeps } from '../../catalog/change.ts';
import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import { type ManifestReference, readManifest } from '../../catalog/read.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { findArtifact, type Release } from '../../domain/release.ts';
import { offersOf } from '../channels/channel-rules.ts';

/** The manifests of a version that clients may have seen. */

interface Named {
  readonly application: string;
  readonly version: string;
  /** Versions that removed channels listed. */
  readonly removed?: readonly string[];
}

/**
 * The manifests that channels offer of a version, by number. Leaves out a corrupt manifest when a sound one followed
 * it that has every build of the offer. Also leaves it out when the operator allows it with `--skip-corrupt`.
 *
 * @param newest the newest sound manifest; undefined for none
 * @throws AppError `document_corrupt`, with the option that allows it
 */
export async function readOffered(
  deps: WriterDeps,
  { application, version }: Named,
  channels: Channels,
  newest: ManifestReference | undefined,
): Promise<readonly ManifestReference[]> {
  const offers = [...offersOf(channels, version).values()];
  const distinct = [...new Map(offers.map((offer) => [offer.manifest.number, offer])).values()];
  const found = await Promise.all(
    distinct.map(async (offer) => {
      try {
        return await readManifest(deps, application, version, offer.manifest);
      } catch (error) {
        if (!isAppError(error, 'document_corrupt')) throw error;
        const { number } = offer.manifest;
        if (isContinued(offer, newest) || deps.skipCorrupt?.includes(number)) return undefined;
        throw new AppError(
          'document_corrupt',
          `${error.message} This manifest lists the files of ${version}. To make it again from the files of this command alone, add --skip-corrupt ${number}. Then publish the other platforms of ${version} again.`,
          { cause: error },
        );
      }
    }),
  );
  return found.filter((reference) => reference !== undefined).sort((a, b) => a.number - b.number);
}

/** Whether a newer manifest has every build of an offer. A publisher that was interrupted may leave one without. */
function isContinued(offer: OfferJson, newest: ManifestReference | undefined): boolean {
  if (newest === undefined || newest.number <= offer.manifest.number) return false;
  return offer.artifacts.every(
    ({ os: platform, arch, format }) =>
      findArtifact(newest.release, { platform, arch, format }) !== undefined,
  );
}

/**
 * The releases whose bytes clients may have: those that were retired, then those offered now. The last one has the
 * statements that clients see.
 *
 * @param offered of {@link readOffered}
 */
export function fixedReleases(
  offered: readonly ManifestReference[],
  { version, removed = [] }: Pick<Named, 'version' | 'removed'>,
  channels: Channels,
  newest: ManifestReference | undefined,
): readonly Release[] {
  return [
    ...(wasListed(channels, removed, version) && newest ? [newest.release] : []),
    ...offered.map(({ release }) => release),
  ];
}

/** Whether a channel listed a version and does not any more. @param removed the versions that removed channels listed */
export function wasListed(
  channels: Channels,
  removed: readonly string[],
  version: string,
): boolean {
  return (
    removed.includes(version) ||
    Object.values(channels).some(({ retired }) => retired.includes(version))
  );
}
