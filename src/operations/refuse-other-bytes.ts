import type { Channels } from '../catalog/change.ts';
import { type ReaderDeps, readEveryManifest } from '../catalog/read.ts';
import { type Artifact, identityName, type Release } from '../domain/release.ts';
import { differs, isSameFile } from './merge-release.ts';
import { wasListed } from './read-offered.ts';

interface Publishing {
  readonly application: string;
  readonly version: string;
  /** The artifacts that a publisher adds. */
  readonly artifacts: readonly Artifact[];
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
  { application, version, artifacts }: Publishing,
  channels: Channels,
  removed: readonly string[],
  offered: readonly Release[],
): Promise<void> {
  const added = artifacts.filter(
    (artifact) => !offered.some((release) => hasFile(release, artifact)),
  );
  if (!wasListed(channels, removed, version) || added.length === 0) return;
  for (const release of await readEveryManifest(deps, application, version)) {
    for (const artifact of added) {
      const name = identityName(artifact);
      const other = release.artifacts.find((each) => identityName(each) === name);
      if (other !== undefined && !isSameFile(other, artifact)) {
        throw differs(version, other, artifact);
      }
    }
  }
}

function hasFile(release: Release, artifact: Artifact): boolean {
  return release.artifacts.some(
    (each) => identityName(each) === identityName(artifact) && isSameFile(each, artifact),
  );
}
