import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import { artifactKey } from '../../catalog/documents/keys.ts';
import type { Channels } from '../../catalog/documents/revision-document.ts';
import { type ManifestReference, readManifestsBelow } from '../../catalog/reading/read.ts';
import type { OfferRight } from '../../catalog/trust/trust.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import type { Release } from '../../domain/release.ts';
import { discardedAt } from '../offer/draft-rules.ts';

/**
 * Finds the manifest from which a command continues when it signs for the channel with its own keys. An operator may have
 * put any file into a draft, and the command would sign this file. So it takes over only what a key of the channel made.
 */

/** What a command did not take over from a draft, because no key of the channel made it. */
export interface LeftOut {
  /** The number of the manifest that the draft names. */
  readonly manifest: number;
  /** The files of this manifest that the command did not take over. */
  readonly filenames: readonly string[];
}

interface Drafted {
  readonly application: string;
  readonly channel: string;
  readonly draft: DraftJson;
  readonly channels: Channels;
}

/**
 * Finds the newest manifest that a key of the channel made: the manifest of the draft, or one below it that is not older
 * than the last discard. The catalog names only the manifest of the draft, and `gc` may have deleted the files of the
 * others, so the function looks at them.
 *
 * @param named the manifest that the draft names
 * @param above only a manifest with a higher number is newer than what the channel offers
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function findMade(
  deps: WriterDeps,
  right: OfferRight,
  { application, channel, draft, channels }: Drafted,
  named: ManifestReference | undefined,
  above: number,
): Promise<ManifestReference | undefined> {
  if (named !== undefined && (await right.isMade(channel, named))) return named;
  const { version, manifest } = draft;
  const oldest = discardedAt(channels, version);
  const range = { below: manifest.number, above };
  for await (const found of readManifestsBelow(deps, application, version, range)) {
    if (found.catalogRevision < oldest) continue;
    if ((await right.isMade(channel, found)) && (await hasFiles(deps, found.release))) return found;
  }
  return undefined;
}

/** True when the store has all files of a release, in their sizes. */
async function hasFiles(
  { store }: WriterDeps,
  { application, artifacts, carried }: Release,
): Promise<boolean> {
  const files = [...artifacts.flatMap((each) => [each, ...each.companions]), ...carried];
  for (const { object, size } of files) {
    if ((await store.head(artifactKey(application, object)))?.size !== size) return false;
  }
  return true;
}

/** The files of a draft that a release does not have: perhaps none. Undefined when there is no draft. */
export function leftOutOf(
  draft: ManifestReference | undefined,
  { artifacts }: Pick<Release, 'artifacts'>,
): LeftOut | undefined {
  if (draft === undefined) return undefined;
  const kept = new Set(artifacts.map(({ sha256, filename }) => `${sha256} ${filename}`));
  const filenames = draft.release.artifacts
    .filter(({ sha256, filename }) => !kept.has(`${sha256} ${filename}`))
    .map(({ filename }) => filename);
  return { manifest: draft.number, filenames };
}
