import semver from 'semver';
import { AppError, isAppError } from '../core/errors.ts';

/** Semantic versions (SemVer 2.0.0) and ranges. Only this file imports the semver library. */

/** A parsed version; compare with {@link compareVersions}, print with {@link versionText}. */
export type Version = semver.SemVer;

/** A parsed range; test with {@link inRange}. */
export type VersionRange = semver.Range;

/**
 * The longest accepted version, in characters. It is bounded because it becomes part of object keys and of file paths.
 */
const VERSION_LENGTH_MAX = 128;
const RANGE_LENGTH_MAX = 512;

/**
 * Parses a strict semantic version: no leading `v`, no surrounding space.
 *
 * @throws AppError `invalid_version`
 */
export function parseVersion(text: string, pointer = '/version'): Version {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const version = text.length <= VERSION_LENGTH_MAX ? semver.parse(copyOf(text)) : null;
  if (version === null || versionText(version) !== text) {
    const detail = `${quote(text)} is not a semantic version; write it like 1.4.0 or 2.0.0-beta.1.`;
    throw new AppError('invalid_version', detail, { issues: [{ pointer, detail }] });
  }
  if (recent.size >= RECENT_MAX) recent.clear();
  // Frozen, because everyone who parses this text gets the same object.
  for (const list of [version.prerelease, version.build]) Object.freeze(list);
  recent.set(version.raw, Object.freeze(version));
  return version;
}

/** Most clients and releases have one of a few versions, so few versions are parsed twice. */
const recent = new Map<string, Version>();
const RECENT_MAX = 10_000;

/** A substring keeps the whole address of a request in memory: without the copy, a client could fill the memory. */
function copyOf(text: string): string {
  return String(JSON.parse(JSON.stringify(text)));
}

/** Parses a version as {@link parseVersion}; undefined for a text that is not one. */
export function tryParseVersion(text: string): Version | undefined {
  try {
    return parseVersion(text);
  } catch (error) {
    if (isAppError(error, 'invalid_version')) return undefined;
    throw error;
  }
}

/**
 * Parses the version of an installed client, as {@link parseVersion}. A leading `v` is accepted.
 *
 * @throws AppError `invalid_version`
 */
export function parseClientVersion(text: string, pointer = '/current_version'): Version {
  return parseVersion(/^v\d/.test(text) ? text.slice(1) : text, pointer);
}

/**
 * Parses a version that an installed application sends. Publishers can no longer correct such a text, so the function
 * also accepts dotted numbers in another form (`1.0.0.4`, `1.2`): it uses the first three numbers, and 0 for each
 * missing number. Undefined for any other text. Velopack does not escape the plus sign of `1.0.0+5` in a query, so the
 * sign arrives as a space.
 */
export function parseLooseVersion(text: string): Version | undefined {
  const bare = text
    .trim()
    .replace(/^v(?=\d)/, '')
    .replace(' ', '+');
  const strict = tryParseVersion(bare);
  if (strict !== undefined || !/^\d+(\.\d+)*$/.test(bare)) return strict;
  const numbers = bare.split('.').slice(0, 3).map(Number);
  return tryParseVersion([...numbers, 0, 0].slice(0, 3).join('.'));
}

/** The version as it was written, with its build metadata. */
export function versionText(version: Version): string {
  return version.build.length > 0
    ? `${version.version}+${version.build.join('.')}`
    : version.version;
}

/** Negative when `a` is older; build metadata does not count (SemVer section 10). */
export function compareVersions(a: Version, b: Version): number {
  // The library's function would check its arguments first, which takes longer than to compare the numbers.
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch || a.comparePre(b);
}

/**
 * For sorting versions as they are written.
 *
 * @throws AppError `invalid_version`
 */
export function newestTextFirst(a: string, b: string): number {
  return compareVersions(parseVersion(b), parseVersion(a));
}

export function isPrerelease(version: Version): boolean {
  return version.prerelease.length > 0;
}

/**
 * Parses a range that contains some version older than `below`. Pre-releases count as ordinary versions, so `>=1.0.0`
 * contains `1.1.0-beta.1`.
 *
 * @throws AppError `invalid_range`, also for a range without an older version
 */
export function parseRangeBelow(text: string, below: Version, pointer: string): VersionRange {
  const range = parseRange(text, pointer);
  const reachable =
    semver.minVersion(range) !== null &&
    semver.intersects(range, `<${below.version}`, { includePrerelease: true });
  if (!reachable) {
    const detail = `The range ${quote(text)} has no version older than ${below.version}, so it fits no client. Correct the range.`;
    throw new AppError('invalid_range', detail, { issues: [{ pointer, detail }] });
  }
  return range;
}

/** @throws AppError `invalid_range` */
export function parseRange(text: string, pointer: string): VersionRange {
  if (text.length <= RANGE_LENGTH_MAX && text.trim() !== '') {
    try {
      return new semver.Range(text, { includePrerelease: true });
    } catch {
      // The library's error does not say what to do. The error below replaces it.
    }
  }
  const detail = `${quote(text)} is not a range of versions; write it like ">=1.2.0 <2.0.0" or "^1.4.0".`;
  throw new AppError('invalid_range', detail, { issues: [{ pointer, detail }] });
}

/** The range as it was written: ranges with equal texts contain the same versions. */
export function rangeText(range: VersionRange): string {
  return range.raw;
}

/**
 * True when a client with the version may update straight to a release.
 *
 * @param requires the range that the release requires; null: none
 */
export function mayUpdateFrom(version: string, requires: string | null): boolean {
  return requires === null || inRange(parseVersion(version), parseRange(requires, '/requires'));
}

export function inRange(version: Version, range: VersionRange): boolean {
  const { version: text } = version;
  let known = TESTED.get(range);
  if (known === undefined) {
    known = new Map();
    TESTED.set(range, known);
  }
  let result = known.get(text);
  if (result === undefined) {
    result = range.test(version);
    if (known.size >= TESTED_MAX) known.clear();
    known.set(text, result);
  }
  return result;
}

/** Results by range and version: a test takes longer than the rest of a decision, and most clients run few versions. */
const TESTED = new WeakMap<VersionRange, Map<string, boolean>>();
const TESTED_MAX = 500;

/**
 * The parts of a list of versions that a range contains. `from` is the first index of a part, `to` the index after its
 * last.
 *
 * @param versions newest first
 */
export function spansIn(
  versions: readonly Version[],
  { set }: VersionRange,
): readonly { readonly from: number; readonly to: number }[] {
  return set.map((comparators) => {
    let from = 0;
    let to = versions.length;
    for (const { operator, semver: bound } of comparators) {
      // The range of all versions has a comparator without a bound.
      if (!(bound instanceof semver.SemVer)) continue;
      const atBound = firstIndex(versions, (version) => compareVersions(version, bound) <= 0);
      const belowBound = firstIndex(versions, (version) => compareVersions(version, bound) < 0);
      if (operator === '<') from = Math.max(from, belowBound);
      else if (operator === '>') to = Math.min(to, atBound);
      if (operator === '<=' || isExact(operator)) from = Math.max(from, atBound);
      if (operator === '>=' || isExact(operator)) to = Math.min(to, belowBound);
    }
    return { from, to };
  });
}

const isExact = (operator: semver.Comparator['operator']): boolean =>
  operator === '' || operator === '=';

/** The first index whose item passes the test; the length when no item does. All items after it must pass as well. */
function firstIndex<T>(items: readonly T[], test: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * A sample of versions that represents all others: between two neighbors of the sample, each range contains all
 * versions or none. So when a statement depends only on these ranges and versions, and is true of the sample, it is
 * true of every version. Oldest first.
 */
export function representatives(
  ranges: readonly VersionRange[],
  versions: readonly Version[],
): readonly Version[] {
  const bounds = [
    OLDEST_VERSION,
    ...ranges.flatMap(({ set }) => set.flat().map((comparator) => comparator.semver)),
    ...versions,
  ].filter((bound) => bound instanceof semver.SemVer);
  const texts = new Set(bounds.flatMap((bound) => [bound.version, ...afterwards(bound)]));
  return [...texts].map((text) => new semver.SemVer(text)).sort(compareVersions);
}

/** Older than every other version. */
export const OLDEST_VERSION: Version = new semver.SemVer('0.0.0-0');

/**
 * The versions at which the ranges begin and end. From one such version up to the next, each range contains all
 * versions or none.
 */
export function boundariesOf(ranges: Iterable<VersionRange>): readonly Version[] {
  const texts = new Set<string>();
  for (const { operator, semver: bound } of [...ranges].flatMap(({ set }) => set.flat())) {
    // The range of all versions has a comparator without a bound.
    if (!(bound instanceof semver.SemVer)) continue;
    const [next = bound.version] = afterwards(bound);
    if (operator !== '>' && operator !== '<=') texts.add(bound.version);
    if (operator !== '>=' && operator !== '<') texts.add(next);
  }
  return [...texts].map((text) => new semver.SemVer(text));
}

/** The next possible version, and the next release. */
function afterwards({ major, minor, patch, version, prerelease }: Version): readonly string[] {
  return prerelease.length > 0
    ? [`${version}.0`, `${major}.${minor}.${patch}`]
    : [`${major}.${minor}.${patch + 1}-0`, `${major}.${minor}.${patch + 1}`];
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
