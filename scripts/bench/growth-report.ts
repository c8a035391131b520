import type { BenchContext } from './bench.ts';
import { offersMax } from './content.ts';
import { CHANNELS, record, type Subject } from './growth-subject.ts';
import { median, ratios } from './statistic.ts';
import { NOTHING, type Row, type Table } from './table.ts';

/** The table of the growth benchmark: a row for each figure, a column for each store. */

const CPU_RATIO_MAX = 1.1;
const BLOCKED_MS_MAX = 20;
const EMPTY_MIB_MAX = 140;
const LARGE_MIB_MAX = 500;
/** Resident memory is read this many times `seconds` after the start: a minute by default. */
export const RESTING_FACTOR = 3;

/** What is measured more than once in a row. */
interface Figure {
  readonly text: string;
  /** The name under which it was recorded. */
  readonly name: string;
  readonly digits: number;
  readonly target?: { readonly max: number; readonly unit: string };
  /** Default: the median of the rounds. */
  readonly summary?: 'highest';
}

function valuesOf(subject: Subject | undefined, name: string): readonly number[] {
  return subject?.measured.get(name) ?? [];
}

/** @returns one value for each store; not a number where it was not measured */
function summariesOf(subjects: readonly Subject[], { name, summary }: Figure): readonly number[] {
  return subjects.map((subject) => {
    const values = valuesOf(subject, name);
    if (values.length === 0) return Number.NaN;
    return summary === 'highest' ? Math.max(...values) : median(values);
  });
}

function rowOf(subjects: readonly Subject[], figure: Figure): Row {
  const values = summariesOf(subjects, figure);
  const cells = values.map((value) =>
    Number.isFinite(value) ? value.toFixed(figure.digits) : NOTHING,
  );
  const { target } = figure;
  const worst = Math.max(...values.filter(Number.isFinite));
  return {
    cells: [figure.text, ...cells],
    ...(target === undefined ? {} : { target: { value: worst, ...target } }),
  };
}

const CPU_RATIO = 'check-update ratio';
const BLOCKED = {
  digits: 1,
  target: { max: BLOCKED_MS_MAX, unit: ' ms' },
  summary: 'highest' as const,
};
const FIGURES: readonly Figure[] = [
  { text: 'first answer after a fresh start, ms', name: 'first answer, fresh', digits: 0 },
  { text: 'first answer after a restart, ms', name: 'first answer, restarted', digits: 0 },
  {
    ...{ text: 'resident memory at rest, MiB', name: 'resident memory', digits: 0 },
    target: { max: LARGE_MIB_MAX, unit: ' MiB' },
  },
  { text: 'publish, ms', name: 'publish', digits: 0 },
  { text: 'bytes read a second at rest', name: 'read a second', digits: 0 },
  { text: 'check-update, µs of processor time', name: 'check-update', digits: 1 },
  {
    ...{ text: 'check-update ÷ with 10 releases', name: CPU_RATIO, digits: 2 },
    target: { max: CPU_RATIO_MAX, unit: ' ×' },
  },
  { text: 'check-update p99, new revision, ms', name: 'p99, new revision', digits: 1 },
  { text: 'check-update maximum, new revision, ms', name: 'maximum, new revision', digits: 1 },
  {
    ...{ text: 'checks refused as overload, new revision', name: 'refused', digits: 0 },
    summary: 'highest',
  },
  { text: 'longest /livez, fresh start, ms', name: 'start, fresh', ...BLOCKED },
  { text: 'longest /livez, restart, ms', name: 'start, restarted', ...BLOCKED },
  { text: 'longest /livez, new revision, ms', name: 'new revision', ...BLOCKED },
  { text: 'longest /livez, rolling up, ms', name: 'start, rolling up counts', ...BLOCKED },
  {
    ...{ text: 'longest answer of an idle server, ms', name: 'idle server', digits: 1 },
    summary: 'highest',
  },
];

/** The second store is the one that the others are compared with. */
export function report({ rounds, seconds }: BenchContext, subjects: readonly Subject[]): Table {
  const [empty, ten, , largest] = subjects;
  for (const subject of subjects) {
    const all = ratios(valuesOf(subject, 'check-update'), valuesOf(ten, 'check-update'));
    for (const ratio of all) record(subject, CPU_RATIO, ratio);
  }
  const emptyMib = median(valuesOf(empty, 'resident memory'));
  const emptyRow: Row = {
    cells: [
      'resident memory of an empty service, MiB',
      emptyMib.toFixed(0),
      ...subjects.slice(1).map(() => NOTHING),
    ],
    target: { value: emptyMib, max: EMPTY_MIB_MAX, unit: ' MiB' },
  };
  return {
    title: 'growth: releases of one application, and applications × releases',
    heading: ['', ...subjects.map(({ name }) => name)],
    rows: [emptyRow, ...FIGURES.map((figure) => rowOf(subjects, figure))],
    notes: [
      `Directory store, ${CHANNELS} channels. Medians of ${rounds} rounds; the longest answers are the longest of all rounds, asked every 2 ms for ${seconds} s. At rest: ${RESTING_FACTOR * seconds} s after the start.`,
      `The largest application has as many offers as a revision has room for: ${offersMax(largest?.releases ?? 0).toLocaleString('en')}. Its other releases are retired.`,
      'The idle server is bare node:http, asked at the same times: what exceeds its longest answer is due to the service.',
      'The new revision changes one offer of the largest application. Rolling up: at its start the service adds the counts of a process that ended hours ago.',
      'Bytes read at rest: from files and sockets, status probes included.',
    ],
  };
}
