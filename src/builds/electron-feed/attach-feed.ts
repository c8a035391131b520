import { basename, dirname } from 'node:path';
import {
  compareSquirrelVersions,
  squirrelTextOf,
  squirrelVersionIn,
} from '../../domain/squirrel-version.ts';
import type { BuiltDocument, SkippedFile } from '../build-output.ts';
import { isDeltaName } from '../delta.ts';
import { type FeedEntry, readFeed } from '../electron/feed.ts';
import { archInName } from '../infer.ts';
import { otherVersionIn } from '../name-version.ts';
import { brokenFile, refusal } from '../refusal.ts';
import type { SourceFile } from '../source-file.ts';
import type { Unfinished } from '../unfinished.ts';
import { carrySigned, isElsewhere } from './signed-feed.ts';
import { stateCompanion, statePackage } from './state-entry.ts';

/** Checks packages against the feed of the build tool. */

const READ_REASON =
  'read for the sizes and hashes that it states; this service generates its own feeds';

interface AttachedFeed {
  /** Says why the feed is not published; absent when the feed is signed and published. */
  readonly skipped?: SkippedFile;
  readonly signed?: BuiltDocument;
  /** Undefined when the feed lists no published file. */
  readonly stagingPercentage?: number | undefined;
  readonly releaseName?: string | undefined;
  readonly releaseNotes?: string | undefined;
}

/**
 * Checks versions and sizes. Publishing checks the hashes later, because publishing reads every byte anyway.
 *
 * @param rehash the names of the files whose bytes the publisher accepts although the feed states others
 * @throws AppError `invalid_artifact` for a feed of another version, and for a listed file that is missing or of
 *   another size
 */
export async function attachFeed(
  source: SourceFile,
  packages: readonly Unfinished[],
  version: string,
  rehash: readonly string[],
): Promise<AttachedFeed> {
  const { path, name, statement } = source;
  const feed = await readFeed(path, name, version);
  if (feed === undefined) {
    const reason = 'neither a known package nor a feed of a build tool';
    if (statement !== null) throw refusal(path, reason);
    return { skipped: { path, reason } };
  }
  if (feed.version !== undefined && !isSameVersion(feed.version, version)) {
    throw brokenFile(path, `it is of version ${feed.version}, not ${version}`, 'remove it');
  }
  const near = packages.filter(
    (unfinished) => dirname(unfinished.package.file.path) === dirname(path),
  );
  const current = feed.entries.filter(
    (entry) =>
      isOfVersion(source, entry, version) &&
      // A publisher may leave out deltas: clients then download the full package.
      (!isDeltaName(entry.name) || findCompanion(entry, near) !== undefined),
  );
  // A release carries a signed document unchanged, so the document may list files of other servers.
  const isCarried = (entry: FeedEntry) => feed.signed !== undefined && isElsewhere(entry);
  let used = 0;
  for (const entry of current) {
    const unfinished = findPackage(entry, near);
    const companion = findCompanion(entry, near);
    if (companion !== undefined) {
      stateCompanion({ path, feed, rehash }, entry, companion);
      used++;
    } else if (unfinished !== undefined) {
      if (/\.ya?ml$/i.test(name)) refuseSquirrel(path, unfinished);
      await statePackage({ path, feed, rehash }, entry, unfinished);
      used++;
    } else if (statement === null && !source.siblings.includes(entry.name) && !isCarried(entry)) {
      throw brokenFile(path, `it lists ${entry.name}, which is not there`, 'remove the feed');
    }
  }
  if (used > 0) {
    const { stagingPercentage, releaseName, releaseNotes } = feed;
    if (feed.signed !== undefined) {
      const find = (entry: FeedEntry) =>
        findCompanion(entry, near) === undefined
          ? findPackage(entry, near)
          : ('companion' as const);
      // The clients of a signed document apply its stagingPercentage themselves.
      const signed = carrySigned(source, feed.signed, feed, version, find);
      return { signed, releaseName, releaseNotes };
    }
    return {
      skipped: { path, reason: READ_REASON },
      stagingPercentage,
      releaseName,
      releaseNotes,
    };
  }
  return { skipped: { path, reason: 'it lists none of the published files' } };
}

/** Reads the names of Squirrel's packages as Squirrel does: `App-1.0.0-beta1-full.nupkg` is not of version 1.0.0. */
function isOfVersion({ name, siblings }: SourceFile, entry: FeedEntry, version: string): boolean {
  const isVelopack = siblings.some((each) => /^(releases|assets)\..+\.json$/i.test(each));
  const read = name === 'RELEASES' && !isVelopack ? squirrelVersionIn(entry.name) : undefined;
  return read === undefined
    ? otherVersionIn(entry.name, version) === undefined
    : compareSquirrelVersions(read, squirrelTextOf(version)) === 0;
}

/** Ignores build metadata, as every comparison of versions does. */
function isSameVersion(a: string, b: string): boolean {
  return a.replace(/^v/, '').split('+', 1)[0] === b.split('+', 1)[0];
}

/**
 * Finds the package by its name, else by the letters and digits of the name, else by its size when only one package has
 * that size. The names may differ, because electron-builder lists the name that GitHub would give the file
 * (`My-App-Setup-1.0.0.exe` for `My App Setup 1.0.0.exe`).
 */
function findPackage(entry: FeedEntry, packages: readonly Unfinished[]): Unfinished | undefined {
  const named = (key: (name: string) => string) =>
    packages.find((unfinished) => key(unfinished.package.file.name) === key(entry.name));
  const found = named((name) => name.normalize('NFC')) ?? named(lettersOf);
  if (found !== undefined) return found;
  const [only, ...others] = packages.filter(
    ({ package: { file } }) =>
      file.size === entry.size &&
      suffixOf(file.name) === suffixOf(entry.name) &&
      archInName(file.name) === archInName(entry.name),
  );
  return others.length === 0 ? only : undefined;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function suffixOf(name: string): string {
  return name.toLowerCase().slice(name.lastIndexOf('.'));
}

/**
 * electron-builder lists only NSIS installers. When it lists a file that Slipway took for an installer of Squirrel, the
 * format is unclear, because both kinds of installers may have the same name.
 */
function refuseSquirrel(path: string, { package: { file, format } }: Unfinished): void {
  if (format !== 'squirrel-setup' || file.statement?.format !== undefined) return;
  throw refusal(
    file.path,
    `its format is unclear: ${path} lists it as an NSIS installer, and the file RELEASES beside it makes it an installer of Squirrel. Add "${file.path},format=nsis" or ",format=squirrel-setup".`,
  );
}

function findCompanion(entry: FeedEntry, packages: readonly Unfinished[]) {
  return packages
    .flatMap(({ companions }) => companions)
    .find((companion) => basename(companion.path) === entry.name);
}
