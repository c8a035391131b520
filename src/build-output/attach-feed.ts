import { basename, dirname } from 'node:path';
import { macosVersionOfDarwin, parseOsVersion } from '../domain/os-version.ts';
import type { SkippedFile } from './build-output.ts';
import type { Draft } from './draft.ts';
import { type Feed, type FeedEntry, readFeed } from './feed.ts';
import { archInName } from './infer.ts';
import { otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import type { SourceFile } from './source-file.ts';

/** Holds packages against what the build tool's own feed states of them. */

const READ_REASON =
  'read for the sizes and hashes it states; this service writes the answers to updaters itself';

/**
 * Checks versions and sizes now and leaves the hashes to publishing, which reads every byte anyway.
 *
 * @returns the feed as a skipped file: it is used, and not published
 * @throws AppError `invalid_artifact` for a feed of another version, and for a file that it lists
 * with another size or that is missing
 */
export async function attachFeed(
  source: SourceFile,
  drafts: readonly Draft[],
  version: string,
): Promise<SkippedFile> {
  const { path, name, statement } = source;
  const feed = await readFeed(path, name, version);
  if (feed === undefined) {
    const reason = 'not a known package, nor what a build tool states of one';
    if (statement !== null) throw refusal(path, reason);
    return { path, reason };
  }
  if (feed.version !== undefined && !isSameVersion(feed.version, version)) {
    throw refusal(
      path,
      `it is of version ${feed.version}, not ${version}; build again or remove it`,
    );
  }
  const near = drafts.filter((draft) => dirname(draft.package.file.path) === dirname(path));
  const current = feed.entries.filter(
    (entry) =>
      !/-delta\.nupkg$/i.test(entry.name) && otherVersionIn(entry.name, version) === undefined,
  );
  let used = 0;
  for (const entry of current) {
    const draft = findDraft(entry, near);
    const companion = findCompanion(entry, near);
    if (companion !== undefined) {
      check(path, entry, companion);
      companion.stated.push(...entry.digests.map((digest) => ({ ...digest, statedIn: path })));
      used++;
    } else if (draft !== undefined) {
      if (/\.ya?ml$/i.test(name)) refuseSquirrel(path, draft);
      check(path, entry, draft.package.file);
      state(path, entry, feed, draft);
      used++;
    } else if (statement === null && !source.siblings.includes(entry.name)) {
      throw refusal(path, `it lists ${entry.name}, which is not there`);
    }
  }
  return { path, reason: used > 0 ? READ_REASON : 'lists nothing that is published here' };
}

/** Build metadata does not count, as everywhere. */
function isSameVersion(a: string, b: string): boolean {
  return a.replace(/^v/, '').split('+', 1)[0] === b.split('+', 1)[0];
}

/**
 * By name; electron-builder lists names as GitHub would have them (`My-App-Setup-1.0.0.exe` for
 * `My App Setup 1.0.0.exe`), so else by the letters and digits, else by the one file of that size.
 */
function findDraft(entry: FeedEntry, drafts: readonly Draft[]): Draft | undefined {
  const named = (key: (name: string) => string) =>
    drafts.find((draft) => key(draft.package.file.name) === key(entry.name));
  const found = named((name) => name.normalize('NFC')) ?? named(lettersOf);
  if (found !== undefined) return found;
  const [only, ...others] = drafts.filter(
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

/** electron-builder lists NSIS installers alone; the name alone cannot tell them from those of Squirrel. */
function refuseSquirrel(path: string, { package: { file, format } }: Draft): void {
  if (format !== 'squirrel-setup' || file.statement?.format !== undefined) return;
  throw refusal(
    file.path,
    `it is unclear what it is: ${path} lists it as an NSIS installer, and the RELEASES beside it makes it one of Squirrel; say which with "${file.path},format=nsis" or ",format=squirrel-setup"`,
  );
}

function findCompanion(entry: FeedEntry, drafts: readonly Draft[]) {
  return drafts
    .flatMap(({ companions }) => companions)
    .find((companion) => basename(companion.path) === entry.name);
}

function check(path: string, entry: FeedEntry, file: { path: string; size: number }): void {
  if (entry.size === undefined || entry.size === file.size) return;
  throw refusal(
    path,
    `it states ${entry.size} bytes for ${file.path}, which has ${file.size}: they are of different builds`,
  );
}

function state(path: string, entry: FeedEntry, feed: Feed, draft: Draft): void {
  draft.stated.push(...entry.digests.map((digest) => ({ ...digest, statedIn: path })));
  if (feed.minimumSystemVersion === undefined || draft.minimumOsVersion !== null) return;
  draft.minimumOsVersion = minimumOf(path, feed.minimumSystemVersion, draft);
}

/** electron-builder compares with the kernel's version, and this project with macOS's own. */
function minimumOf(path: string, text: string, draft: Draft): string {
  const kernel = parseOsVersion(text)?.join('.');
  const minimum =
    draft.package.platform === 'macos' && kernel !== undefined
      ? macosVersionOfDarwin(kernel)
      : kernel;
  if (minimum === undefined) {
    throw refusal(path, `minimumSystemVersion ${JSON.stringify(text)} is no version of a kernel`);
  }
  return minimum;
}
