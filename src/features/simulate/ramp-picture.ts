import { showsBlocks } from '../../cli/bars.ts';
import type { Environment } from '../../cli/facts.ts';
import { axisEnd, sharesAt, timeLabel, type VersionRamp } from './version-ramp.ts';

/** The versions of a fleet over time, drawn with characters. */

const HEIGHT = 12;
const AXIS_WIDTH = 6;
const WIDTH_MIN = 30;
const WIDTH_MAX = 120;
/** The width in characters when the output is no terminal. */
const WIDTH_DEFAULT = 80;
/** The characters of the versions, from the newest version to the oldest. */
const BLOCKS = ['█', '▓', '▒', '░', '·'];
const ASCII = ['#', '*', '+', '-', '.'];

export interface Characters {
  readonly width: number;
  /** False when the terminal may show only ASCII. */
  readonly hasBlocks: boolean;
}

/** @param columns undefined when the output is no terminal; 0 when the terminal does not state its width */
export function charactersOf(env: Environment, columns: number | undefined): Characters {
  return { width: columns || WIDTH_DEFAULT, hasBlocks: showsBlocks(env) };
}

/** The lines of the picture, with a legend. The newest version is at the bottom, and its share grows upward. */
export function drawRamp(ramp: VersionRamp, { width, hasBlocks }: Characters): readonly string[] {
  const glyphs = hasBlocks ? BLOCKS : ASCII;
  const columns = Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, width - 1)) - AXIS_WIDTH;
  const start = ramp.times[0]?.at ?? 0;
  const end = axisEnd(ramp);
  const cells = Array.from({ length: columns }, (_, column) =>
    // The middle of the column.
    columnOf(sharesAt(ramp, start + ((column + 0.5) / columns) * (end - start)), glyphs),
  );
  const bar = hasBlocks ? '┤' : '|';
  const lines = Array.from({ length: HEIGHT }, (_, line) => {
    const row = HEIGHT - 1 - line;
    const label = line % 3 === 0 ? `${Math.round(((row + 1) / HEIGHT) * 100)}%` : '';
    return `${label.padStart(AXIS_WIDTH - 2)} ${bar}${cells.map((cell) => cell[row]).join('')}`;
  });
  const floor = `${'0%'.padStart(AXIS_WIDTH - 2)} ${hasBlocks ? '└' : '+'}${(hasBlocks ? '─' : '-').repeat(columns)}`;
  const axis = `${' '.repeat(AXIS_WIDTH)}${axisLabels(ramp, end, columns)}`;
  const legend = ramp.bands.map(({ label }, index) => `${glyphs[index]} ${label}`).join('   ');
  return [...lines, floor, axis.trimEnd(), `${' '.repeat(AXIS_WIDTH)}${legend}`];
}

/** The characters of one column, from the bottom. */
function columnOf(shares: readonly number[], glyphs: readonly string[]): readonly string[] {
  return Array.from({ length: HEIGHT }, (_, row) => {
    const middle = (row + 0.5) / HEIGHT;
    let sum = 0;
    const band = shares.findIndex((share) => {
      sum += share;
      return middle < sum;
    });
    return glyphs[band] ?? ' ';
  });
}

/** The line of labels: each label that has room is at its time. */
function axisLabels({ times, startLabel }: VersionRamp, end: number, columns: number): string {
  const start = times[0]?.at ?? 0;
  let line = '';
  for (const { at } of times) {
    const label = timeLabel(at - start, startLabel);
    const column = Math.round(((at - start) / (end - start)) * columns);
    // The last label may begin further left, so that it has room.
    const place = Math.min(column, columns - label.length);
    if (line === '' || place >= line.length + 2) line = line.padEnd(place) + label;
  }
  return line;
}
