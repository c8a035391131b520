import type { Randomness } from '../../core/clock.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { decideUpdate, newestFor } from '../../domain/decide-update.ts';
import { type Machine, updateQueryOf } from '../../domain/fleet.ts';
import { visitorOn } from '../../domain/update-query.ts';
import { parseVersion, versionText } from '../../domain/version.ts';

/**
 * A model of how the installations of a channel move from one version to the next. The model computes expected numbers
 * and does not simulate single clients.
 */

/** Installations of one channel on one kind of machine. */
export interface DemoFleet {
  readonly application: string;
  readonly channel: string;
  readonly machine: Machine;
  /** Installation ids. The model decides about rollouts for these ids, and uses the result for all installations. */
  readonly sample: readonly string[];
  /**
   * The number of installations of each version: `quick` for often used installations, `slow` for rarely used
   * installations. {@link moveOn} changes it.
   */
  readonly installed: Map<string, { quick: number; slow: number }>;
}

/** The counts that the service would have after one span of time. The counts are not whole numbers. */
export interface Expected {
  readonly checks: readonly {
    readonly version: string;
    readonly offered: string | null;
    readonly count: number;
  }[];
  readonly links: readonly { readonly version: string; readonly count: number }[];
}

/** The rate a day at which installations install an offered update, for often and for rarely used installations. */
const RATES = { quick: 0.75, slow: 0.07 };
const SLOW_SHARE = 0.13;
const SAMPLE_SIZE = 40;
const NEWEST_SHARE = 0.84;
/** At the beginning, the installations of a release divided by the installations of the release after it. */
const OLDER_SHARE = 0.6;
const NEW_PER_DAY = 0.0035;

/** @param size the number of installations at the beginning; most of them have the newest release */
export function createFleet(
  names: Pick<DemoFleet, 'application' | 'channel' | 'machine'>,
  { view, size, randomness }: { view: ChannelView; size: number; randomness: Randomness },
): DemoFleet {
  const { platform, arch } = names.machine;
  const [newest, ...older] = view
    .offersFor(platform, arch)
    .offers.map(({ version }) => versionText(version));
  const weights = older.map((_, index) => OLDER_SHARE ** index);
  const sum = weights.reduce((a, b) => a + b, 0);
  const installed = new Map<string, { quick: number; slow: number }>();
  const add = (version: string, share: number): void => {
    installed.set(version, split(size * share));
  };
  if (newest !== undefined) add(newest, older.length === 0 ? 1 : NEWEST_SHARE);
  for (const [index, version] of older.entries()) {
    add(version, ((1 - NEWEST_SHARE) * (weights[index] ?? 0)) / sum);
  }
  const sample = Array.from({ length: SAMPLE_SIZE }, () => randomness.id());
  return { ...names, sample, installed };
}

const split = (count: number) => ({ quick: count * (1 - SLOW_SHARE), slow: count * SLOW_SHARE });

interface Span {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** The length of the span in days, weighted by the activity in the span. */
  readonly activeDays: number;
  readonly checksPerDay: number;
}

/**
 * Moves installations to the versions that they are offered.
 *
 * @returns the counts of the span
 */
export function moveOn(fleet: DemoFleet, view: ChannelView, span: Span): Expected {
  const { activeDays, checksPerDay } = span;
  const checks: Expected['checks'][number][] = [];
  const links: Expected['links'][number][] = [];
  for (const [version, own] of [...fleet.installed]) {
    const { quick, slow } = own;
    for (const [offered, share] of decisions(fleet, view, version, span.at)) {
      const count = (quick + slow) * share * activeDays * checksPerDay;
      checks.push({ version, offered, count });
      if (offered === null) continue;
      const moved = {
        quick: quick * share * (1 - Math.exp(-RATES.quick * activeDays)),
        slow: slow * share * (1 - Math.exp(-RATES.slow * activeDays)),
      };
      own.quick -= moved.quick;
      own.slow -= moved.slow;
      addTo(fleet, offered, moved);
      links.push({ version: offered, count: moved.quick + moved.slow });
    }
  }
  return { checks, links: [...links, ...installNew(fleet, view, span)] };
}

/** The versions that the installations of one version are offered, each with its share of these installations. */
function decisions(
  { application, channel, machine, sample }: DemoFleet,
  view: ChannelView,
  version: string,
  now: number,
): ReadonlyMap<string | null, number> {
  const ids = view.rolloutStage(now).isPartial ? sample : sample.slice(0, 1);
  const shares = new Map<string | null, number>();
  const running = { application, channel, version: parseVersion(version) };
  for (const installationId of ids) {
    const from = { ...running, installationId };
    const decision = decideUpdate(updateQueryOf(machine, from), view, now);
    const offered = decision.reason === 'offer' ? versionText(decision.offer.version) : null;
    shares.set(offered, (shares.get(offered) ?? 0) + 1 / ids.length);
  }
  return shares;
}

function addTo(
  { installed }: DemoFleet,
  version: string,
  { quick, slow }: { readonly quick: number; readonly slow: number },
): void {
  const own = installed.get(version) ?? { quick: 0, slow: 0 };
  own.quick += quick;
  own.slow += slow;
  installed.set(version, own);
}

/** Visitors of the website install the latest version. */
function installNew(fleet: DemoFleet, view: ChannelView, { at, activeDays }: Span) {
  const { platform, arch } = fleet.machine;
  const latest = newestFor(view, visitorOn(platform, arch), at);
  if (latest === undefined) return [];
  const version = versionText(latest.version);
  const all = [...fleet.installed.values()].reduce((sum, own) => sum + own.quick + own.slow, 0);
  const count = all * NEW_PER_DAY * activeDays;
  addTo(fleet, version, split(count));
  return [{ version, count }];
}
