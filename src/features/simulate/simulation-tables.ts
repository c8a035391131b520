import { alignColumns } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { targetsText } from '../../releases/forecast/client-rows.ts';
import type { FateRow, VersionTotal } from '../../releases/forecast/summarize-simulation.ts';
import type { SimulationReport } from './simulation.ts';
import { timeLabel } from './version-ramp.ts';

/** The tables of `slipway simulate`. */

const ROWS_MAX = 40;
const COLUMNS_MIN = 3;
const COLUMNS_MAX = 7;
/** Widths in characters: one column with a count and a percentage, and all other columns together. */
const COLUMN_WIDTH = 17;
const OTHERS_WIDTH = 50;
/** The width in characters when the output is no terminal. */
const WIDTH_DEFAULT = 160;

/** A column of a table: its place in the lists of counts, and its title. */
export interface Column {
  readonly index: number;
  readonly label: string;
}

/**
 * Chooses times at which something changes, as many as the terminal has room for. The start and the end come first,
 * then steps of plans, then other times.
 */
export function chooseColumns(
  { stdout }: Terminal,
  { simulation: { times }, present, proposed, startLabel }: SimulationReport,
): readonly Column[] {
  const totals = [...present.totals, ...(proposed?.totals ?? [])];
  const room = Math.floor(((stdout.columns || WIDTH_DEFAULT) - OTHERS_WIDTH) / COLUMN_WIDTH);
  const columnsMax = Math.max(COLUMNS_MIN, Math.min(COLUMNS_MAX, room));
  const changing = times
    .map(({ isStep }, index) => ({ index, isStep }))
    .filter(
      ({ index }) =>
        index === 0 || totals.some(({ counts }) => counts[index] !== counts[index - 1]),
    );
  const ends = [0, changing.at(-1)?.index ?? 0];
  const chosen = new Set(ends);
  for (const isStep of [true, false]) {
    const others = changing.filter((time) => time.isStep === isStep && !ends.includes(time.index));
    for (const { index } of thin(others, columnsMax - chosen.size)) chosen.add(index);
  }
  const start = times[0]?.at ?? 0;
  return [...chosen]
    .sort((a, b) => a - b)
    .map((index) => ({ index, label: timeLabel((times[index]?.at ?? start) - start, startLabel) }));
}

/** Chooses at most `itemsMax` of the items, evenly. */
function thin<T>(items: readonly T[], itemsMax: number): readonly T[] {
  if (items.length <= itemsMax) return items;
  return items.filter((_, index) => {
    const place = (at: number) => Math.floor((at * itemsMax) / items.length);
    return place(index + 1) > place(index);
  });
}

export function printTotals(
  terminal: Terminal,
  { simulation: { installations }, present, proposed }: SimulationReport,
  columns: readonly Column[],
): void {
  const states = [
    { name: 'present', totals: present.totals },
    ...(proposed === null ? [] : [{ name: 'proposed', totals: proposed.totals }]),
  ];
  const versions = joinLeft(states.map(({ totals }) => totals));
  const rows = versions.flatMap((list) => {
    const lines = states.flatMap(({ name, totals }) => {
      const of = totals.filter(({ version }) => list.includes(version));
      if (of.length === 0) return [];
      const cell = (countOf: (total: VersionTotal) => number): string =>
        countText(
          of.reduce((sum, total) => sum + countOf(total), 0),
          installations,
        );
      const counts = columns.map(({ index }) => cell((total) => total.counts[index] ?? 0));
      return [{ name, cells: [cell(({ installed }) => installed), ...counts] }];
    });
    const [first, second] = lines;
    const isSame = first?.cells.join() === second?.cells.join();
    const shown = isSame && first !== undefined ? [{ ...first, name: 'both' }] : lines;
    const state = (name: string) => (proposed === null ? [] : [name]);
    return shown.map(({ name, cells }) => [rangeText(list), ...state(name), ...cells]);
  });
  print(terminal);
  print(terminal, 'Versions that all installations run:');
  const state = proposed === null ? [] : ['state'];
  const header = ['version', ...state, 'installed', ...columns.map(({ label }) => label)];
  printTable(terminal, header, rows);
}

/** Lists the versions, newest first. Joins neighboring versions that no installation runs after its first updates. */
function joinLeft(states: readonly (readonly VersionTotal[])[]): readonly (readonly string[])[] {
  const all = states.flat();
  const versions = [...new Set(states.flatMap((totals) => totals.map(({ version }) => version)))];
  const isLeft = (version: string): boolean =>
    all.every((total) => total.version !== version || total.counts.every((count) => count === 0));
  const lists: string[][] = [];
  for (const version of versions) {
    const last = lists.at(-1);
    if (last?.[0] !== undefined && isLeft(last[0]) && isLeft(version)) last.push(version);
    else lists.push([version]);
  }
  return lists;
}

export function printRows(
  terminal: Terminal,
  { present, proposed, channels }: SimulationReport,
  columns: readonly Column[],
): void {
  const { rows } = proposed ?? present;
  print(terminal);
  print(terminal, `Who gets what${proposed === null ? '' : ' with the proposed change'}:`);
  const header = ['installed', 'channel', 'target', 'count', 'gets'];
  const lines = rows.flatMap((row) => linesOf(row, columns));
  printTable(terminal, [...header, ...columns.map(({ label }) => label)], lines, channels);
}

function linesOf(
  { newest, oldest, channel, machines, count, gets }: FateRow,
  columns: readonly Column[],
): readonly (readonly string[])[] {
  const seen = gets.filter(({ counts }) => columns.some(({ index }) => counts[index] !== 0));
  return seen.map(({ version, counts }, index) => [
    // Only the first line of a group names the group.
    ...(index === 0
      ? [rangeText([newest, oldest]), channel, targetsText(machines), numberText(count)]
      : [' ', ' ', ' ', ' ']),
    version ?? 'keeps its own',
    ...columns.map((column) => countText(counts[column.index] ?? 0, count)),
  ]);
}

/**
 * Prints a table whose titles may be times, and says how many rows it leaves out.
 *
 * @param channels the channels of the fleet; when there is only one, the table has no column for it
 */
export function printTable(
  terminal: Terminal,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  channels: readonly string[] = [],
): void {
  const isShown = (_: string, index: number) => header[index] !== 'channel' || channels.length > 1;
  const titles = header.map((title) => (title.startsWith('+') ? title : title.toUpperCase()));
  const table = [titles, ...rows.slice(0, ROWS_MAX)].map((row) => row.filter(isShown));
  for (const line of alignColumns(table)) print(terminal, line);
  const rest = rows.length - ROWS_MAX;
  if (rest > 0) print(terminal, `… and ${numberText(rest)} more rows. --json has every number.`);
}

/** `1.4.0`, or `1.4.0 to 1.1.0`. */
function rangeText(versions: readonly string[]): string {
  const newest = versions[0] ?? '';
  const oldest = versions.at(-1) ?? '';
  return newest === oldest ? newest : `${newest} to ${oldest}`;
}

/** `12,000 (12%)`; empty for 0. */
function countText(count: number, of: number): string {
  return count === 0 ? '' : `${numberText(count)} (${percentText(count, of)})`;
}

function percentText(count: number, of: number): string {
  const percent = (100 * count) / of;
  if (percent < 0.1) return '<0.1%';
  if (count < of && percent > 99.9) return '>99.9%';
  return `${Math.round(percent * 10) / 10}%`;
}

export function numberText(count: number): string {
  return count.toLocaleString('en-US');
}

export function sumOf(items: readonly { readonly count: number }[]): number {
  return items.reduce((sum, { count }) => sum + count, 0);
}
