import type { Server } from './child-process.ts';
import { comparedTable, type Results } from './compare.ts';
import { offersMax } from './content.ts';
import type { BenchContext } from './context.ts';
import { median, type Row, type Table } from './table.ts';

/** The measured values of the growth benchmark, and its tables. */

export const CHANNELS = 10;
export const PACE = 500;
export const CLIENTS = 30_000;
/**
 * The time from the start of a service to the reading of its memory, as a multiple of `seconds`: a minute by default.
 */
export const RESTING_FACTOR = 3;

/** The measured values. Each has a text, a number of decimal digits, and an upper limit. */
const FIGURES = {
  fresh: ['first answer after a fresh start, ms', 0, undefined],
  restarted: ['first answer after a restart, ms', 0, undefined],
  memory: ['resident memory at rest, MiB', 0, 500],
  read: ['bytes read a second at rest', 0, undefined],
  publish: ['publish, ms', 0, undefined],
  p99: ['check-update p99, new revision, ms', 1, undefined],
  maximum: ['check-update maximum, new revision, ms', 1, undefined],
  refused: ['checks refused as overload', 0, undefined],
  blockedFresh: ['longest /livez, fresh start, ms', 1, 20],
  blockedRestarted: ['longest /livez, restart, ms', 1, 20],
  blockedRevision: ['longest /livez, new revision, ms', 1, 20],
  blockedRollUp: ['longest /livez, rolling up, ms', 1, 20],
  idle: ['longest of an idle server, ms', 1, undefined],
} as const;
export type Figure = keyof typeof FIGURES;

/** A store of one size, and the measured values for it. */
export interface Subject {
  readonly name: string;
  readonly applications: number;
  readonly dataDirectory: string;
  /** The service that runs on this store. */
  server?: Server;
  /** See {@link fillApplication}. */
  readonly prepareChange?: () => () => Promise<number>;
  readonly measured: Map<Figure, number[]>;
}

export function record({ measured }: Subject, figure: Figure, value: number): void {
  measured.set(figure, [...(measured.get(figure) ?? []), value]);
}

export function tablesOf(
  { rounds, seconds, releases }: BenchContext,
  empty: Subject,
  filled: readonly Subject[],
  checks: Results,
): readonly Table[] {
  const rows = Object.entries(FIGURES).map(([figure, [text, digits, max]]): Row => {
    const summary = text.startsWith('longest') ? (all: number[]) => Math.max(...all) : median;
    const values = filled.map(({ measured }) => summary(measured.get(figure as Figure) ?? []));
    const cells = [text, ...values.map((value) => value.toFixed(digits))];
    if (max === undefined) return { cells };
    return { cells, target: { value: Math.max(...values), limit: { max }, unit: '' } };
  });
  const memory = median(empty.measured.get('memory') ?? []);
  const target = { value: memory, limit: { max: 140 }, unit: '' };
  return [
    {
      title: 'growth: releases of one application, and applications × releases',
      heading: ['', ...filled.map(({ name }) => name)],
      rows: [
        ...rows,
        { cells: ['resident memory of an empty service, MiB', memory.toFixed(0)], target },
      ],
      notes: [
        `Directory store, ${CHANNELS} channels. Medians of ${rounds} rounds; of the longest answers the longest, asked ${PACE} times a second for ${seconds} s. At rest: ${RESTING_FACTOR * seconds} s after the start.`,
        `The largest application has room for ${offersMax(releases)} offers; its other releases are retired.`,
        'The idle server is bare node:http, asked at the same times: what exceeds its longest answer is due to the service.',
        'The new revision changes one offer. Rolling up: at its start the service adds the counts of a process that ended hours ago.',
      ],
    },
    comparedTable(
      'growth: processor time of check-update ÷ the same with 10 releases',
      'µs',
      checks,
      [`Medians of ${rounds} rounds; ${CLIENTS} clients of every application and platform.`],
    ),
  ];
}
