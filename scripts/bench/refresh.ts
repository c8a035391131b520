import type { BenchContext } from './bench.ts';
import { startChild } from './child.ts';
import type { RequestCount } from './counting-store.ts';
import { makeBucket, S3_SKIPPED } from './s3.ts';
import { interleave, median, medianRatio, quantile } from './statistic.ts';
import { NOTHING, type Row, type Table, timesOf } from './table.ts';

/** Compares refreshing a session with only the store requests that it needs. */

const REQUESTS_MAX = 5;
const TRIPS_MAX = 2;
const CALLS_WARM = 50;
const CALLS = 100;
const CALLS_COUNTED = 100;

const SUBJECTS = ['refresh', 'raw'] as const;

export async function benchRefresh(context: BenchContext): Promise<readonly Table[]> {
  const directory = await context.workspace.makeDirectory();
  const rows = [...(await measureStore(context, 'directory', { DATA_DIR: directory }))];
  if (context.s3 === undefined) return [tableOf(context, rows, [S3_SKIPPED])];
  const bucket = await makeBucket(context.s3);
  try {
    rows.push(...(await measureStore(context, 'S3', bucket.env)));
  } finally {
    await bucket.remove();
  }
  return [tableOf(context, rows, [])];
}

function tableOf({ rounds }: BenchContext, rows: readonly Row[], notes: readonly string[]): Table {
  return {
    title: 'refresh: refreshing a session',
    heading: ['', 'median', 'p90', 'ratio'],
    rows,
    notes: [
      `Requests and round trips: the highest counts in ${CALLS_COUNTED} refreshes. Requests sent before the store answers any of them count as one round trip.`,
      `Times in milliseconds: the median of the medians, and of the p90s, of ${rounds} rounds. A round is ${CALLS} sequential refreshes of one session, alternating with as many raw runs.`,
      'Raw: at the same time, a get of a present object, two gets of missing objects and a head; then a create of 600 bytes, the size of a session document. Nothing is parsed or checked.',
      ...notes,
    ],
  };
}

async function measureStore(
  context: BenchContext,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly Row[]> {
  const { workspace, rounds, nodeArgs, progress } = context;
  const module = workspace.module('scripts/bench/refresh-process');
  const child = await startChild(module, { cwd: workspace.path, execArgv: nodeArgs, env });
  try {
    await child.ask({ do: 'open', env });
    const ask = (subject: (typeof SUBJECTS)[number], calls: number) =>
      child.ask<readonly number[]>({ do: 'measure', subject, calls });
    for (const subject of SUBJECTS) await ask(subject, CALLS_WARM);
    const measured = await interleave(SUBJECTS, rounds, (subject, round) => {
      progress(`refresh: ${subject} on ${name}, round ${round + 1} of ${rounds}`);
      return ask(subject, CALLS);
    });
    const most = await child.ask<RequestCount>({ do: 'count', calls: CALLS_COUNTED });
    const ratio = medianRatio(measured.refresh.map(median), measured.raw.map(median));
    return [
      countRow(`${name}, store requests`, most.requests, REQUESTS_MAX),
      countRow(`${name}, round trips`, most.trips, TRIPS_MAX),
      { cells: [`${name}, refresh`, ...timesIn(measured.refresh), timesOf(ratio)] },
      { cells: ['  five raw requests in two round trips', ...timesIn(measured.raw), NOTHING] },
    ];
  } finally {
    await child.stop();
  }
}

function countRow(text: string, value: number, max: number): Row {
  return { cells: [text, String(value), NOTHING, NOTHING], target: { value, max, unit: '' } };
}

function timesIn(rounds: readonly (readonly number[])[]): readonly string[] {
  const p90 = rounds.map((times) => quantile(times, 0.9));
  return [median(rounds.map(median)).toFixed(2), median(p90).toFixed(2)];
}
