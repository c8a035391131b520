import type { UpdaterFacts } from '../../domain/companion.ts';
import { macosVersionOfDarwin, parseOsVersion } from '../../domain/os-version.ts';
import { whyNotSignedLater } from '../authenticode/signed-later.ts';
import type { StatedDigest } from '../build-output.ts';
import type { Draft, DraftCompanion } from '../draft.ts';
import { brokenFile, changedFile, refusal } from '../refusal.ts';
import type { SourceFile } from '../source-file.ts';
import type { Feed, FeedEntry } from './feed.ts';

/** Adds the statements of a feed's entry to the file that the entry describes. */

interface Stating {
  /** The path of the feed. */
  readonly path: string;
  readonly feed: Feed;
  /** The names of the files whose bytes the publisher accepts although the feed states others. */
  readonly rehash: readonly string[];
}

/**
 * @throws AppError `invalid_artifact` for a file of another size, unless it is the stated build that was signed later,
 *   or the publisher accepts its bytes
 */
export async function stateDraft(stating: Stating, entry: FeedEntry, draft: Draft): Promise<void> {
  const { path, feed } = stating;
  const { file, format } = draft.package;
  const digests = digestsOf(stating, entry, file.name);
  if (hasStatedSize(entry, file) || isAccepted(stating, file.name)) draft.stated.push(...digests);
  else draft.unsignedBuild = await findUnsignedBuild(stating, entry, file);
  if (format === 'appimage' && !isAccepted(stating, file.name)) {
    checkMapSize(path, entry, file.path, draft.facts.blockMapSize);
  }
  draft.facts = { ...draft.facts, ...rightsOf(entry) };
  if (feed.minimumSystemVersion === undefined || draft.minimumOsVersion !== null) return;
  draft.minimumOsVersion = minimumOf(path, feed.minimumSystemVersion, draft);
}

/**
 * For a package of a web installer, the feed's entry states the architecture.
 *
 * @throws AppError `invalid_artifact` for a file of another size, unless the publisher accepts its bytes
 */
export function stateCompanion(
  stating: Stating,
  entry: FeedEntry,
  companion: DraftCompanion,
): void {
  const { path } = stating;
  const { filename } = companion;
  const isRehashed = isAccepted(stating, filename);
  if (!hasStatedSize(entry, companion) && !isRehashed) throw otherBuild(stating, entry, companion);
  companion.stated.push(...digestsOf(stating, entry, filename));
  if (entry.packageArch !== undefined) companion.arch = entry.packageArch;
  if (!isRehashed) checkMapSize(path, entry, companion.path, companion.facts.blockMapSize);
  companion.facts = { ...companion.facts, ...rightsOf(entry) };
}

function hasStatedSize(entry: FeedEntry, file: { readonly size: number }): boolean {
  return entry.size === undefined || entry.size === file.size;
}

/** A signed feed states the hashes to its clients, so the publisher cannot accept others. */
function isAccepted({ feed, rehash }: Stating, name: string): boolean {
  return feed.signed === undefined && rehash.includes(name);
}

function digestsOf(stating: Stating, entry: FeedEntry, name: string): readonly StatedDigest[] {
  const accepted = isAccepted(stating, name) ? { isAccepted: true as const } : {};
  const { path: statedIn } = stating;
  return entry.digests.map((digest) => ({ ...digest, statedIn, ...accepted }));
}

/** @returns the build that was signed later; @throws AppError `invalid_artifact` for another file */
async function findUnsignedBuild(
  stating: Stating,
  entry: FeedEntry,
  file: SourceFile,
): Promise<Draft['unsignedBuild']> {
  const sha512 = entry.digests.find(({ algorithm }) => algorithm === 'sha512')?.hex.toLowerCase();
  const isProgram = /\.exe$/i.test(file.name) && stating.feed.signed === undefined;
  if (entry.size === undefined || sha512 === undefined || !isProgram) {
    throw otherBuild(stating, entry, file);
  }
  const build = { size: entry.size, sha512 };
  const reason = await whyNotSignedLater(file.path, build);
  if (reason !== undefined) throw otherBuild(stating, entry, file, reason);
  return build;
}

/** @param reason says why the file is not the stated build that was signed later */
function otherBuild(
  { path, feed }: Stating,
  { size }: FeedEntry,
  file: { readonly path: string; readonly size: number },
  reason?: string,
) {
  const differs = `it states ${size} bytes for ${file.path}, which has ${file.size}`;
  const why = reason === undefined ? '' : `, and ${reason}`;
  return feed.signed === undefined
    ? changedFile(path, `${differs}${why}. They come from different builds`, file.path)
    : brokenFile(
        path,
        `${differs}. The file was changed after ${path} was signed`,
        `sign ${path} again for the present files`,
      );
}

function rightsOf({ needsAdminRights }: FeedEntry): UpdaterFacts {
  return needsAdminRights === true ? { needsAdminRights } : {};
}

/** @param actual the size of the block map in the file; undefined when there is no block map */
function checkMapSize(
  path: string,
  { blockMapSize: stated }: FeedEntry,
  file: string,
  actual: number | undefined,
): void {
  if (stated === undefined || stated === actual) return;
  const has = actual === undefined ? 'no valid block map' : `a block map of ${actual} bytes`;
  throw brokenFile(
    path,
    `it states a block map of ${stated} bytes for ${file}, which has ${has}. The file was changed after the build wrote ${path}`,
  );
}

/**
 * electron-builder states the version of the kernel. An artifact for macOS states the version of the product instead.
 */
function minimumOf(path: string, text: string, draft: Draft): string {
  const kernel = parseOsVersion(text)?.join('.');
  const minimum =
    draft.package.platform === 'macos' && kernel !== undefined
      ? macosVersionOfDarwin(kernel)
      : kernel;
  if (minimum === undefined) {
    throw refusal(
      path,
      `minimumSystemVersion ${JSON.stringify(text)} is not a kernel version. Write it like 21.1.0.`,
    );
  }
  return minimum;
}
