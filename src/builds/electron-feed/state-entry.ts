import { isDeepStrictEqual } from 'node:util';
import type { UpdaterFacts } from '../../domain/companion.ts';
import { macosVersionOfDarwin, parseOsVersion } from '../../domain/os-version.ts';
import { proveSignedLater } from '../authenticode/signed-later.ts';
import type { StatedDigest } from '../build-output.ts';
import type { Feed, FeedEntry } from '../electron/feed.ts';
import { brokenFile, changedFile, refusal } from '../refusal.ts';
import { isRehashed } from '../rehash.ts';
import type { Unfinished, UnfinishedCompanion } from '../unfinished.ts';

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
export async function statePackage(
  stating: Stating,
  entry: FeedEntry,
  unfinished: Unfinished,
): Promise<void> {
  const { path, feed } = stating;
  const { file, format } = unfinished.package;
  const digests = digestsOf(stating, entry, file.path);
  if (hasStatedSize(entry, file) || isAccepted(stating, file.path))
    unfinished.stated.push(...digests);
  else await stateUnsignedBuild(stating, entry, unfinished);
  if (format === 'appimage' && !isAccepted(stating, file.path)) {
    checkMapSize(path, entry, file.path, unfinished.facts.blockMapSize);
  }
  unfinished.facts = { ...unfinished.facts, ...rightsOf(entry) };
  if (feed.minimumSystemVersion === undefined || unfinished.minimumOsVersion !== null) return;
  unfinished.minimumOsVersion = minimumOf(path, feed.minimumSystemVersion, unfinished);
}

/**
 * For a package of a web installer, the feed's entry states the architecture.
 *
 * @throws AppError `invalid_artifact` for a file of another size, unless the publisher accepts its bytes
 */
export function stateCompanion(
  stating: Stating,
  entry: FeedEntry,
  companion: UnfinishedCompanion,
): void {
  const { path } = stating;
  const isAcceptedFile = isAccepted(stating, companion.path);
  if (!hasStatedSize(entry, companion) && !isAcceptedFile) {
    throw otherBuild(stating, entry, companion);
  }
  companion.stated.push(...digestsOf(stating, entry, companion.path));
  if (entry.packageArch !== undefined) companion.arch = entry.packageArch;
  if (!isAcceptedFile) checkMapSize(path, entry, companion.path, companion.facts.blockMapSize);
  companion.facts = { ...companion.facts, ...rightsOf(entry) };
}

function hasStatedSize(entry: FeedEntry, file: { readonly size: number }): boolean {
  return entry.size === undefined || entry.size === file.size;
}

/** A signed feed states the hashes to its clients, so the publisher cannot accept others. */
function isAccepted({ feed, rehash }: Stating, file: string): boolean {
  return feed.signed === undefined && isRehashed(rehash, file);
}

function digestsOf(stating: Stating, entry: FeedEntry, file: string): readonly StatedDigest[] {
  const { path: statedIn, feed } = stating;
  const facts = {
    ...(isAccepted(stating, file) ? { isAccepted: true as const } : {}),
    ...(feed.signed === undefined ? {} : { isSigned: true as const }),
  };
  return entry.digests.map((digest) => ({ ...digest, statedIn, ...facts }));
}

/** @throws AppError `invalid_artifact` for a file that is not the stated build, signed later */
async function stateUnsignedBuild(
  stating: Stating,
  entry: FeedEntry,
  unfinished: Unfinished,
): Promise<void> {
  const { file } = unfinished.package;
  const sha512 = entry.digests.find(({ algorithm }) => algorithm === 'sha512')?.hex.toLowerCase();
  const isProgram = /\.exe$/i.test(file.name) && stating.feed.signed === undefined;
  if (entry.size === undefined || sha512 === undefined || !isProgram) {
    throw otherBuild(stating, entry, file);
  }
  const build = { size: entry.size, sha512 };
  // Another channel's document states the same build.
  if (isDeepStrictEqual(unfinished.unsignedBuild, build)) return;
  const proof = await proveSignedLater(file.path, build);
  if (typeof proof === 'string') throw otherBuild(stating, entry, file, proof);
  unfinished.unsignedBuild = build;
  // Publishing reads the file again, and refuses it when it changed after the proof.
  unfinished.stated.push({
    algorithm: 'sha512',
    hex: proof.signedSha512,
    statedIn: stating.path,
  });
}

/** @param reason says why the file is not the stated build that was signed later */
function otherBuild(
  { path, feed }: Stating,
  { size }: FeedEntry,
  file: { readonly path: string; readonly size: number },
  reason?: string,
) {
  const differs = `it states ${size} bytes for ${file.path}, and the file has ${file.size}`;
  const why = reason === undefined ? '' : `. Signing does not explain the difference: ${reason}`;
  return feed.signed === undefined
    ? changedFile(path, `${differs}${why}`, file.path)
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
function minimumOf(path: string, text: string, unfinished: Unfinished): string {
  const kernel = parseOsVersion(text)?.join('.');
  const minimum =
    unfinished.package.platform === 'macos' && kernel !== undefined
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
