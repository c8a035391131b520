/** A benchmark's report: one table that shows each target beside its measurement. */

/** A measurement and its limit. `unit` is printed after the limit, with its leading space: ` ×`, ` MiB`. */
interface Target {
  readonly value: number;
  readonly max: number;
  readonly unit: string;
}

export interface Row {
  readonly cells: readonly string[];
  readonly target?: Target | undefined;
}

export interface Table {
  readonly title: string;
  /** One heading per cell of a row, without the target's column. */
  readonly heading: readonly string[];
  readonly rows: readonly Row[];
  /** How the benchmark measured, and what it left out and why. One line each. */
  readonly notes: readonly string[];
}

export const NOTHING = '–';

export function isMissed({ target }: Row): boolean {
  return target !== undefined && !(target.value <= target.max);
}

/** Renders a table in Markdown, with aligned columns so that a terminal shows it as well. */
export function renderTable({ title, heading, rows, notes }: Table): string {
  const lines = [
    [...heading, 'target'],
    ...rows.map((row) => [...row.cells, targetText(row)] as readonly string[]),
  ];
  const widths = [...heading, 'target'].map((_, column) =>
    Math.max(3, ...lines.map((cells) => (cells[column] ?? '').length)),
  );
  const render = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = '', ...body] = lines.map(render);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const table = rows.length === 0 ? [] : [head, rule, ...body, ''];
  return [`### ${title}`, '', ...table, ...notes.map((note) => `- ${note}`), ''].join('\n');
}

function targetText(row: Row): string {
  if (row.target === undefined) return '';
  const { max, unit } = row.target;
  return `${max}${unit}: ${isMissed(row) ? '**missed**' : 'held'}`;
}
