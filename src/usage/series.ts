import { compareVersions, tryParseVersion, type Version } from '../domain/version.ts';
import {
  addCounts,
  type Counts,
  getOrCreate,
  noCounts,
  OTHER,
  type Row,
  UNSTATED,
  type Writable,
} from './counts.ts';

/** The counts of one process since it began, for Prometheus. The counts of a series only grow. */
export interface SeriesCounts {
  /** Adds the counts of a row of the tally, which bounds the number of names. */
  add(names: Names, counts: Counts): void;
  /** One series for each combination of names. */
  all(): Iterable<Series>;
}

export type Names = Pick<Row, 'application' | 'channel' | 'platform' | 'version'>;

export interface Series extends Names, Counts {}

export interface SeriesLimits {
  readonly perApplication: number;
  readonly total: number;
}

/**
 * The limit for an application is enough for 50 versions on two channels and three platforms. At the limit, a process
 * needs 8 ms for each request of Prometheus, in several turns of the event loop.
 */
export const SERIES_LIMITS: SeriesLimits = { perApplication: 300, total: 1_000 };

/** An application's series. */
interface Own {
  readonly series: Map<string, Writable<Series>>;
  /** The versions that have a series. */
  readonly versions: Map<string, Version>;
  /** This version and all older versions count as {@link OTHER}. The field only rises, so that no series ends twice. */
  newestDropped: Version | undefined;
}

/**
 * Keeps a bounded number of series. When there are too many, the series of an application's oldest version end, and
 * this version counts as {@link OTHER} from then on. The counts of an ended series are forgotten. If they moved to the
 * series `other`, the series would jump, and Prometheus would show the jump as a rate.
 *
 * When an application has no version whose series can end, its further counts go to one series for all its names. When
 * there is no room for this series, they go to one series for all applications.
 */
export function createSeries({
  perApplication,
  total,
}: SeriesLimits = SERIES_LIMITS): SeriesCounts {
  const applications = new Map<string, Own>();
  let size = 0;

  const find = (names: Names): Writable<Series> => {
    const own = getOrCreate(applications, names.application, emptyOwn);
    const key = `${names.channel}\n${names.platform}\n${names.version}`;
    const known = own.series.get(key);
    if (known !== undefined) return known;
    const version = isNoVersion(names.version) ? undefined : tryParseVersion(names.version);
    if (version !== undefined && isDropped(own, version)) return find({ ...names, version: OTHER });
    // One series is reserved for the sum of all names.
    const isFull = own.series.size >= perApplication - 1;
    if (!isFull && size < total - 1) return open(own, key, names, version);
    const crowded = isFull ? own : mostSeries(applications.values());
    const oldest = crowded && oldestOf(crowded, crowded === own ? version : undefined);
    if (crowded === undefined || oldest === undefined) return findSum(own, names);
    size -= dropVersion(crowded, oldest);
    return find(names);
  };

  const open = (
    own: Own,
    key: string,
    { application, channel, platform, version: name }: Names,
    version: Version | undefined,
  ): Writable<Series> => {
    const names = { application, channel, platform, version: name };
    const series = { ...names, ...noCounts() };
    own.series.set(key, series);
    if (version !== undefined) own.versions.set(name, version);
    size++;
    return series;
  };

  /** Finds the sum series of the application if there is room, otherwise the sum series of all applications. */
  const findSum = (own: Own, { application }: Names): Writable<Series> => {
    const isOfAll = size >= total - 1;
    const holder = isOfAll ? getOrCreate(applications, OTHER, emptyOwn) : own;
    const names = { channel: OTHER, platform: OTHER, version: OTHER };
    return (
      own.series.get(SUM_KEY) ??
      holder.series.get(SUM_KEY) ??
      open(holder, SUM_KEY, { application: isOfAll ? OTHER : application, ...names }, undefined)
    );
  };

  return {
    add: (names, counts) => {
      addCounts(find(names), counts);
    },
    *all() {
      for (const { series } of applications.values()) yield* series.values();
    },
  };
}

/** Spares the error that parsing these names would make, for thousands of rows. */
function isNoVersion(name: string): boolean {
  return name === OTHER || name === UNSTATED;
}

const SUM_KEY = `${OTHER}\n${OTHER}\n${OTHER}`;

const emptyOwn = (): Own => ({
  series: new Map(),
  versions: new Map(),
  newestDropped: undefined,
});

function isDropped({ newestDropped }: Own, version: Version): boolean {
  return newestDropped !== undefined && compareVersions(version, newestDropped) <= 0;
}

/** The application with the most series, among the applications that have a version whose series can end. */
function mostSeries(applications: Iterable<Own>): Own | undefined {
  let most: Own | undefined;
  for (const own of applications) {
    if (own.versions.size > 0 && own.series.size > (most?.series.size ?? 0)) most = own;
  }
  return most;
}

/** The oldest of these versions: the versions that have a series, and `next`, the version that needs a series now. */
function oldestOf({ versions }: Own, next: Version | undefined): Version | undefined {
  let oldest = next;
  for (const version of versions.values()) {
    if (oldest === undefined || compareVersions(version, oldest) < 0) oldest = version;
  }
  return oldest;
}

/** @returns the number of series that end */
function dropVersion(own: Own, dropped: Version): number {
  own.newestDropped = dropped;
  const before = own.series.size;
  const names = new Set<string>();
  for (const [name, version] of own.versions) {
    // Versions that differ only in build metadata are equally old.
    if (compareVersions(version, dropped) > 0) continue;
    own.versions.delete(name);
    names.add(name);
  }
  for (const [key, { version }] of own.series) {
    if (names.has(version)) own.series.delete(key);
  }
  return before - own.series.size;
}
