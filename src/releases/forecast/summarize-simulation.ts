import type { Channels } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import type { ChannelView } from '../../domain/channel.ts';
import type { Decision } from '../../domain/decide-update.ts';
import { type FleetGroup, machineName } from '../../domain/fleet.ts';
import type { Ending, GroupFate } from '../../domain/simulate-updates.ts';
import {
  compareVersions,
  inRange,
  newestTextFirst,
  parseVersion,
  type Version,
  versionText,
} from '../../domain/version.ts';

/** The result of a simulation in the sums that an operator reads. */

export interface VersionTotal {
  readonly version: string;
  /** The number of installations that have this version before the simulation. */
  readonly installed: number;
  /** The number of installations that run this version at each time. */
  readonly counts: readonly number[];
}

/**
 * Groups of installations that get the same versions at the same times. The share of a version may differ by chance.
 */
export interface FateRow {
  readonly channel: string;
  /** The versions that are installed: from `newest` down to `oldest`. */
  readonly newest: string;
  readonly oldest: string;
  /** Kinds of machines: `windows-x64 nsis`. */
  readonly machines: readonly string[];
  readonly count: number;
  /**
   * For each version, the number of installations that run it at each time. `version` is null for installations that
   * keep their version.
   */
  readonly gets: readonly { readonly version: string | null; readonly counts: readonly number[] }[];
}

/** Installations that cannot reach the newest release that they could run, because no path of updates leads there. */
export interface Stranded {
  readonly channel: string;
  readonly version: string;
  readonly machine: string;
  readonly count: number;
  /** The version that these installations run in the end. */
  readonly stays: string;
  readonly missed: string;
  /** The range of versions that `missed` requires. */
  readonly requires: string;
  /** The releases that would meet `requires`, each with the reason why the installations do not get it. */
  readonly between: readonly { readonly version: string; readonly outcome: Blocked }[];
}

/** `not_for_machine`: the release has no build that the machine is offered. */
export type Blocked =
  | Exclude<Ending['path'][number]['outcome'], 'offer'>
  | 'yanked'
  | 'not_for_machine';

/** Installations that stay on an older or a withdrawn version in the end, and are not stranded. */
export interface Waiting {
  readonly channel: string;
  readonly version: string;
  readonly reason: Exclude<Decision['reason'], 'offer'> | 'withdrawn';
  /**
   * The newest release that the installations wait for; otherwise the newest release that they cannot run. Null when
   * there is none.
   */
  readonly withheld: string | null;
  readonly count: number;
}

export interface SimulationSummary {
  /** Newest first. */
  readonly totals: readonly VersionTotal[];
  readonly rows: readonly FateRow[];
  readonly stranded: readonly Stranded[];
  readonly waiting: readonly Waiting[];
}

/**
 * @param channels the simulated state
 * @param timesCount the number of times in the simulation
 */
export function summarizeSimulation(
  fates: readonly GroupFate[],
  channels: Channels,
  timesCount: number,
): SimulationSummary {
  const views = viewsOf(channels);
  return {
    totals: totalsOf(fates, timesCount),
    rows: rowsOf(fates, timesCount),
    stranded: strandedIn(fates, channels, views),
    waiting: waitingIn(fates, views),
  };
}

function totalsOf(fates: readonly GroupFate[], timesCount: number): readonly VersionTotal[] {
  const totals = new Map<string, { version: string; installed: number; counts: number[] }>();
  const totalOf = (version: Version) => {
    const text = versionText(version);
    const known = totals.get(text);
    if (known !== undefined) return known;
    const total = { version: text, installed: 0, counts: zeros(timesCount) };
    totals.set(text, total);
    return total;
  };
  for (const { group, running } of fates) {
    totalOf(group.version).installed += group.count;
    for (const { version, counts } of running) addTo(totalOf(version).counts, counts);
  }
  return [...totals.values()].sort((a, b) => newestTextFirst(a.version, b.version));
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

function addTo(sums: number[], counts: readonly number[]): void {
  for (const [index, count] of counts.entries()) sums[index] = (sums[index] ?? 0) + count;
}

/** Makes the rows: it joins neighboring versions, then machines. */
function rowsOf(fates: readonly GroupFate[], timesCount: number): readonly FateRow[] {
  const byMachine = new Map<string, GroupFate[]>();
  for (const fate of fates) {
    const name = `${fate.group.channel} ${machineName(fate.group)}`;
    addAll(byMachine, name, [fate]);
  }
  const joined = new Map<string, GroupFate[]>();
  for (const list of byMachine.values()) {
    for (const run of neighbors(list)) {
      const versions = run.map(({ group }) => versionText(group.version));
      const [first] = run;
      if (first === undefined) continue;
      const name = [first.group.channel, versions[0], versions.at(-1), first.pattern].join('\n');
      addAll(joined, name, run);
    }
  }
  return [...joined.values()]
    .map((list) => rowOf(list, timesCount))
    .sort((a, b) => {
      if (a.channel !== b.channel) return a.channel < b.channel ? -1 : 1;
      return newestTextFirst(a.newest, b.newest);
    });
}

function addAll<T>(lists: Map<string, T[]>, name: string, items: readonly T[]): void {
  const list = lists.get(name) ?? [];
  for (const item of items) list.push(item);
  lists.set(name, list);
}

/** Lists of groups with neighboring versions and the same pattern, newest first. */
function neighbors(fates: readonly GroupFate[]): readonly (readonly GroupFate[])[] {
  const sorted = fates.toSorted((a, b) => compareVersions(b.group.version, a.group.version));
  const runs: GroupFate[][] = [];
  for (const fate of sorted) {
    const last = runs.at(-1);
    if (last?.[0] !== undefined && last[0].pattern === fate.pattern) last.push(fate);
    else runs.push([fate]);
  }
  return runs;
}

/** The name of a version in a row; empty for the installed version. */
function nameFor(group: FleetGroup, version: Version): string {
  return compareVersions(version, group.version) === 0 ? '' : versionText(version);
}

function rowOf(fates: readonly GroupFate[], timesCount: number): FateRow {
  const gets = new Map<string, number[]>();
  for (const { group, running } of fates) {
    for (const { version, counts } of running) {
      const name = nameFor(group, version);
      const sums = gets.get(name) ?? zeros(timesCount);
      addTo(sums, counts);
      gets.set(name, sums);
    }
  }
  const versions = fates.map(({ group }) => versionText(group.version)).sort(newestTextFirst);
  return {
    channel: fates[0]?.group.channel ?? '',
    newest: versions[0] ?? '',
    oldest: versions.at(-1) ?? '',
    machines: [...new Set(fates.map(({ group }) => machineName(group)))].sort(),
    count: fates.reduce((sum, { group }) => sum + group.count, 0),
    gets: [...gets]
      .sort(([a], [b]) => {
        if (a === '') return 1;
        return b === '' ? -1 : newestTextFirst(a, b);
      })
      .map(([version, counts]) => ({ version: version === '' ? null : version, counts })),
  };
}

function strandedIn(
  fates: readonly GroupFate[],
  channels: Channels,
  views: ReadonlyMap<string, ChannelView>,
): readonly Stranded[] {
  const found = new Map<string, Stranded>();
  for (const { group, endings } of fates) {
    const view = views.get(group.channel);
    for (const ending of endings) {
      if (ending.missed === null || view === undefined) continue;
      const stays = versionText(ending.version);
      const missed = versionText(ending.missed);
      const facts = { channel: group.channel, version: versionText(group.version), stays, missed };
      const name = [...Object.values(facts), machineName(group)].join('\n');
      const count = ending.count + (found.get(name)?.count ?? 0);
      const requires = view.offerOf(missed)?.requires?.raw ?? '';
      const between = betweenIn(channels, view, ending);
      found.set(name, { ...facts, machine: machineName(group), count, requires, between });
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

/** The releases that meet the requirement of the missed release, newest first. */
function betweenIn(
  channels: Channels,
  view: ChannelView,
  { version, missed, path }: Ending,
): Stranded['between'] {
  const requires = missed === null ? null : (view.offerOf(versionText(missed))?.requires ?? null);
  if (missed === null || requires === null) return [];
  const listed = [view.name, ...view.inherits].flatMap((name) => channels[name]?.offers ?? []);
  const texts = new Set(listed.map((offer) => offer.version));
  return [...texts]
    .map((text) => parseVersion(text))
    .filter((each) => compareVersions(each, version) > 0 && compareVersions(each, missed) < 0)
    .filter((each) => inRange(each, requires))
    .sort((a, b) => compareVersions(b, a))
    .map((each) => {
      const text = versionText(each);
      const outcome = path.find((step) => step.version === text)?.outcome;
      if (view.offerOf(text)?.status === 'yanked') return { version: text, outcome: 'yanked' };
      const isKnown = outcome !== undefined && outcome !== 'offer';
      return { version: text, outcome: isKnown ? outcome : 'not_for_machine' };
    });
}

function waitingIn(
  fates: readonly GroupFate[],
  views: ReadonlyMap<string, ChannelView>,
): readonly Waiting[] {
  const found = new Map<string, Waiting>();
  for (const { group, endings } of fates) {
    for (const ending of endings) {
      if (ending.missed !== null) continue;
      const version = versionText(ending.version);
      const isYanked = views.get(group.channel)?.offerOf(version)?.status === 'yanked';
      const { reason, withheld } = obstacleOf(ending);
      if (reason === 'up_to_date' && !isYanked) continue;
      const why: Waiting['reason'] = isYanked ? 'withdrawn' : reason;
      const facts = { channel: group.channel, version, reason: why, withheld };
      const name = Object.values(facts).join('\n');
      found.set(name, { ...facts, count: ending.count + (found.get(name)?.count ?? 0) });
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

/**
 * Says why installations do not get a newer release. A release that they wait for takes precedence over a newer release
 * that their machines cannot run, because the operator can offer them the release that they wait for.
 */
function obstacleOf({ reason, path }: Ending): Pick<Ending, 'reason'> & Pick<Waiting, 'withheld'> {
  for (const { version, outcome } of path) {
    if (outcome === 'held_by_rollout' || outcome === 'paused' || outcome === 'must_step_through') {
      return { reason: outcome, withheld: version };
    }
  }
  return { reason, withheld: path[0]?.version ?? null };
}
