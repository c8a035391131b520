import { compareVersions, tryParseVersion } from '../domain/version.ts';
import {
  addCounts,
  type Counts,
  DAY_MS,
  dayOf,
  getOrCreate,
  noCounts,
  OTHER,
  type Row,
  UNSTATED,
} from './counts.ts';

/** Computes how clients adopt versions, from the counts of a period. Pure. */

export interface AdoptionQuery {
  readonly application: string;
  /** UTC days, `2026-11-21`, both included. */
  readonly from: string;
  readonly to: string;
  /** The channel that clients ask; undefined for all. */
  readonly channel?: string | undefined;
}

/** Counts of the rows with one name: a version, platform, channel or day. */
export interface Group extends Counts {
  readonly name: string;
  /**
   * A share of checks, from 0 to 1; the function that returns the group says of which checks. Null when there are no
   * such checks.
   */
  readonly share: number | null;
}

/** The counts of a period, by names. */
export interface UsageSummary {
  /** The counts of all versions, without the counts in `withoutDetail`. */
  readonly whole: Counts;
  /**
   * Counts whose version, platform and channel were not kept, because the day is old or had more names than a service
   * counts. They are the counts of all channels, even when the query names one channel.
   */
  readonly withoutDetail: Counts & { readonly days: number };
  /** Newest first, then {@link UNSTATED}, then {@link OTHER}, which sums the versions that no channel listed. */
  readonly versions: readonly Group[];
  /** The most checks first. */
  readonly platforms: readonly Group[];
  readonly channels: readonly Group[];
}

/** The counts of one version in a period. */
export interface VersionAdoption {
  readonly own: Group;
  /** The counts of all versions. */
  readonly whole: Counts;
  readonly withoutDetail: UsageSummary['withoutDetail'];
  /** Every day of the period, the oldest first. */
  readonly days: readonly AdoptionDay[];
  readonly platforms: readonly Group[];
  readonly channels: readonly Group[];
}

export interface AdoptionDay extends Group {
  /** The checks of all versions. */
  readonly allChecks: number;
  /** False when only the sum of the day was kept. */
  readonly isDetailed: boolean;
}

/** The first and the last day of a period of `days` days. The last day is the day of `now`, which is not over. */
export function periodOf(
  now: number,
  days: number,
): { readonly from: string; readonly to: string } {
  return { from: dayOf(now - (days - 1) * DAY_MS), to: dayOf(now) };
}

/**
 * Sums the counts of a period. Each share is a share of all checks.
 *
 * @param listed versions that appear even without counts
 */
export function summarizeUsage(
  rows: Iterable<Row>,
  query: AdoptionQuery,
  listed: readonly string[] = [],
): UsageSummary {
  const { detailed, withoutDetail } = selectRows(rows, query);
  const whole = sum(detailed);
  const groupBy = (nameOf: (row: Row) => string, names: readonly string[] = []): Group[] => {
    const groups = new Map(names.map((name) => [name, [] as Row[]]));
    for (const row of detailed) getOrCreate(groups, nameOf(row), () => []).push(row);
    return [...groups].map(([name, group]) => groupOf(name, sum(group), whole.checks));
  };
  return {
    whole,
    withoutDetail,
    versions: newestFirst(groupBy(({ version }) => version, listed)),
    platforms: groupBy(({ platform }) => platform).sort(mostChecksFirst),
    channels: groupBy(({ channel }) => channel).sort(mostChecksFirst),
  };
}

/**
 * The counts of one version. Each share is a share of the checks of all versions on the same day, from the same
 * platform or of the same channel.
 */
export function describeAdoption(
  rows: Iterable<Row>,
  query: AdoptionQuery & { readonly version: string },
): VersionAdoption {
  const { detailed, withoutDetail, daysWithoutDetail } = selectRows(rows, query);
  const own = detailed.filter(({ version }) => version === query.version);
  const whole = sum(detailed);
  const checksBy = (nameOf: (row: Row) => string): Map<string, number> => {
    const checks = new Map<string, number>();
    for (const row of detailed) {
      checks.set(nameOf(row), (checks.get(nameOf(row)) ?? 0) + row.checks);
    }
    return checks;
  };
  const groupBy = (nameOf: (row: Row) => string): Group[] =>
    [...checksBy(nameOf)]
      .map(([name, all]) => groupOf(name, sum(own.filter((row) => nameOf(row) === name)), all))
      .sort(mostChecksFirst);
  const checksOfDay = checksBy(({ day }) => day);
  const rowsOfDay = new Map<string, Row[]>();
  for (const row of own) getOrCreate(rowsOfDay, row.day, () => []).push(row);
  const days = daysFrom(query).map((day): AdoptionDay => {
    const allChecks = checksOfDay.get(day) ?? 0;
    const group = groupOf(day, sum(rowsOfDay.get(day) ?? []), allChecks);
    const isDetailed = checksOfDay.has(day) || !daysWithoutDetail.has(day);
    return { ...group, allChecks, isDetailed };
  });
  return {
    own: groupOf(query.version, sum(own), whole.checks),
    whole,
    withoutDetail,
    days,
    platforms: groupBy(({ platform }) => platform),
    channels: groupBy(({ channel }) => channel),
  };
}

/** The rows that the query asks for. A name that is no version becomes {@link OTHER}. */
export function selectRows(rows: Iterable<Row>, { application, from, to, channel }: AdoptionQuery) {
  const detailed: Row[] = [];
  const summed: Row[] = [];
  for (const row of rows) {
    if (row.application !== application || row.day < from || row.day > to) continue;
    if (!hasDetail(row)) summed.push(row);
    else if (channel === undefined || row.channel === channel) {
      const isNamed = row.version === UNSTATED || tryParseVersion(row.version) !== undefined;
      detailed.push(isNamed ? row : { ...row, version: OTHER });
    }
  }
  const daysWithoutDetail = new Set(summed.map(({ day }) => day));
  return {
    detailed,
    withoutDetail: { days: daysWithoutDetail.size, ...sum(summed) },
    daysWithoutDetail,
  };
}

function hasDetail({ version, platform, channel }: Row): boolean {
  return version !== OTHER || platform !== OTHER || channel !== OTHER;
}

function groupOf(name: string, counts: Counts, allChecks: number): Group {
  return { name, ...counts, share: allChecks === 0 ? null : counts.checks / allChecks };
}

function sum(rows: Iterable<Counts>): Counts {
  const total = noCounts();
  for (const row of rows) addCounts(total, row);
  return total;
}

function newestFirst(groups: readonly Group[]): Group[] {
  const last = [UNSTATED, OTHER];
  return groups
    .map((group) => ({ group, version: tryParseVersion(group.name) }))
    .sort(
      (a, b) =>
        (a.version !== undefined && b.version !== undefined
          ? compareVersions(b.version, a.version)
          : last.indexOf(a.group.name) - last.indexOf(b.group.name)) || byName(a.group, b.group),
    )
    .map(({ group }) => group);
}

const byName = (a: Group, b: Group): number => (a.name < b.name ? -1 : 1);

const mostChecksFirst = (a: Group, b: Group): number =>
  b.checks - a.checks || b.links - a.links || byName(a, b);

/** The UTC days of a period, the oldest first. */
export function daysFrom({ from, to }: AdoptionQuery): string[] {
  const days: string[] = [];
  for (let ms = Date.parse(from); dayOf(ms) <= to; ms += DAY_MS) days.push(dayOf(ms));
  return days;
}
