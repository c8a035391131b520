import type { Interval } from './statistics.ts';

/** The report of a benchmark: a table that shows each target beside the measured value. */

/** The highest or the lowest value that a measurement may have. */
export type Limit = { readonly max: number } | { readonly min: number };

export interface Row {
  readonly cells: readonly string[];
  /** The table shows `unit` after the limit. `unit` begins with a space: ` ×`, ` MiB`. */
  readonly target?: {
    readonly value: number;
    /** The interval in which the true value lies. Without it, the value is taken as true. */
    readonly interval?: Interval;
    readonly limit: Limit;
    readonly unit: string;
  };
}

export interface Table {
  /** The block of the documents that has the table. Without it, the block has the name of the benchmark. */
  readonly block?: string | undefined;
  readonly title: string;
  /** One heading for each cell of a row. The column of the target has no heading here. */
  readonly heading: readonly string[];
  readonly rows: readonly Row[];
  /** How the benchmark measured, what it left out, and the reasons. Each note is one line. */
  readonly notes: readonly string[];
}

/** What an interval says about a target. */
export function verdictOf({ low, high }: Interval, limit: Limit): 'held' | 'missed' | 'not sure' {
  if ('max' in limit ? high <= limit.max : low >= limit.min) return 'held';
  if ('max' in limit ? low > limit.max : high < limit.min) return 'missed';
  return 'not sure';
}

function verdict({ value, interval, limit }: NonNullable<Row['target']>) {
  return verdictOf(interval ?? { low: value, high: value }, limit);
}

export function isMissed({ target }: Row): boolean {
  return target !== undefined && verdict(target) === 'missed';
}

/** Renders a table in Markdown, with aligned columns so that a terminal shows it as well. */
export function renderTable({ title, heading, rows, notes }: Table): string {
  const lines = [
    [...heading, 'target'],
    ...rows.map((row) => [...heading.map((_, at) => row.cells[at] ?? ''), targetText(row)]),
  ];
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

function targetText({ target }: Row): string {
  if (target === undefined) return '';
  const { limit, unit } = target;
  const text = 'max' in limit ? `≤ ${limit.max}` : `≥ ${limit.min}`;
  return `${text}${unit}: ${isMissed({ cells: [], target }) ? '**missed**' : verdict(target)}`;
}
