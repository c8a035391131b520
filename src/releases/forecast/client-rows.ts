import type { ChannelStates } from './compare-channels.ts';
import { clientCells } from './difference-text.ts';
import type { ForeseenChange } from './foresee-changes.ts';
import { buildName, targetsOf } from './foresee-updates.ts';

/** Groups of clients for a table, with one row for all targets whose clients get the same. */

type Cells = ReturnType<typeof clientCells>;

/** A new visitor installs a disk image by hand: no updater asks for a disk image. */
const isDiskImage = (target: string): boolean => target.endsWith(' dmg');
const isForUpdaters = (target: string): boolean =>
  target.startsWith('macos-') && !isDiskImage(target);

/**
 * Makes one row for all clients that get the same. The target of the row is `all targets` when the clients of every
 * target get the same. Only new visitors get disk images, unless the application has no other build for macOS.
 */
export function clientRows(
  changes: readonly ForeseenChange[],
  { before, after }: ChannelStates,
): readonly Cells[] {
  const offers = [before, after].flatMap((channels) =>
    Object.values(channels).flatMap((channel) => channel.offers),
  );
  const names = targetsOf(offers).map(buildName);
  const leavesOut = names.some(isForUpdaters);
  const forUpdaters = names.filter((name) => !(leavesOut && isDiskImage(name)));
  const rows = new Map<string, { cells: Cells; shown: readonly string[]; targets: string[] }>();
  for (const group of changes) {
    const shown = group.installed === null ? names : forUpdaters;
    const { target, ...cells } = clientCells(group);
    if (!shown.includes(target)) continue;
    const key = JSON.stringify(cells);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { cells: { ...cells, target }, shown, targets: [target] });
    else row.targets.push(target);
  }
  return [...rows.values()].map(({ cells, shown, targets }) => ({
    ...cells,
    target:
      targets.length > 1 && targets.length === shown.length ? 'all targets' : targets.join(', '),
  }));
}
