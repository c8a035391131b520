/** What is counted: for every day, how often something was asked, offered and handed out. */

export interface Counts {
  /** Questions of clients that run the version. */
  readonly checks: number;
  /** Answers that offered the version. */
  readonly offers: number;
  /** Links to files of the version that were handed out; what became of them is not known here. */
  readonly links: number;
}

export interface Row extends Counts {
  /** `2026-11-21`, UTC. */
  readonly day: string;
  readonly application: string;
  readonly channel: string;
  readonly platform: string;
  /** A version that the catalog knows, {@link UNSTATED} or {@link OTHER}. */
  readonly version: string;
}

/** For rates: what happened in one minute. */
export interface MinuteRow {
  /** Whole minutes since the Unix epoch. */
  readonly minute: number;
  readonly application: string;
  readonly checks: number;
  readonly offers: number;
}

/** What one process counted in a span of time. */
export interface Counted {
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
  readonly rows: readonly Row[];
  readonly minutes: readonly MinuteRow[];
}

/** Whatever is not told apart: neither can be the text of a version. */
export const OTHER = 'other';
/** The version of clients that do not say theirs. */
export const UNSTATED = 'unstated';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The UTC day of a moment, as {@link Row} has it. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** One row for every group, its counts the sums. */
export function sumRows(rows: Iterable<Row>): Row[] {
  const sums = new Map<string, Writable<Row>>();
  for (const row of rows) {
    const { day, application, channel, platform, version } = row;
    const key = [day, application, channel, platform, version].join('\n');
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...row });
    else add(sum, row);
  }
  return [...sums.values()];
}

/** One row for every minute and application. */
export function sumMinutes(rows: Iterable<MinuteRow>): MinuteRow[] {
  const sums = new Map<string, Writable<MinuteRow>>();
  for (const row of rows) {
    const key = `${row.minute}\n${row.application}`;
    const sum = sums.get(key);
    if (sum === undefined) {
      sums.set(key, { ...row });
      continue;
    }
    sum.checks += row.checks;
    sum.offers += row.offers;
  }
  return [...sums.values()];
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function add(sum: Writable<Counts>, counts: Counts): void {
  sum.checks += counts.checks;
  sum.offers += counts.offers;
  sum.links += counts.links;
}

/** What the map has under the key, made when there is nothing. */
export function getOrCreate<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
