/** A benchmark's report: one aligned table that shows each target beside its measurement. */

interface Target {
  readonly value: number;
  readonly max: number;
  /** Printed after the target, with its leading space: ` ×`, ` MiB`. */
  readonly unit: string;
}

export interface Row {
  readonly cells: readonly string[];
  readonly target?: Target;
}

export interface Table {
  readonly title: string;
  /** One heading per cell of a row, without the target's column. */
  readonly heading: readonly string[];
  readonly rows: readonly Row[];
  /** Notes on the method: how the benchmark measured, and what it left out and why. One line each. */
  readonly notes: readonly string[];
}

export const NOTHING = '–';

export function timesOf(value: number): string {
  return `${value.toFixed(2)} ×`;
}

export function isMissed({ target }: Row): boolean {
  return target !== undefined && !(target.value <= target.max);
}

export function renderTable({ title, heading, rows, notes }: Table): string {
  const lines = [
    [...heading, 'target'],
    ...rows.map((row) => [...row.cells, targetText(row)] as string[]),
  ];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] ?? '').length)),
  );
  const render = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        // The first and last columns are text; the others are numbers, aligned to the right.
        return column === 0 || column === heading.length
          ? cell.padEnd(width)
          : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const [head = '', ...body] = rows.length === 0 ? [] : lines.map(render);
  const rule = '─'.repeat(Math.max(...[head, ...body].map((line) => line.length)));
  const table = rows.length === 0 ? [] : [head, rule, ...body];
  return [title, '', ...table, ...notes.map((note) => `  ${note}`), ''].join('\n');
}

function targetText(row: Row): string {
  if (row.target === undefined) return '';
  const { value, max, unit } = row.target;
  const digits = unit === ' ×' ? 2 : 0;
  const verdict = isMissed(row) ? 'MISSED' : 'ok';
  return `${value.toFixed(digits)} ≤ ${max}${unit}  ${verdict}`;
}
