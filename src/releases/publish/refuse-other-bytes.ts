import type { Channels } from '../../catalog/documents/revision-document.ts';
import type { ManifestReference } from '../../catalog/reading/read.ts';
import type { CarriedDocument } from '../../domain/carried-document.ts';
import { type Artifact, identityName, isSameFile, type Release } from '../../domain/release.ts';
import { carriedDiffers } from './merge-carried.ts';
import { differs } from './merge-release.ts';

/**
 * Pure functions about the files of a version that clients may have from a channel which lists the version no longer.
 */

interface Added {
  readonly version: string;
  /** The artifacts that a publisher adds. */
  readonly artifacts: readonly Artifact[];
  /** The documents that the publisher signed. */
  readonly carried: readonly CarriedDocument[];
}

/**
 * Reports whether a channel listed a version and lists it no longer.
 * @param removed the versions that removed channels listed
 */
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

/** Reports whether a publisher adds a file or a signed document that no offered release has. */
export function addsFiles(mine: Added, offered: readonly ManifestReference[]): boolean {
  const { artifacts, documents } = addedTo(offered, mine);
  return artifacts.length > 0 || documents.length > 0;
}

/**
 * Refuses other files for a build that clients may have from a channel that lists the version no longer. No offer names
 * these files, so the files of every manifest count, even of a manifest that was never offered.
 *
 * @param former the releases of every manifest of the version
 * @param offered the releases that channels offer now: their files may be published again
 * @throws AppError `release_differs`
 */
export function refuseOtherBytes(
  former: readonly Release[],
  offered: readonly ManifestReference[],
  mine: Added,
): void {
  const { artifacts, documents } = addedTo(offered, mine);
  for (const release of former) {
    for (const artifact of artifacts) {
      const name = identityName(artifact);
      const other = release.artifacts.find((each) => identityName(each) === name);
      if (other !== undefined && !isSameFile(other, artifact)) {
        throw differs(mine.version, other, artifact);
      }
    }
    for (const document of documents) {
      const other = release.carried.find(({ name }) => name === document.name);
      if (other !== undefined && !isSame(other, document)) {
        throw carriedDiffers(mine.version, other, document);
      }
    }
  }
}

function addedTo(offered: readonly ManifestReference[], { artifacts, carried }: Added) {
  const releases = offered.map(({ release }) => release);
  return {
    artifacts: artifacts.filter(
      (artifact) => !releases.some((release) => hasFile(release, artifact)),
    ),
    documents: carried.filter(
      (document) =>
        !releases.some((release) => release.carried.some((each) => isSame(each, document))),
    ),
  };
}

function isSame(a: CarriedDocument, b: CarriedDocument): boolean {
  return a.name === b.name && a.sha256 === b.sha256;
}

function hasFile(release: Release, artifact: Artifact): boolean {
  return release.artifacts.some(
    (each) => identityName(each) === identityName(artifact) && isSameFile(each, artifact),
  );
}
