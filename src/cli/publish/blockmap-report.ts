import { isDifferential } from '../../domain/companion.ts';
import { findArtifact, type Release } from '../../domain/release.ts';
import type { EarlierReleases } from '../../releases/publish/read-earlier.ts';

/** Warns of files without a block map where the release before had one: no client reports that it downloads more. */
export function blockmapWarnings(
  { artifacts }: Pick<Release, 'artifacts'>,
  { previous }: Pick<EarlierReleases, 'previous'>,
): readonly string[] {
  if (previous === undefined) return [];
  return artifacts
    .filter((artifact) => {
      const before = findArtifact(previous, artifact);
      return before !== undefined && isDifferential(before) && !isDifferential(artifact);
    })
    .map(
      ({ filename, format }) =>
        `Warning: ${filename} has no block map, and the ${format} of ${previous.version} has one: clients download the whole file. ${remedyOf(format, filename)}`,
    );
}

function remedyOf(format: string, filename: string): string {
  if (format === 'appimage') {
    return 'electron-builder writes the block map into the AppImage: publish the file as it was built.';
  }
  return format === 'nsis-web'
    ? 'electron-builder writes the block map into the package (….nsis.7z): publish it as it was built.'
    : `Publish ${filename}.blockmap of the same build beside it.`;
}
