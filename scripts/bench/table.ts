/** A benchmark's report: one table that shows each target beside its measurement. */

/** A measurement and the most or the least that it may be. `unit` is printed after the limit, with its leading space: ` ×`, ` MiB`. */
type Target = { readonly value: number; readonly unit: string } & (
  | { readonly max: number }
  | { readonly min: number }
);

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
  if (target === undefined) return false;
  return !('max' in target ? target.value <= target.max : target.value >= target.min);
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
  const { target } = row;
  const limit = 'max' in target ? `≤ ${target.max}` : `≥ ${target.min}`;
  return `${limit}${target.unit}: ${isMissed(row) ? '**missed**' : 'held'}`;
}
