import { compareVersions, parseVersion } from '../../../domain/version.ts';
import type { Settled } from './settle.ts';
import type { SourceContents, SourceIssue, SourceRelease } from './source.ts';

/** Sorts the results of reading a source into releases and issues. */
export function collectSettled(
  settled: readonly Settled[],
  found: { readonly refused: readonly SourceIssue[]; readonly leftOut: readonly SourceIssue[] },
): SourceContents {
  return {
    releases: settled.flatMap((each) => ('release' in each ? [each.release] : [])),
    refused: [
      ...found.refused,
      ...settled.flatMap((each) => ('refused' in each ? [each.refused] : [])),
    ],
    leftOut: [
      ...found.leftOut,
      ...settled.flatMap((each) => ('leftOut' in each ? [each.leftOut] : [])),
    ],
  };
}

/** Sorts releases by date, then by version: the order in which the source published them. */
export function oldestFirst(releases: readonly SourceRelease[]): readonly SourceRelease[] {
  const sortable = releases.map((release) => ({ release, version: parseVersion(release.version) }));
  return sortable
    .sort(
      (a, b) =>
        Date.parse(a.release.releasedAt) - Date.parse(b.release.releasedAt) ||
        compareVersions(a.version, b.version),
    )
    .map(({ release }) => release);
}
