import { isoOf } from '../../../core/time-text.ts';
import { periodOf, summarizeUsage, type UsageSummary } from '../../../usage/adoption.ts';
import { countByDay } from '../../../usage/adoption-days.ts';
import { OTHER } from '../../../usage/counts.ts';
import type { AdoptedVersion, Adoption } from '../answers.ts';
import type { SeenUsage } from '../usage-source.ts';
import { RECENT_DAYS } from './release.ts';

/** A reader cannot distinguish more lines in a chart, so one further line shows the sum of all other versions. */
const VERSIONS_MAX = 8;

export interface AdoptionRequest {
  readonly application: string;
  readonly days: number;
  /** Undefined for all channels. */
  readonly channel: string | undefined;
}

/** @param now milliseconds since the epoch @param showsKeys true when the answer may name keys of the store */
export function adoptionOf(
  { application, days: count, channel }: AdoptionRequest,
  usage: SeenUsage,
  now: number,
  showsKeys: boolean,
): Adoption {
  const query = { application, channel, ...periodOf(now, count) };
  const { whole, versions, platforms } = summarizeUsage(usage.rows, query);
  const all = summarizeUsage(usage.rows, { ...query, channel: undefined });
  const { days, totals, checks } = countByDay(usage.rows, query);
  const counted = versions.map((group) => ({
    version: group.name,
    checks: group.checks,
    offers: group.offers,
    links: group.links,
    share: group.share,
    checksByDay: checks.get(group.name) ?? days.map(() => 0),
  }));
  return {
    application,
    days,
    channels: all.channels.map(({ name }) => name),
    totals: { checks: whole.checks, offers: whole.offers, links: whole.links },
    totalsByDay: totals,
    now: nowOf(summarizeUsage(usage.rows, { ...query, ...periodOf(now, RECENT_DAYS) })),
    versions: joinRest(counted, whole.checks),
    platforms: platforms.map(({ name, checks: own, share }) => ({ name, checks: own, share })),
    countedSince: usage.countedSince === undefined ? null : isoOf(usage.countedSince),
    countedUntil: usage.newestAt === undefined ? null : isoOf(usage.newestAt),
    problems: [
      ...(usage.problem === null ? [] : [`The counts cannot be read: ${usage.problem}`]),
      ...usage.unreadable.map(
        ({ key }) =>
          `${showsKeys ? key : 'A document of counts'} cannot be read: its counts are missing.`,
      ),
    ],
  };
}

/** The maximum number of versions in one line of text. */
const NOW_MAX = 4;

function nowOf({ versions, whole }: UsageSummary): Adoption['now'] {
  if (whole.checks === 0) return [];
  const sorted = versions
    .filter(({ name, checks }) => name !== OTHER && checks > 0)
    .toSorted((a, b) => b.checks - a.checks)
    .slice(0, NOW_MAX)
    .map(({ name: version, checks }) => ({ version, share: checks / whole.checks }));
  const rest = 1 - sorted.reduce((sum, { share }) => sum + share, 0);
  // A smaller rest is a rounding error of the sum.
  return rest < 1e-9 ? sorted : [...sorted, { version: OTHER, share: rest }];
}

/** The most used versions, and one row for all other versions. */
function joinRest(versions: readonly AdoptedVersion[], checks: number): readonly AdoptedVersion[] {
  const named = versions.filter(({ version }) => version !== OTHER);
  const mostFirst = named.toSorted((a, b) => b.checks - a.checks);
  const shown = mostFirst.slice(0, VERSIONS_MAX).filter((each) => each.checks > 0);
  const rest = versions.filter((each) => !shown.includes(each) && each.checks > 0);
  const [first] = rest;
  if (first === undefined) return shown;
  const sum = (of: (each: AdoptedVersion) => number): number =>
    rest.reduce((total, each) => total + of(each), 0);
  const joined = sum((each) => each.checks);
  return [
    ...shown,
    {
      version: OTHER,
      checks: joined,
      offers: sum((each) => each.offers),
      links: sum((each) => each.links),
      share: checks === 0 ? null : joined / checks,
      checksByDay: first.checksByDay.map((_, day) => sum((each) => each.checksByDay[day] ?? 0)),
    },
  ];
}
