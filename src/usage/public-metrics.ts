import { DAY_MS, dayOf, MINUTE_MS, type MinuteRow, type Row } from './counts.ts';
import { publicShares, type Share } from './shares.ts';

/** Aggregated metrics that are public. */
export interface PublicMetrics {
  /** Milliseconds since the Unix epoch. */
  readonly generatedAt: number;
  /** Milliseconds since the Unix epoch. */
  readonly countedSince: number;
  /** The links that clients received, by UTC days; each number is rounded down to a multiple of the smallest group. */
  readonly links: {
    readonly today: number;
    readonly last30Days: number;
    readonly allTime: number;
  };
  /** Means over the last five full minutes whose counts every process has had time to report. */
  readonly checksPerMinute: number;
  readonly offersPerMinute: number;
  /** Shares of the checks of the last seven UTC days. */
  readonly shares: {
    readonly versions: readonly Share[];
    readonly platforms: readonly Share[];
    readonly channels: readonly Share[];
  };
}

/** All counts that this process knows, of all applications. */
export interface Known {
  rows(): Iterable<Row>;
  minutes(): Iterable<MinuteRow>;
  /** Milliseconds since the Unix epoch. */
  countedSince(): number;
}

interface PublicMetricsOptions {
  /** Null: all applications together. */
  readonly application: string | null;
  readonly now: number;
  readonly groupMin: number;
  /** False for a restricted channel. Public metrics do not show its name and its versions. */
  isPublicChannel(application: string, channel: string): boolean;
  /** The longest time, in milliseconds, until every process knows what one process counted. */
  readonly reportLagMs: number;
}

const LINK_DAYS = 30;
const SHARE_DAYS = 7;
export const RATE_MINUTES = 5;

export function makePublicMetrics(known: Known, options: PublicMetricsOptions): PublicMetrics {
  const { now, groupMin } = options;
  const isAsked = (name: string): boolean =>
    options.application === null || options.application === name;
  const today = dayOf(now);
  const linksFrom = dayOf(now - (LINK_DAYS - 1) * DAY_MS);
  const sharesFrom = dayOf(now - (SHARE_DAYS - 1) * DAY_MS);
  const links = { today: 0, last30Days: 0, allTime: 0 };
  const versions = new Map<string, number>();
  const platforms = new Map<string, number>();
  const channels = new Map<string, number>();
  for (const row of known.rows()) {
    if (!isAsked(row.application)) continue;
    links.allTime += row.links;
    if (row.day >= linksFrom) links.last30Days += row.links;
    if (row.day === today) links.today += row.links;
    if (row.day < sharesFrom || row.checks === 0) continue;
    if (!options.isPublicChannel(row.application, row.channel)) continue;
    count(versions, row.version, row.checks);
    count(platforms, row.platform, row.checks);
    count(channels, row.channel, row.checks);
  }
  return {
    generatedAt: now,
    countedSince: known.countedSince(),
    links: {
      today: roundDown(links.today, groupMin),
      last30Days: roundDown(links.last30Days, groupMin),
      allTime: roundDown(links.allTime, groupMin),
    },
    ...makeRates(known.minutes(), isAsked, options),
    shares: {
      versions: publicShares(versions, groupMin),
      platforms: publicShares(platforms, groupMin),
      channels: publicShares(channels, groupMin),
    },
  };
}

function makeRates(
  minutes: Iterable<MinuteRow>,
  isAsked: (application: string) => boolean,
  { now, groupMin, reportLagMs }: PublicMetricsOptions,
): Pick<PublicMetrics, 'checksPerMinute' | 'offersPerMinute'> {
  const end = Math.floor((now - reportLagMs) / MINUTE_MS);
  let checks = 0;
  let offers = 0;
  for (const row of minutes) {
    if (!isAsked(row.application) || row.minute >= end || row.minute < end - RATE_MINUTES) continue;
    checks += row.checks;
    offers += row.offers;
  }
  return {
    checksPerMinute: Math.round(roundDown(checks, groupMin) / RATE_MINUTES),
    offersPerMinute: Math.round(roundDown(offers, groupMin) / RATE_MINUTES),
  };
}

/**
 * Rounds down to a multiple of the smallest group. Otherwise a visitor could subtract two public numbers (all time
 * minus 30 days, all applications minus one, or a later answer minus an earlier one) and see a single download. A
 * visitor who also downloads files can still learn when another visitor downloads, but nothing else.
 */
function roundDown(total: number, groupMin: number): number {
  return total - (total % groupMin);
}

function count(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
