import { basename } from 'node:path';
import {
  type AppcastEnclosure,
  type AppcastItem,
  readAppcast,
} from '../../../builds/appcast/appcast.ts';
import { inferFromName } from '../../../builds/infer.ts';
import { misuse } from '../../../builds/refusal.ts';
import { isAppError } from '../../../core/errors.ts';
import { archOf, type Platform, platformOf } from '../../../domain/platform.ts';
import {
  compareVersions,
  parseVersion,
  tryParseVersion,
  type Version,
  versionText,
} from '../../../domain/version.ts';
import { collectSettled } from './collect.ts';
import { type Files, listFiles, nameInAddress, readIndex } from './files.ts';
import { findPlaced, namesOnce } from './placed-files.ts';
import { type StatedRelease, settle } from './settle.ts';
import type {
  SourceContents,
  SourceIssue,
  SourceRelease,
  SourceRequest,
  StatedFile,
} from './source.ts';

/**
 * An appcast of Sparkle, WinSparkle or NetSparkle with its files. Each file is beside the feed, or in folders with the
 * names at the end of the file's address (`v1.2.0/App.zip` for `https://…/download/v1.2.0/App.zip`).
 */

export const APPCAST_INDEX_BYTES_MAX = 16 * 1024 * 1024;
const NOTES_BYTES_MAX = 64 * 1024;

/** @throws AppError `invalid_request` for a file that is no appcast */
export async function readAppcastFolder(request: SourceRequest): Promise<SourceContents> {
  const { directory, index = `${directory}/appcast.xml` } = request;
  const items = itemsIn(index, await readIndex(index, APPCAST_INDEX_BYTES_MAX));
  const files = await listFiles(directory);
  const refused: SourceIssue[] = [];
  const stated: StatedRelease[] = [];
  const once = namesOnce(
    items.map((item) => enclosuresOf(item).flatMap(({ url }) => nameInAddress(url) ?? [])),
  );
  for (const [at, item] of items.entries()) {
    const label = item.shortVersion ?? item.version ?? item.title;
    if (label === undefined) {
      refused.push({ label: `item ${at + 1} of ${index}`, reason: 'it states no version' });
    } else stated.push(await statedRelease(item, label, { index, files, once }));
  }
  const settled = await Promise.all(stated.map(settle));
  const { releases, ...issues } = collectSettled(settled, { refused, leftOut: [] });
  return { ...issues, releases: withIndex(releases) };
}

/** Marks the newest release of each channel: it carries the appcast when the publisher signed the appcast. */
function withIndex(releases: readonly SourceRelease[]): readonly SourceRelease[] {
  const newest = new Map<string | null, Version>();
  for (const { channel, version } of releases) {
    const parsed = parseVersion(version);
    const known = newest.get(channel);
    if (known === undefined || compareVersions(parsed, known) > 0) newest.set(channel, parsed);
  }
  return releases.map((release) => {
    const found = newest.get(release.channel);
    return {
      ...release,
      carriesIndex: found !== undefined && versionText(found) === release.version,
    };
  });
}

interface AppcastFolder {
  readonly index: string;
  readonly files: Files;
  readonly once: ReadonlySet<string>;
}

function itemsIn(index: string, text: string): readonly AppcastItem[] {
  try {
    const items = readAppcast(text);
    if (items !== undefined) return items;
  } catch (error) {
    if (!isAppError(error, 'invalid_request')) throw error;
    throw misuse(index, `it is not an appcast that can be read. ${error.message}`, error);
  }
  throw misuse(index, 'it is not an appcast: it has no element <rss>');
}

function enclosuresOf({ enclosures, deltas }: AppcastItem): readonly AppcastEnclosure[] {
  return [...enclosures, ...deltas];
}

async function statedRelease(
  item: AppcastItem,
  label: string,
  folder: AppcastFolder,
): Promise<StatedRelease> {
  const index = basename(folder.index);
  const files = enclosuresOf(item).map((enclosure) => statedFile(item, enclosure, folder));
  const self = { name: index, path: folder.index, statedIn: folder.index };
  return {
    label,
    version: versionOf(item) ?? label,
    channel: item.channel ?? null,
    date: item.pubDate ?? null,
    name: item.title ?? null,
    notes: item.description ?? (await linkedNotes(item, folder)),
    // Adds the appcast to the files, because the build reader reads the signatures in the appcast together with the
    // files.
    files: files.length === 0 ? [] : [...files, { ...self, size: undefined, digests: [] }],
    // NetSparkle writes the signature of the feed to a separate file.
    beside: [index, `${index}.signature`].filter((name) => folder.files.has(name)),
  };
}

/**
 * The version that users see, else the bundle version. The text `2.0` means the release 2.0.0. A bundle version beside
 * a version that users see is not completed in this way, because it may be a count of builds.
 */
function versionOf({ shortVersion, version }: AppcastItem): string | undefined {
  const candidates = [shortVersion ?? version, version].map((text) =>
    text?.replace(/^v(?=\d)/, ''),
  );
  const [first = ''] = candidates;
  const isSemantic = (text: string | undefined): boolean =>
    text !== undefined && tryParseVersion(text) !== undefined;
  return [first, padded(first), candidates[1]].find(isSemantic);
}

function padded(text: string): string {
  return /^\d+(\.\d+)?$/.test(text) ? [...text.split('.'), '0', '0'].slice(0, 3).join('.') : text;
}

function statedFile(
  item: AppcastItem,
  { url, length, os }: AppcastEnclosure,
  { index, files, once }: AppcastFolder,
): StatedFile {
  const name = nameInAddress(url) ?? url;
  const inferred = inferFromName(name);
  const platform = platformIn(os) ?? (inferred.platform === undefined ? 'macos' : undefined);
  const arch = archOf(os?.split('-')[1] ?? '');
  // Without a stated architecture, the feed offers the file to every machine of its system.
  const usualArch = item.hardwareRequirements?.includes('arm64') ? 'arm64' : 'universal';
  return {
    name,
    path: findPlaced(files, tailsOf(url), name, once),
    size: length,
    digests: [],
    statedIn: index,
    platform,
    arch,
    usualArch,
  };
}

function platformIn(os: string | undefined): Platform | undefined {
  return platformOf(os?.split('-')[0] ?? '');
}

/** The ends of an address that have at least one folder, the longest first: `a/v1/App.zip`, `v1/App.zip`. */
function tailsOf(url: string): readonly string[] {
  const parts = url
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    .replace(/[?#].*$/s, '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => nameInAddress(part) ?? '');
  return parts.slice(0, -1).map((_, at) => parts.slice(at).join('/'));
}

/** Reads notes from a separate file: `generate_appcast` may write such a file. */
async function linkedNotes(item: AppcastItem, { files }: AppcastFolder): Promise<string | null> {
  const path = files.get(nameInAddress(item.releaseNotesLink ?? '') ?? '');
  return path === undefined ? null : readIndex(path, NOTES_BYTES_MAX).catch(() => null);
}
