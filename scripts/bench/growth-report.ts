import type { BenchContext } from './bench.ts';
import { offersMax } from './content.ts';
import { CHANNELS, record, type Subject } from './growth-subject.ts';
import { median, ratios } from './statistic.ts';
import { NOTHING, type Row, type Table } from './table.ts';

/** The table of the growth benchmark: a row for each figure, a column for each store. */

/** Resident memory is read this many times `seconds` after the start: a minute by default. */
export const RESTING_FACTOR = 3;
const EMPTY_MIB_MAX = 140;

type Summary = (values: readonly number[]) => number;
const highest: Summary = (values) => Math.max(...values);

/** What was recorded under `name`: as the median or another summary of the rounds. */
interface Figure {
  readonly text: string;
  readonly name: string;
  readonly digits: number;
  readonly summary?: Summary;
  readonly limit?: { readonly max: number; readonly unit: string };
}

const blocked = { digits: 1, summary: highest, limit: { max: 20, unit: ' ms' } };
const memory = { digits: 0, limit: { max: 500, unit: ' MiB' } };
const ratio = { digits: 2, limit: { max: 1.1, unit: ' ×' } };
const FIGURES: readonly Figure[] = [
  { text: 'first answer after a fresh start, ms', name: 'first answer, fresh', digits: 0 },
  { text: 'first answer after a restart, ms', name: 'first answer, restarted', digits: 0 },
  { text: 'resident memory at rest, MiB', name: 'resident memory', ...memory },
  { text: 'publish, ms', name: 'publish', digits: 0 },
  { text: 'bytes read a second at rest', name: 'read a second', digits: 0 },
  { text: 'check-update, µs of processor time', name: 'check-update', digits: 1 },
  { text: 'check-update ÷ with 10 releases', name: 'check-update ratio', ...ratio },
  { text: 'check-update p99, new revision, ms', name: 'p99, new revision', digits: 1 },
  { text: 'check-update maximum, new revision, ms', name: 'maximum, new revision', digits: 1 },
  { text: 'checks refused as overload', name: 'refused', digits: 0, summary: highest },
  { text: 'longest /livez, fresh start, ms', name: 'start, fresh', ...blocked },
  { text: 'longest /livez, restart, ms', name: 'start, restarted', ...blocked },
  { text: 'longest /livez, new revision, ms', name: 'new revision', ...blocked },
  { text: 'longest /livez, rolling up, ms', name: 'start, rolling up counts', ...blocked },
  { text: 'longest of an idle server, ms', name: 'idle server', digits: 1, summary: highest },
];

/** The second store is the one that the others are compared with. */
export function report({ rounds, seconds }: BenchContext, subjects: readonly Subject[]): Table {
  const valuesOf = (subject: Subject | undefined, name: string): readonly number[] =>
    subject?.measured.get(name) ?? [];
  const [empty, ten, , largest] = subjects;
  for (const subject of subjects) {
    const all = ratios(valuesOf(subject, 'check-update'), valuesOf(ten, 'check-update'));
    for (const value of all) record(subject, 'check-update ratio', value);
  }
  const rowOf = ({ text, name, digits, summary = median, limit }: Figure): Row => {
    const values = subjects.map((subject) => valuesOf(subject, name));
    const measured = values.filter(({ length }) => length > 0);
    const cells = values.map((all) => (all.length > 0 ? summary(all).toFixed(digits) : NOTHING));
    const target = limit && { value: Math.max(...measured.map(summary)), ...limit };
    return { cells: [text, ...cells], target };
  };
  const emptyMib = median(valuesOf(empty, 'resident memory'));
  const blank = subjects.slice(1).map(() => NOTHING);
  const emptyRow: Row = {
    cells: ['resident memory of an empty service, MiB', emptyMib.toFixed(0), ...blank],
    target: { value: emptyMib, max: EMPTY_MIB_MAX, unit: ' MiB' },
  };
  return {
    title: 'growth: releases of one application, and applications × releases',
    heading: ['', ...subjects.map(({ name }) => name)],
    rows: [emptyRow, ...FIGURES.map(rowOf)],
    notes: [
      `Directory store, ${CHANNELS} channels. Medians of ${rounds} rounds; the longest answers are the longest of all rounds, asked every 2 ms for ${seconds} s. At rest: ${RESTING_FACTOR * seconds} s after the start.`,
      `The largest application has room for ${offersMax(largest?.releases ?? 0).toLocaleString('en')} offers; its other releases are retired.`,
      'The idle server is bare node:http, asked at the same times: what exceeds its longest answer is due to the service.',
      'The new revision changes one offer of the largest application. Rolling up: at its start the service adds the counts of a process that ended hours ago.',
      'Bytes read at rest: from files and sockets, status probes included.',
    ],
  };
}
