import {
  channelEntries,
  type OfferJson,
  type RevisionJson,
} from '../../catalog/documents/revision-document.ts';
import { readCatalog } from '../../catalog/reading/find-revision.ts';
import { type ListedDraft, listDrafts } from '../../catalog/reading/list-drafts.ts';
import { type ReaderDeps, readManifest } from '../../catalog/reading/read.ts';
import type { Revision } from '../../catalog/reading/sequences.ts';
import { unknownVersion } from '../../catalog/reading/unknown-release.ts';
import type { Release } from '../../domain/release.ts';
import { newestTextFirst, parseVersion } from '../../domain/version.ts';

export { releaseJsonOf } from '../../catalog/documents/manifest-document.ts';

/** Lists published releases for operators, from the newest catalog revision or an older one. */

interface ListedRelease {
  readonly channel: string;
  readonly offer: OfferJson;
}

/** Every offer of every channel, newest version first, then by channel. */
export function listReleases(revision: RevisionJson): readonly ListedRelease[] {
  return channelEntries(revision.channels)
    .flatMap(([channel, { offers }]) => offers.map((offer) => ({ channel, offer })))
    .sort(
      (a, b) =>
        newestTextFirst(a.offer.version, b.offer.version) || (a.channel < b.channel ? -1 : 1),
    );
}

interface ShownRelease {
  readonly release: Release;
  readonly manifest: number;
  readonly listed: readonly ListedRelease[];
  /** The channels that hold the release back. */
  readonly drafts: readonly ListedDraft[];
}

/**
 * Reads a release from its newest listed manifest, with the channels that list it or hold it back.
 *
 * @param at the revision to look in; undefined: the newest
 * @throws AppError `unknown_version`, `document_corrupt`
 */
export async function showRelease(
  deps: ReaderDeps,
  application: string,
  version: string,
  at?: Revision,
): Promise<ShownRelease> {
  parseVersion(version);
  const revision = at ?? (await readCatalog(deps, application));
  const listed = listReleases(revision.signed).filter(({ offer }) => offer.version === version);
  const drafts = listDrafts(revision.signed).filter(({ draft }) => draft.version === version);
  const newest = [...listed.map(({ offer }) => offer), ...drafts.map(({ draft }) => draft)]
    .map(({ manifest }) => manifest)
    .sort((a, b) => b.number - a.number)[0];
  if (newest === undefined) {
    throw unknownVersion(application, version, revision.signed.channels);
  }
  const { release, number } = await readManifest(deps, application, version, newest);
  return { release, manifest: number, listed, drafts };
}
