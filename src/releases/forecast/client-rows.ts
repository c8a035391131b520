import { installedText } from './clients-text.ts';
import type { ChannelStates } from './compare-channels.ts';
import { buildName, type ClientGroup, targetsOf } from './foresee-updates.ts';

/** Groups of clients for a table, with one row for all targets whose clients get the same. */

/** A new visitor installs a disk image by hand: no updater asks for a disk image. */
const isDiskImage = (target: string): boolean => target.endsWith(' dmg');
const isForUpdaters = (target: string): boolean =>
  target.startsWith('macos-') && !isDiskImage(target);

/** A row of such a table. */
interface ClientRow {
  readonly channel: string;
  /** The targets of the clients; only `all targets` when the row is about every target of the application. */
  readonly targets: readonly string[];
  /** The installed versions, and their share of the counted checks: see {@link installedText}. */
  readonly installed: string;
  /** What the clients get, in words. */
  readonly gets: readonly string[];
}

/**
 * Makes one row for all clients that get the same. Only new visitors get disk images, unless the application has no
 * other build for macOS.
 *
 * @param getsOf what the clients of a group get, in words
 * @param states the channels, which have all targets of the application
 */
export function clientRows<T extends ClientGroup>(
  groups: readonly T[],
  getsOf: (group: T) => readonly string[],
  states: ChannelStates,
): readonly ClientRow[] {
  const all = targetNames(states);
  const leavesOut = all.some(isForUpdaters);
  const forUpdaters = all.filter((name) => !(leavesOut && isDiskImage(name)));
  const rows = new Map<string, [T, ...T[]]>();
  for (const group of groups) {
    const { channel, target, installed } = group;
    if (installed !== null && leavesOut && isDiskImage(target)) continue;
    const key = JSON.stringify([channel, installedText(installed, []), getsOf(group)]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [group]);
    else row.push(group);
  }
  return [...rows.values()].map((joined) => {
    const [{ channel, installed }] = joined;
    const targets = joined.map(({ target }) => target);
    const isAll = targets.length === (installed === null ? all : forUpdaters).length;
    return {
      channel,
      targets: targets.length > 1 && isAll ? ['all targets'] : targets,
      installed: installedText(
        installed,
        joined.map(({ seen }) => seen),
      ),
      gets: getsOf(joined[0]),
    };
  });
}

function targetNames({ before, after }: ChannelStates): readonly string[] {
  const offers = [before, after].flatMap((channels) =>
    Object.values(channels).flatMap((channel) => channel.offers),
  );
  return targetsOf(offers).map(buildName);
}

/** The most targets that a line names. */
const TARGETS_MAX = 3;

/** `linux-x64, macos-arm64`; `linux-x64 and 5 more` */
export function targetsText(targets: readonly string[]): string {
  const named = targets.slice(0, targets.length > TARGETS_MAX ? 1 : TARGETS_MAX);
  const rest = targets.length - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
