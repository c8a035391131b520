import { printableText } from '../core/printable.ts';
import { formatTime } from '../core/time-text.ts';
import type { ReleaseNotes } from '../domain/release.ts';
import { whenLive } from '../releases/when-live.ts';
import type { CommandConfig } from './facts.ts';
import { print, type Terminal } from './terminal.ts';

export { formatTime, printableText };

/** The output of commands. */

/**
 * Prints the result of a command as JSON, and adds the store and the field `dry_run`. Programs read it, so that all
 * characters stay as they are.
 */
export function printJson(terminal: Terminal, value: object): void {
  const { place, isDryRun } = terminal.session ?? {};
  const facts = {
    ...(place === undefined ? {} : { store: place.name }),
    ...(isDryRun === undefined ? {} : { dry_run: isDryRun }),
  };
  terminal.stdout.write(`${JSON.stringify({ ...facts, ...value }, null, 2)}\n`);
}

/** Prints rows in aligned columns, and a dash for an empty cell. */
export function printTable(
  terminal: Terminal,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  for (const line of alignColumns([header.map((title) => title.toUpperCase()), ...rows])) {
    print(terminal, line);
  }
}

export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => printable(cell) || '-'));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/**
 * Cuts the cells of some columns, so that each line fits a width. The widest column is cut first.
 *
 * @param given the rows. The first row decides the number of columns
 * @param cut the indexes of the columns that may be cut
 */
export function fitColumns(
  given: readonly (readonly string[])[],
  widthMax: number,
  cut: readonly number[],
): readonly (readonly string[])[] {
  const rows = given.map((row) => row.map(printable));
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - widthMax;
  for (; excess > 0; excess--) {
    const widest = Math.max(...cut.map((column) => widths[column] ?? 0));
    const column = cut.find((each) => widths[each] === widest);
    if (column === undefined || widest <= CUT_WIDTH_MIN) break;
    widths[column] = widest - 1;
  }
  return rows.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return cell.length <= width ? cell : `${cell.slice(0, width - 1)}…`;
    }),
  );
}

const LINES_MAX = 40;

/** The first lines, and a line with the number of the lines that are left out. */
export function firstLines(lines: readonly string[], most = LINES_MAX): readonly string[] {
  const more = lines.length - most;
  return more <= 0 ? lines : [...lines.slice(0, most), `and ${more} more; --json has all of them`];
}

/** The same lines, further to the right. Empty lines stay empty. */
export function indented(spaces: number, lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `${' '.repeat(spaces)}${line}`));
}

/** The space between two columns. */
const GAP = '  ';
const CUT_WIDTH_MIN = 8;

const WIDTH_DEFAULT = 80;

/** The columns of the terminal that shows the output; 80 when no stream knows them. */
export function terminalWidth({ stdout, stderr }: Terminal): number {
  // With "| tee FILE", only standard error is the terminal.
  return stdout.columns || stderr.columns || WIDTH_DEFAULT;
}

/**
 * Makes one row of the terminal from a stored text: escapes what a terminal would obey, and cuts what would run over
 * into a second row.
 */
export function fitRow(text: string, width: number): string {
  const row = printable(text);
  let kept = '';
  let used = 0;
  for (const character of row) {
    used += columnsAtMost(character);
    if (used > width) return `${kept}…`;
    if (used + columnsAtMost('…') <= width) kept += character;
  }
  return row;
}

/**
 * The maximum number of columns that a terminal gives a character. Terminals differ in emoji, marks and letters that join.
 * Every wide character of Unicode is at U+1100 or above.
 */
function columnsAtMost(character: string): number {
  return /[\u1100-\u1dff\u2000-\u{10ffff}]/u.test(character) ? 2 : 1;
}

/** A stored text without what a terminal would obey, and without line breaks and tabs. */
function printable(text: string): string {
  return printableText(text).replace(/[\n\t]/g, ' ');
}

export { formatBytes } from '../core/counted.ts';

export function printNotes(terminal: Terminal, notes: ReleaseNotes): void {
  for (const [locale, text] of Object.entries(notes)) {
    const title = locale === 'und' ? 'Notes' : `Notes (${locale})`;
    print(terminal, `\n${title}:\n${text.trimEnd()}`);
  }
}

/** Prints how soon running services answer clients with the change. */
export function printWhenLive(
  terminal: Terminal,
  { config }: { readonly config: Pick<CommandConfig, 'catalogPollMs'> },
  announced: boolean,
): void {
  print(terminal, whenLive(config, announced));
}

/** The sentence after a change to a paused release. */
export function staysPaused(version: string, channel: string): string {
  return `It stays paused on ${channel}: clients get it after "slipway resume ${version}".`;
}
