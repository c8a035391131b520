import type { Clock } from '../core/clock.ts';
import { ITEMS_PER_STEP, runAtOnce, type Steps } from '../core/steps.ts';
import { PLATFORMS } from '../domain/platform.ts';
import {
  addCounts,
  type Counted,
  type Counts,
  dayOf,
  getOrCreate,
  hasCounts,
  MINUTE_MS,
  type MinuteRow,
  NO_DOWNLOADS,
  noCounts,
  OTHER,
  type Row,
  subtractCounts,
  UNSTATED,
  type Writable,
} from './counts.ts';
import type { SeriesCounts } from './series.ts';
import type { UsageCounter } from './usage-counter.ts';

/** The counts of this process since its last flush. Counting costs a few look-ups and builds no strings. */
export interface Tally extends UsageCounter {
  /** Returns the counts since the last `take` and removes them; undefined when there are none. */
  take(): Counted | undefined;
  /** Returns the same as `take`, and keeps the counts. */
  peek(): Counted | undefined;
  /** Adds to the series, in steps, what was counted since the last call. `take` does this too. */
  settleInSteps(): Steps<void>;
}

interface TallyDeps {
  readonly clock: Clock;
  /**
   * True when the catalog has the version. For an open channel, a version that only restricted channels list counts as
   * unknown. Clients can make up versions, so only known versions get a row of their own.
   */
  isKnownVersion(application: string, channel: string, version: string): boolean;
  /**
   * The counts of this process, for Prometheus. The tally computes them from its rows, so that they cost nothing when a
   * check is counted.
   */
  readonly series: Pick<SeriesCounts, 'add'>;
  /** The time for which the counts of a minute are kept, in milliseconds. */
  readonly minutesKeptMs: number;
}

/** Bounds memory, because the store may be down for days, and an application may have any number of versions. */
export const TALLY_ROWS_MAX = 2_000;

/** An application's counts of the current minute. */
interface Pulse {
  checks: number;
  offers: number;
}

const NO_COUNTS: Counts = noCounts();

/** The counts of one application. */
interface OwnRows {
  readonly application: string;
  readonly pulse: Pulse;
  /** By channel, platform and version. */
  readonly named: Map<string, Map<string, Map<string, Writable<Row>>>>;
  /** The row for all counts that would need a row above {@link TALLY_ROWS_MAX}. */
  rest: Writable<Row> | undefined;
}

/** Channel, platform and version. */
type RowNames = readonly [string, string, string];

export function createTally(deps: TallyDeps): Tally {
  const { clock } = deps;
  const byApplication = new Map<string, OwnRows>();
  const minuteCounts = createMinuteCounts(deps);
  let rows: Writable<Row>[] = [];
  /** For each row, the counts that the series contain already. */
  let settled = new Map<Row, Counts>();
  let since = clock.now();
  let day = '';

  const ownOf = (application: string): OwnRows => {
    const known = byApplication.get(application);
    if (known !== undefined) return known;
    const pulse = minuteCounts.pulseOf(application);
    const own = { application, pulse, named: new Map(), rest: undefined };
    byApplication.set(application, own);
    return own;
  };

  const rowOf = ({ application, named }: OwnRows, names: RowNames): Writable<Row> => {
    const [channel, platform, version] = names;
    const platforms = getOrCreate(named, channel, newMap<Map<string, Writable<Row>>>);
    const versions = getOrCreate(platforms, platform, newMap<Writable<Row>>);
    return getOrCreate(versions, version, () => {
      const row = { day, application, channel, platform, version, ...noCounts() };
      rows.push(row);
      return row;
    });
  };

  /** Three look-ups are quicker than building one key. */
  const find = (
    own: OwnRows,
    channel: string,
    platform: string,
    version: string,
  ): Writable<Row> => {
    const known = own.named.get(channel)?.get(platform)?.get(version);
    if (known !== undefined) return known;
    // Above the limit, each application still gets one row for each day.
    if (rows.length < TALLY_ROWS_MAX) {
      return rowOf(own, countedAs(deps, own.application, [channel, platform, version]));
    }
    own.rest ??= rowOf(own, [OTHER, OTHER, OTHER]);
    return own.rest;
  };

  const keepTime = (): void => {
    if (!minuteCounts.keepTime()) return;
    const today = dayOf(clock.now());
    if (today !== day) byApplication.clear();
    day = today;
  };

  const settleInSteps = function* (): Steps<void> {
    // `take` may run between two steps: it settles these rows, and begins new ones.
    const known = settled;
    for (const [index, row] of [...rows].entries()) {
      if (index % ITEMS_PER_STEP === 0) yield;
      const added = subtractCounts(row, known.get(row) ?? NO_COUNTS);
      if (!hasCounts(added)) continue;
      deps.series.add(row, added);
      const settledNow = noCounts();
      addCounts(settledNow, row);
      known.set(row, settledNow);
    }
  };

  const peek = (): Counted | undefined =>
    rows.length === 0 ? undefined : { from: since, rows, minutes: minuteCounts.rows() };

  return {
    countCheck: ({ application, channel, platform, version, offered }) => {
      keepTime();
      const own = ownOf(application);
      own.pulse.checks++;
      find(own, channel, platform, version ?? UNSTATED).checks++;
      if (offered === null) return;
      own.pulse.offers++;
      find(own, channel, platform, offered).offers++;
    },
    countLink: ({ application, channel, platform, version }, kind) => {
      keepTime();
      const row = find(ownOf(application), channel, platform, version);
      // These kinds say more about a download that was counted, with its link.
      if (kind !== 'fallback' && kind !== 'not_known') row.links++;
      if (kind === undefined) return;
      const downloads = row.downloads ?? NO_DOWNLOADS;
      row.downloads = { ...downloads, [kind]: (downloads[kind] ?? 0) + 1 };
    },
    peek,
    settleInSteps,
    take: () => {
      const counted = peek();
      runAtOnce(settleInSteps());
      settled = new Map();
      byApplication.clear();
      rows = [];
      minuteCounts.forget();
      since = clock.now();
      return counted;
    },
  };
}

/** Unknown platforms and versions are counted together, because clients could make up any number of names. */
function countedAs(
  deps: TallyDeps,
  application: string,
  [channel, platform, version]: RowNames,
): RowNames {
  const isNamed = version === UNSTATED || isKnown(deps, application, channel, version);
  const ownPlatform = (PLATFORMS as readonly string[]).includes(platform) ? platform : OTHER;
  return [channel, ownPlatform, isNamed ? version : OTHER];
}

/** Counts by application and minute. A pulse counts the current minute, and starts at 0 in the next minute. */
function createMinuteCounts({ clock, minutesKeptMs }: TallyDeps) {
  const pulses = new Map<string, Pulse>();
  /** The counts of earlier minutes. */
  let minutes: readonly MinuteRow[] = [];
  let start = 0;
  let end = 0;

  const rows = (): readonly MinuteRow[] => {
    const minute = start / MINUTE_MS;
    const current = [...pulses].map(([application, pulse]) => ({ minute, application, ...pulse }));
    return [...minutes, ...current.filter(({ checks, offers }) => checks + offers > 0)];
  };

  return {
    /** @returns true when another minute has begun */
    keepTime: (): boolean => {
      const now = clock.now();
      if (now >= start && now < end) return false;
      const oldest = (now - minutesKeptMs) / MINUTE_MS;
      minutes = rows().filter(({ minute }) => minute >= oldest);
      for (const pulse of pulses.values()) {
        pulse.checks = 0;
        pulse.offers = 0;
      }
      start = Math.floor(now / MINUTE_MS) * MINUTE_MS;
      end = start + MINUTE_MS;
      return true;
    },
    pulseOf: (application: string): Pulse =>
      getOrCreate(pulses, application, () => ({ checks: 0, offers: 0 })),
    rows,
    forget: (): void => {
      minutes = [];
      pulses.clear();
    },
  };
}

/** Counting must not fail an answer: if the catalog throws, the version counts as unknown. */
function isKnown(deps: TallyDeps, application: string, channel: string, version: string): boolean {
  try {
    return deps.isKnownVersion(application, channel, version);
  } catch {
    return false;
  }
}

const newMap = <T>(): Map<string, T> => new Map();
