import { ITEMS_PER_STEP, runAtOnce, type Steps } from '../core/steps.ts';

/** Counts, and sums of counts. */

export interface Counts {
  /** Checks by clients that run the version. */
  readonly checks: number;
  /** Answers that offered the version. */
  readonly offers: number;
  /** Links to files of the version that clients received. The service does not see whether a client used them. */
  readonly links: number;
  /** Absent: the service saw no download. */
  readonly downloads?: Downloads | undefined;
}

/**
 * The kinds of downloads. `differential`: the client asked for parts of the file, or for a delta. `resumed`: it asked for
 * the end of the file. `fallback`: a differential download failed, and the client asked for the whole file; the download
 * counts as `differential` too. `not_known`: the service cannot tell the clients at one network address
 * apart, so the kind is uncertain. It counts as `differential` too.
 */
export const DOWNLOAD_KINDS = [
  'whole',
  'differential',
  'resumed',
  'fallback',
  'not_known',
] as const;
export type DownloadKind = (typeof DOWNLOAD_KINDS)[number];
/**
 * How clients downloaded the files of a version, as far as the service saw their requests. Earlier versions stored no
 * `not_known`; absent: 0.
 */
export type Downloads = Readonly<Record<Exclude<DownloadKind, 'not_known'>, number>> & {
  readonly not_known?: number | undefined;
};

export const NO_DOWNLOADS: Downloads = { whole: 0, differential: 0, resumed: 0, fallback: 0 };

export interface Row extends Counts {
  /** A UTC day, `2026-11-21`, or {@link EARLIER_DAYS}. */
  readonly day: string;
  readonly application: string;
  readonly channel: string;
  readonly platform: string;
  /** A version that the catalog knows, {@link UNSTATED} or {@link OTHER}. */
  readonly version: string;
}

/** Counts of one minute, for rates. */
export interface MinuteRow {
  /** Whole minutes since the Unix epoch. */
  readonly minute: number;
  readonly application: string;
  readonly checks: number;
  readonly offers: number;
}

/** The counts of one process since `from`. */
export interface Counted {
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly rows: readonly Row[];
  readonly minutes: readonly MinuteRow[];
}

/**
 * The name in a row that sums all names without a row of their own. Like `UNSTATED`, this name is not a valid version.
 */
export const OTHER = 'other';
/** The version in rows of clients that do not state their version. */
export const UNSTATED = 'unstated';

/** The day in a row that sums all days without rows of their own. It sorts before every real day. */
export const EARLIER_DAYS = '0000-00-00';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The UTC day of a time in milliseconds since the Unix epoch, as in {@link Row}. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** One row for each day, application, channel, platform and version. */
export function sumRows(rows: Iterable<Row>): Row[] {
  return runAtOnce(sumRowsInSteps(rows));
}

/** Like {@link sumRows}, but in steps. */
export function* sumRowsInSteps(rows: Iterable<Row>): Steps<Row[]> {
  let done = 0;
  const sums = new Map<string, Writable<Row>>();
  for (const row of rows) {
    addCounts(
      getOrCreate(sums, groupOf(row), () => ({ ...namesOf(row), ...noCounts() })),
      row,
    );
    if (++done % ITEMS_PER_STEP === 0) yield;
  }
  return [...sums.values()];
}

export function noCounts(): Writable<Counts> {
  return { checks: 0, offers: 0, links: 0 };
}

/** Adds counts to a sum. */
export function addCounts(sum: Writable<Counts>, counts: Counts): void {
  sum.checks += counts.checks;
  sum.offers += counts.offers;
  sum.links += counts.links;
  const { downloads } = counts;
  if (downloads === undefined) return;
  const before = sum.downloads ?? NO_DOWNLOADS;
  sum.downloads = combineDownloads((kind) => (before[kind] ?? 0) + (downloads[kind] ?? 0));
}

/** The counts that `counts` has more than `before`; none of them is below 0. */
export function subtractCounts(counts: Counts, before: Counts): Counts {
  const { downloads } = counts;
  const earlier = before.downloads ?? NO_DOWNLOADS;
  return {
    checks: Math.max(0, counts.checks - before.checks),
    offers: Math.max(0, counts.offers - before.offers),
    links: Math.max(0, counts.links - before.links),
    ...(downloads === undefined
      ? {}
      : {
          downloads: combineDownloads((kind) =>
            Math.max(0, (downloads[kind] ?? 0) - (earlier[kind] ?? 0)),
          ),
        }),
  };
}

function combineDownloads(countOf: (kind: DownloadKind) => number): Downloads {
  const notKnown = countOf('not_known');
  return {
    whole: countOf('whole'),
    differential: countOf('differential'),
    resumed: countOf('resumed'),
    fallback: countOf('fallback'),
    ...(notKnown === 0 ? {} : { not_known: notKnown }),
  };
}

export function hasCounts({ checks, offers, links, downloads = NO_DOWNLOADS }: Counts): boolean {
  const { whole, differential, resumed, fallback, not_known = 0 } = downloads;
  return checks + offers + links + whole + differential + resumed + fallback + not_known > 0;
}

/**
 * Subtracts `counted` from `rows`. Both have at most one row for each day, application, channel, platform and
 * version.
 */
export function subtractRows(rows: readonly Row[], counted: readonly Row[]): Row[] {
  const known = new Map(counted.map((row) => [groupOf(row), row]));
  return rows
    .map((row) => ({
      ...namesOf(row),
      ...subtractCounts(row, known.get(groupOf(row)) ?? noCounts()),
    }))
    .filter(hasCounts);
}

function namesOf({ day, application, channel, platform, version }: Row): Omit<Row, keyof Counts> {
  return { day, application, channel, platform, version };
}

function groupOf({ day, application, channel, platform, version }: Row): string {
  return [day, application, channel, platform, version].join('\n');
}

/** One row for each minute and application, in steps. */
export function* sumMinutesInSteps(rows: Iterable<MinuteRow>): Steps<MinuteRow[]> {
  let done = 0;
  const sums = new Map<string, Writable<MinuteRow>>();
  for (const row of rows) {
    const key = `${row.minute}\n${row.application}`;
    const sum = getOrCreate(sums, key, () => ({ ...row, checks: 0, offers: 0 }));
    sum.checks += row.checks;
    sum.offers += row.offers;
    if (++done % ITEMS_PER_STEP === 0) yield;
  }
  return [...sums.values()];
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The value of the key; makes and stores a value if the key has none. */
export function getOrCreate<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
