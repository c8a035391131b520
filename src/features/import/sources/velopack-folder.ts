import { fileByProduct } from '../../../builds/by-product.ts';
import { misuse } from '../../../builds/refusal.ts';
import { isRecord, type JsonRecord } from '../../../core/json-record.ts';
import { archOf, platformOf } from '../../../domain/platform.ts';
import { compareVersions, parseVersion, tryParseVersion } from '../../../domain/version.ts';
import { collectSettled } from './collect.ts';
import { type Files, listFiles, nameInAddress } from './files.ts';
import { listIn, readJsonValues, sizeIn, textIn } from './json-index.ts';
import { type StatedRelease, settle } from './settle.ts';
import type { SourceContents, SourceIssue, SourceRequest, StatedFile } from './source.ts';
import { versionOfName } from './version-of-name.ts';

/**
 * The folder of a Velopack server. Each channel has a feed `releases.{channel}.json`, which lists the full and delta
 * packages of many versions. The folder also contains the setup programs and portable archives of the newest version.
 */

export const VELOPACK_FEED = /^releases\.(.+)\.json$/i;
const INSTALLER = /\.(exe|msi|pkg|zip|appimage)$/i;

interface Group {
  readonly version: string;
  /** The name of the channel in Velopack, such as `win-beta`. */
  readonly feed: string;
  notes: string | null;
  readonly files: StatedFile[];
}

/** @throws AppError `invalid_request` when no feed can be read */
export async function readVelopackFolder({ directory }: SourceRequest): Promise<SourceContents> {
  const files = await listFiles(directory, 1);
  const refused: SourceIssue[] = [];
  const byName = new Map<string, Group>();
  const feeds = [...files].flatMap(([name, path]) => {
    const feed = VELOPACK_FEED.exec(name)?.[1];
    return feed === undefined ? [] : [{ name, path, feed }];
  });
  for (const { name, path, feed } of feeds) {
    const [value] = (await readJsonValues(path)) ?? [];
    if (!isRecord(value) || !Array.isArray(value.Assets)) {
      refused.push({ label: name, reason: 'it is not a feed of Velopack. Copy it again' });
      continue;
    }
    for (const [at, asset] of listIn(value, 'Assets').entries()) {
      const problem = addAsset(byName, asset, { feed, path, files });
      if (problem !== undefined) {
        refused.push({ label: `asset ${at + 1} of ${name}`, reason: problem });
      }
    }
  }
  const groups = [...byName.values()];
  if (groups.length === 0) {
    const [first] = refused;
    const why =
      first === undefined ? 'it has no releases.{channel}.json' : `${first.label}: ${first.reason}`;
    throw misuse(directory, why);
  }
  addInstallers(groups, files, directory, refused);
  const beside = feeds.map(({ name }) => name);
  const settled = await Promise.all(merged(groups).map((each) => settle({ ...each, beside })));
  return collectSettled(settled, { refused, leftOut: [] });
}

const DIGESTS = [
  { key: 'SHA256', algorithm: 'sha256', pattern: /^[0-9a-f]{64}$/i },
  { key: 'SHA1', algorithm: 'sha1', pattern: /^[0-9a-f]{40}$/i },
] as const;

/** @returns the reason why the import cannot use the asset; undefined when it can */
function addAsset(
  groups: Map<string, Group>,
  asset: JsonRecord,
  { feed, path, files }: { readonly feed: string; readonly path: string; readonly files: Files },
): string | undefined {
  const version = textIn(asset, 'Version');
  const name = nameInAddress(textIn(asset, 'FileName') ?? '');
  if (version === null || name === undefined) return 'it states no Version or no FileName';
  const key = `${feed}/${version}`;
  const group = groups.get(key) ?? { version, feed, notes: null, files: [] };
  groups.set(key, group);
  group.notes ??= textIn(asset, 'NotesMarkdown') || textIn(asset, 'NotesHTML') || null;
  group.files.push({
    name,
    path: files.get(name),
    size: sizeIn(asset, 'Size'),
    statedIn: path,
    digests: DIGESTS.flatMap(({ key, algorithm, pattern }) => {
      const hex = textIn(asset, key) ?? '';
      return pattern.test(hex) ? [{ algorithm, hex }] : [];
    }),
  });
  return undefined;
}

/** Setup programs and portable archives state no version: each build overwrites the files of the build before it. */
function addInstallers(
  groups: readonly Group[],
  files: Files,
  directory: string,
  refused: SourceIssue[],
): void {
  const listed = new Set(groups.flatMap((group) => group.files.map(({ name }) => name)));
  const versions = new Set(groups.map(({ version }) => version));
  const byFeed = Map.groupBy(groups, ({ feed }) => feed);
  const newest = new Map([...byFeed].map(([feed, own]) => [feed, newestOf(own)]));
  for (const [name, path] of files) {
    if (listed.has(name) || !INSTALLER.test(name) || fileByProduct(name) !== undefined) continue;
    const version = versionOfName(name, versions);
    const feed = feedOf(name, [...byFeed.keys()]);
    const own = (byFeed.get(feed ?? '') ?? []).find((each) => each.version === version);
    const group = version === undefined ? newest.get(feed ?? '') : own;
    if (group === undefined) {
      refused.push({ label: name, reason: 'no feed beside it is of its channel and version' });
    } else group.files.push({ name, path, size: undefined, digests: [], statedIn: directory });
  }
}

/** Finds the feed of an installer by the name of the installer. */
function feedOf(name: string, all: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const feeds = [...all].sort((a, b) => b.length - a.length);
  const isAppImage = /\.appimage$/i.test(name);
  return (
    feeds.find((each) => new RegExp(`-${escaped(each.toLowerCase())}[-.]`).test(lower)) ??
    (feeds.length === 1 ? feeds[0] : undefined) ??
    feeds.find(
      (each) => platformOf(each.split(/[-.]/)[0] ?? '') === (isAppImage ? 'linux' : 'windows'),
    )
  );
}

function newestOf(groups: readonly Group[]): Group | undefined {
  return groups
    .filter(({ version }) => tryParseVersion(version))
    .sort((a, b) => compareVersions(parseVersion(a.version), parseVersion(b.version)))
    .at(-1);
}

function escaped(text: string): string {
  return text.replace(/[^\w-]/g, '\\$&');
}

/** Makes one release for each version and channel: the feeds of `win` and `osx` belong to the same release. */
function merged(groups: readonly Group[]): readonly StatedRelease[] {
  const releases = new Map<string, StatedRelease>();
  for (const { version, feed, notes, files } of groups) {
    const channel = channelOf(feed);
    const key = `${version} ${channel ?? ''}`;
    const known = releases.get(key);
    releases.set(key, {
      label: version,
      version,
      channel,
      date: null,
      name: null,
      notes: known?.notes ?? notes,
      files: [...(known?.files ?? []), ...files],
    });
  }
  return [...releases.values()];
}

/**
 * Returns `beta` for `win-x64-beta`. Null for Velopack's default channels, because their names contain only the
 * machine.
 */
function channelOf(feed: string): string | null {
  const words = feed
    .toLowerCase()
    .split(/[-.]/)
    .filter((word) => platformOf(word) === undefined && archOf(word) === undefined);
  return words.length === 0 ? null : words.join('-');
}
