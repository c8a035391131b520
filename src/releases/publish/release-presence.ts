import type { BuildOutput, BuiltFile } from '../../builds/build-output.ts';
import { channelIn, type OfferJson } from '../../catalog/documents/revision-document.ts';
import { readManifest } from '../../catalog/reading/read.ts';
import type { Revision } from '../../catalog/reading/sequences.ts';
import { catalogState, type WriterDeps } from '../../catalog/writing/change.ts';
import { BLOCKMAP } from '../../domain/companion.ts';
import { findArtifact, type Release } from '../../domain/release.ts';
import { wasListed } from './refuse-other-bytes.ts';

/** Finds out whether a release of another server is here already, so that it need not be imported. */

export type Presence =
  | { readonly kind: 'present' }
  | { readonly kind: 'withdrawn'; readonly reason: string };

/**
 * Compares a release with the release that a channel lists, by the names and sizes of the files: hashing thousands of
 * files again would take as long as importing them.
 *
 * @param revision the catalog before the import
 * @returns undefined when the import has to publish the release
 * @throws AppError `document_corrupt`
 */
export async function findPresence(
  deps: WriterDeps,
  application: string,
  wanted: {
    readonly build: Pick<BuildOutput, 'artifacts' | 'signed'>;
    readonly version: string;
    readonly channel: string;
  },
  revision: Revision | undefined,
): Promise<Presence | undefined> {
  const { build, version, channel } = wanted;
  const { channels, removedVersions: removed } = catalogState(revision);
  const state = channelIn(channels, channel);
  const offer = state?.offers.find((each) => each.version === version);
  const withdrawn = whyWithdrawn(offer, channel);
  if (withdrawn !== undefined) return { kind: 'withdrawn', reason: withdrawn };
  if (offer === undefined) {
    const isRetired = state?.retired.includes(version) === true;
    const isOffered = Object.values(channels).some(({ offers }) =>
      offers.some((each) => each.version === version),
    );
    if (!isRetired && (isOffered || !wasListed(channels, removed, version))) return undefined;
    return { kind: 'withdrawn', reason: `it was retired from ${channel} here` };
  }
  const { release } = await readManifest(deps, application, version, offer.manifest);
  return hasAll(release, build) ? { kind: 'present' } : undefined;
}

function whyWithdrawn(offer: OfferJson | undefined, channel: string): string | undefined {
  if (offer?.status !== 'yanked') return undefined;
  return `it was yanked from ${channel} here, and a yank is permanent`;
}

function hasAll(
  release: Release,
  { artifacts, signed }: Pick<BuildOutput, 'artifacts' | 'signed'>,
): boolean {
  const isSame = (file: BuiltFile, stored: { filename: string; size: number } | undefined) =>
    stored?.filename === file.filename && stored.size === file.size;
  return (
    artifacts.every((artifact) => {
      const stored = findArtifact(release, artifact);
      return (
        isSame(artifact, stored) &&
        artifact.companions.every((file) =>
          stored?.companions.some(
            // Publishing replaces a block map of other bytes.
            (companion) =>
              isSame(file, companion) || (file.kind === BLOCKMAP && companion.kind === BLOCKMAP),
          ),
        )
      );
    }) &&
    signed.every(({ name, sha256 }) =>
      release.carried.some((each) => each.name === name && each.sha256 === sha256),
    )
  );
}
