import type { Channels, WriterDeps } from '../../catalog/change.ts';
import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import { draftIn } from '../../catalog/list-drafts.ts';
import { type ManifestReference, readManifest } from '../../catalog/read.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import { continued } from '../drafts/draft-rules.ts';
import { fixedReleases, readOffered } from './read-offered.ts';

interface Named {
  readonly application: string;
  readonly version: string;
  readonly channel: string;
  readonly removed?: readonly string[];
}

/** What a publisher adds files to. */
interface Base {
  /** The draft's manifest; without a draft, the newest one. Undefined for a new release. */
  readonly base: ManifestReference | undefined;
  /** The releases whose bytes clients may have. */
  readonly fixed: readonly Release[];
  /** The manifests that channels offer, see {@link readOffered}. */
  readonly offered: readonly ManifestReference[];
}

/**
 * Reads what a publisher adds files to. A draft is continued as it is listed, without files whose publisher has not
 * committed them.
 *
 * @param stored the newest manifest
 * @throws AppError `document_corrupt`, with the option that allows it
 */
export async function readBase(
  deps: WriterDeps,
  named: Named,
  channels: Channels,
  stored: ManifestReference | undefined,
): Promise<Base> {
  const newest = continued(channels, named.version, stored);
  const offered = await readOffered(deps, named, channels, newest);
  const fixed = fixedReleases(offered, named, channels, newest);
  const draft = draftOn(channels, named);
  const base = draft === undefined ? newest : await readDraft(deps, named, draft);
  return { base, fixed, offered };
}

/** The draft of a version on its channel. */
export function draftOn(channels: Channels, { channel, version }: Named): DraftJson | undefined {
  const state = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  return state && draftIn(state, version);
}

async function readDraft(
  deps: WriterDeps,
  { application, version }: Named,
  { manifest }: DraftJson,
): Promise<ManifestReference | undefined> {
  try {
    return await readManifest(deps, application, version, manifest);
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    if (deps.skipCorrupt?.includes(manifest.number)) return undefined;
    throw new AppError(
      'document_corrupt',
      `${error.message} It lists the files of the draft ${version}. To make it again from the files of this command alone, add --skip-corrupt ${manifest.number}. Then publish the other platforms of ${version} again.`,
      { cause: error },
    );
  }
}
