import { isRecord } from '../core/json-record.ts';
import { readPlainText } from '../core/plain-file.ts';
import { DELTA } from '../domain/companion.ts';
import {
  compareSquirrelVersions,
  parseSquirrelVersion,
  squirrelVersionIn,
} from '../domain/squirrel-version.ts';
import { compareVersions, tryParseVersion, versionText } from '../domain/version.ts';
import { otherVersionInside, readNupkg } from './archive/nupkg.ts';
import type { SkippedFile } from './build-output.ts';
import { checkFilename } from './filename.ts';
import { otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import { beside, type SourceFile } from './source-file.ts';
import type { Unfinished } from './unfinished.ts';

/**
 * Deltas of Squirrel and Velopack: `App-1.1.0-delta.nupkg` turns the full package of an older version into
 * `App-1.1.0-full.nupkg`. A delta does not state this older version. Each tool makes a delta from the newest older full
 * package that its own feed lists, so this file finds the version in that feed.
 */

const SUFFIX = /-delta\.nupkg$/i;
const FULL_SUFFIX = /-full\.nupkg$/i;
const FEED_BYTES_MAX = 4 * 1024 * 1024;

export function isDeltaName(name: string): boolean {
  return SUFFIX.test(name);
}

/** The names of the deltas that may belong to a package. */
export function deltaNamesOf(packageName: string): readonly string[] {
  return FULL_SUFFIX.test(packageName) ? [packageName.replace(FULL_SUFFIX, '-delta.nupkg')] : [];
}

/**
 * Adds a delta to the full package beside it.
 *
 * @returns why the delta was not used; undefined when it was
 * @throws AppError `invalid_artifact` for a delta that the publisher named and that cannot be used
 */
export async function attachDelta(
  delta: SourceFile,
  packages: ReadonlyMap<string, Unfinished>,
  version: string,
): Promise<SkippedFile | undefined> {
  const { path, name, size } = delta;
  const skip = (reason: string): SkippedFile => {
    if (delta.statement !== null) throw refusal(path, reason);
    return { path, reason };
  };
  const other = otherVersionIn(name, version);
  if (other !== undefined) return skip(`it is of version ${other}, not ${version}`);
  const unfinished = fullPackageOf(delta, packages);
  if (unfinished === undefined) {
    return skip(`the full package that it belongs to is not published: ${fullNameOf(name)}`);
  }
  const inside = await readNupkg(path);
  if (inside === undefined) return skip('it is not a NuGet package. Build again');
  const wrong = otherVersionInside(inside, version);
  if (wrong !== undefined) return skip(`it is of version ${wrong}, not ${version}`);
  const { format, filename: full } = unfinished.package;
  const found = await findBase(delta, format === 'velopack' ? VELOPACK : SQUIRREL);
  if ('reason' in found) return { ...skip(found.reason), isLoss: true };
  const filename = checkFilename(path, full.replace(FULL_SUFFIX, '-delta.nupkg'));
  const { base } = found;
  unfinished.companions.push({ kind: DELTA, base, path, filename, size, stated: [], facts: {} });
  return undefined;
}

function fullNameOf(name: string): string {
  return name.replace(SUFFIX, '-full.nupkg');
}

function fullPackageOf(
  delta: SourceFile,
  packages: ReadonlyMap<string, Unfinished>,
): Unfinished | undefined {
  const unfinished = packages.get(beside(delta, fullNameOf(delta.name)));
  const isFull = unfinished !== undefined && FULL_SUFFIX.test(unfinished.package.filename);
  return isFull && ['squirrel', 'velopack'].includes(unfinished.package.format)
    ? unfinished
    : undefined;
}

/** A package that a feed lists. */
interface ListedPackage {
  readonly id: string;
  readonly name: string;
  /** The version as the tool writes it. */
  readonly version: string;
  readonly isDelta: boolean;
}

interface Tool {
  readonly feedName: RegExp;
  /** For messages. */
  readonly feed: string;
  list(text: string): readonly ListedPackage[];
  compare(a: string, b: string): number;
  /** The semantic version of a release; undefined for a text that is no version. */
  release(version: string): string | undefined;
}

const SQUIRREL: Tool = {
  feedName: /^RELEASES$/,
  feed: 'RELEASES',
  list: listSquirrel,
  compare: compareSquirrelVersions,
  release: (text) => {
    const version = parseSquirrelVersion(text);
    return version && versionText(version);
  },
};

const VELOPACK: Tool = {
  feedName: /^releases\..+\.json$/i,
  feed: 'releases.{channel}.json',
  list: listVelopack,
  compare: (a, b) => {
    const left = tryParseVersion(a);
    const right = tryParseVersion(b);
    return left === undefined || right === undefined ? 0 : compareVersions(left, right);
  },
  release: (text) => (tryParseVersion(text) === undefined ? undefined : text),
};

/** @returns the version that the delta changes, or the reason why this version is not known */
async function findBase(
  delta: SourceFile,
  tool: Tool,
): Promise<{ readonly base: string } | { readonly reason: string }> {
  for (const feed of delta.siblings.filter((name) => tool.feedName.test(name))) {
    const listed = tool.list((await readPlainText(beside(delta, feed), FEED_BYTES_MAX)) ?? '');
    const own = listed.find(({ name }) => name.normalize('NFC') === delta.name.normalize('NFC'));
    if (own === undefined) continue;
    const [base] = listed
      .filter(({ id, isDelta }) => !isDelta && id === own.id)
      .map(({ version }) => version)
      .filter((version) => tool.compare(version, own.version) < 0)
      .sort((a, b) => tool.compare(b, a));
    const release = base === undefined ? undefined : tool.release(base);
    if (release !== undefined) return { base: release };
    return {
      reason: `a delta, and ${feed} lists no older full package, which would be the version that it is applied to. Keep the older packages and ${feed} in the directory when you build, and publish again`,
    };
  }
  return {
    reason: `a delta, and no ${tool.feed} beside it lists it, so that the version that it is applied to is unknown. Publish the whole directory as the build wrote it`,
  };
}

/** Lines of `SHA1 name size`; the name may be an address. */
function listSquirrel(text: string): readonly ListedPackage[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const address = /^\s*[0-9a-f]{40}\s+(\S+)\s+\d+\s*(?:#.*)?$/i.exec(line)?.[1];
    const name = address
      ?.replace(/[?#].*$/s, '')
      .split('/')
      .at(-1);
    const version = squirrelVersionIn(name ?? '');
    if (name === undefined || version === undefined) return [];
    const id = name.slice(0, name.lastIndexOf(version));
    return [{ id, name, version, isDelta: isDeltaName(name) }];
  });
}

function listVelopack(text: string): readonly ListedPackage[] {
  const feed = parseJson(text);
  const assets: unknown = isRecord(feed) ? feed.Assets : undefined;
  return (Array.isArray(assets) ? assets : []).filter(isRecord).flatMap((asset) => {
    const { PackageId: id, FileName: name, Version: version, Type: type } = asset;
    const isNamed = typeof id === 'string' && typeof name === 'string';
    if (!isNamed || typeof version !== 'string') return [];
    if (type !== 'Full' && type !== 'Delta') return [];
    return [{ id, name, version, isDelta: type === 'Delta' }];
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The check of the packages against the feed reports a feed that cannot be read.
    return undefined;
  }
}
