/** The report of a benchmark: a table that shows each target beside the measured value. */

/** The highest or the lowest value that a measurement may have. */
export type Limit = { readonly max: number } | { readonly min: number };

export interface Row {
  readonly cells: readonly string[];
  /** The table shows `unit` after the limit. `unit` begins with a space: ` ×`, ` MiB`. */
  readonly target?: { readonly value: number; readonly limit: Limit; readonly unit: string };
}

export interface Table {
  readonly title: string;
  /** One heading for each cell of a row. The column of the target has no heading here. */
  readonly heading: readonly string[];
  readonly rows: readonly Row[];
  /** How the benchmark measured, what it left out, and the reasons. Each note is one line. */
  readonly notes: readonly string[];
}

export function isMissed({ target }: Row): boolean {
  if (target === undefined) return false;
  const { value, limit } = target;
  return !('max' in limit ? value <= limit.max : value >= limit.min);
}

/** Renders a table in Markdown, with aligned columns so that a terminal shows it as well. */
export function renderTable({ title, heading, rows, notes }: Table): string {
  const lines = [[...heading, 'target'], ...rows.map((row) => [...row.cells, targetText(row)])];
  const widths = [...heading, 'target'].map((_, column) =>
    Math.max(3, ...lines.map((cells) => (cells[column] ?? '').length)),
  );
  const render = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [head = '', ...body] = lines.map(render);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [`### ${title}`, '', head, rule, ...body, '', ...notes.map((n) => `- ${n}`), ''].join(
    '\n',
  );
}

function targetText(row: Row): string {
  if (row.target === undefined) return '';
  const { limit, unit } = row.target;
  const text = 'max' in limit ? `≤ ${limit.max}` : `≥ ${limit.min}`;
  return `${text}${unit}: ${isMissed(row) ? '**missed**' : 'held'}`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1
    ? upper
    : ((sorted[(sorted.length >> 1) - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value for which at least the part `share` of all values is smaller or equal. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
