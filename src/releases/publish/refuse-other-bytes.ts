import type { Channels } from '../../catalog/change.ts';
import { type ReaderDeps, readEveryManifest } from '../../catalog/read.ts';
import type { CarriedDocument } from '../../domain/carried-document.ts';
import { type Artifact, identityName, isSameFile, type Release } from '../../domain/release.ts';
import { carriedDiffers } from './merge-carried.ts';
import { differs } from './merge-release.ts';
import { wasListed } from './read-offered.ts';

interface Publishing {
  readonly application: string;
  readonly version: string;
  /** The artifacts that a publisher adds. */
  readonly artifacts: readonly Artifact[];
  /** The documents that the publisher signed. */
  readonly carried: readonly CarriedDocument[];
}

/**
 * Refuses other files for a build that clients may have from a channel that listed the version and does not any more.
 * No offer names these files. So the files of every manifest count, also of those that were never offered.
 *
 * @param removed the versions that removed channels listed
 * @param offered the releases that channels offer now: their files may be published again
 * @throws AppError `release_differs`; `document_corrupt` when a manifest cannot be read
 */
export async function refuseOtherBytes(
  deps: ReaderDeps,
  { application, version, artifacts, carried }: Publishing,
  channels: Channels,
  removed: readonly string[],
  offered: readonly Release[],
): Promise<void> {
  const added = artifacts.filter(
    (artifact) => !offered.some((release) => hasFile(release, artifact)),
  );
  const documents = carried.filter(
    (document) =>
      !offered.some((release) => release.carried.some((each) => isSame(each, document))),
  );
  if (!wasListed(channels, removed, version)) return;
  if (added.length === 0 && documents.length === 0) return;
  for (const release of await readEveryManifest(deps, application, version)) {
    for (const artifact of added) {
      const name = identityName(artifact);
      const other = release.artifacts.find((each) => identityName(each) === name);
      if (other !== undefined && !isSameFile(other, artifact)) {
        throw differs(version, other, artifact);
      }
    }
    for (const document of documents) {
      const other = release.carried.find(({ name }) => name === document.name);
      if (other !== undefined && !isSame(other, document)) {
        throw carriedDiffers(version, other, document);
      }
    }
  }
}

function isSame(a: CarriedDocument, b: CarriedDocument): boolean {
  return a.name === b.name && a.sha256 === b.sha256;
}

function hasFile(release: Release, artifact: Artifact): boolean {
  return release.artifacts.some(
    (each) => identityName(each) === identityName(artifact) && isSameFile(each, artifact),
  );
}
