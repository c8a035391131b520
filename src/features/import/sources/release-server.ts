import { misuse } from '../../../builds/refusal.ts';
import { isRecord, type JsonRecord } from '../../../core/json-record.ts';
import { type Arch, archOf, type Platform, platformOf } from '../../../domain/platform.ts';
import { collectSettled } from './collect.ts';
import { type Files, listFiles } from './files.ts';
import { itemsOf, listIn, readJsonValues, sizeIn, textIn } from './json-index.ts';
import { findPlaced, isLostFeed, namesOnce } from './placed-files.ts';
import { type StatedRelease, settle } from './settle.ts';
import type { SourceContents, SourceIssue, SourceRequest, StatedFile } from './source.ts';

/**
 * The versions of an electron-release-server, saved to disk from `/versions/sorted?page=N` or `/api/version`. The
 * assets are beside this file: `{version}/{platform}/{name}`, `{version}/{name}` or `{name}`.
 */

export const DEFAULT_FLAVOR = 'default';

export function isReleaseServerIndex(values: readonly unknown[]): boolean {
  const [first] = itemsOf(values);
  return isRecord(first) && 'name' in first && 'channel' in first && Array.isArray(first.assets);
}

/** @throws AppError `invalid_request` for a file that is not such a list */
export async function readReleaseServer(request: SourceRequest): Promise<SourceContents> {
  const { directory, flavor, index = `${directory}/versions.json` } = request;
  const values = await readJsonValues(index);
  if (values === undefined)
    throw misuse(index, 'it is not JSON, or nests too deep. Save the versions again');
  const refused: SourceIssue[] = [];
  const leftOut: SourceIssue[] = [];
  const own: JsonRecord[] = [];
  for (const [at, item] of itemsOf(values).entries()) {
    const version = isRecord(item) ? textIn(item, 'name') : null;
    if (!isRecord(item) || version === null) {
      refused.push({ label: `item ${at + 1} of ${index}`, reason: 'it has no name' });
    } else if (namedIn(item, 'flavor', DEFAULT_FLAVOR) !== flavor) {
      const other = namedIn(item, 'flavor', DEFAULT_FLAVOR);
      const reason = `it is of the flavor ${other}. Import it into an application of its own with --flavor ${other}`;
      leftOut.push({ label: `${version} (${other})`, reason });
    } else own.push(item);
  }
  const files = await listFiles(directory);
  const once = namesOnce(
    own.map((item) => listIn(item, 'assets').flatMap((asset) => textIn(asset, 'name') ?? [])),
  );
  const stated = own.map((item) => statedRelease(item, index, { files, once }));
  return collectSettled(await Promise.all(stated.map(settle)), { refused, leftOut });
}

interface Placed {
  readonly files: Files;
  readonly once: ReadonlySet<string>;
}

function statedRelease(item: JsonRecord, index: string, placed: Placed): StatedRelease {
  const version = textIn(item, 'name') ?? '';
  const channel = namedIn(item, 'channel', '');
  const assets = listIn(item, 'assets');
  const own = namesOnce([assets.map((asset) => textIn(asset, 'name') ?? '')]);
  const isSquirrel = assets.some((asset) => /\.nupkg$/i.test(textIn(asset, 'name') ?? ''));
  return {
    label: version,
    version,
    // The server makes RELEASES itself, so the file is not among the assets. The name RELEASES marks the installers as
    // installers of Squirrel.
    beside: isSquirrel ? ['RELEASES'] : [],
    channel: channel === '' ? null : channel,
    date: textIn(item, 'availability') ?? textIn(item, 'createdAt'),
    name: null,
    notes: textIn(item, 'notes'),
    files: assets
      .map((asset) => statedFile(asset, version, index, { ...placed, own }))
      // The server does not state the base version of a delta, so the import leaves out deltas. Clients then download
      // the full package.
      .filter((file) => !isLostFeed(file, placed.once) && !/-delta\.nupkg$/i.test(file.name)),
  };
}

function statedFile(
  asset: JsonRecord,
  version: string,
  index: string,
  { files, once, own }: Placed & { readonly own: ReadonlySet<string> },
): StatedFile {
  const name = textIn(asset, 'name') ?? '';
  const platform = textIn(asset, 'platform') ?? '';
  // Without the platform in its path, a name must be unique in the release: Squirrel's packages have the same name for
  // both architectures.
  const isOwn = own.has(name.normalize('NFC'));
  const places = [`${version}/${platform}/${name}`, ...(isOwn ? [`${version}/${name}`] : [])];
  const target = targetOf(platform);
  return {
    name,
    path: findPlaced(files, places, name, once),
    statedIn: index,
    size: sizeIn(asset, 'size'),
    digests: digestsOf(asset),
    ...(target === undefined ? {} : target),
  };
}

/** The server sends the object that a field refers to, or only the name of the object. */
function namedIn(item: JsonRecord, field: string, absent: string): string {
  const value = item[field];
  const name = isRecord(value) ? value.name : value;
  return typeof name === 'string' && name !== '' ? name : absent;
}

const ARCH_BY_BITS: ReadonlyMap<string, Arch> = new Map([
  ['64', 'x64'],
  ['32', 'ia32'],
]);

/** `windows_64`, `osx_arm64`, … */
function targetOf(text: string): { platform: Platform; arch: Arch } | undefined {
  const [, os = '', bits = ''] = /^([a-z]+)_(\w+)$/.exec(text) ?? [];
  const platform = platformOf(os);
  const arch = ARCH_BY_BITS.get(bits) ?? archOf(bits);
  return platform === undefined || arch === undefined ? undefined : { platform, arch };
}

/** The hash is a SHA-1 in hex for a nupkg, and a SHA-512 in base64 for an installer. Old servers state no hash. */
function digestsOf(asset: JsonRecord): StatedFile['digests'] {
  const hash = textIn(asset, 'hash') ?? '';
  if (/^[0-9a-f]{40}$/i.test(hash)) return [{ algorithm: 'sha1', hex: hash }];
  const bytes = Buffer.from(hash, 'base64');
  if (bytes.length !== 64) return [];
  return [{ algorithm: 'sha512', hex: bytes.toString('hex') }];
}
