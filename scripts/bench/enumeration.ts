import type { BenchContext } from './bench.ts';
import { type Child, startChild } from './child.ts';
import type { Timed } from './enumeration-process.ts';
import { makeBucket, S3_SKIPPED } from './s3.ts';
import { startService } from './service.ts';
import { median, quantile, rankSum } from './statistic.ts';
import { NOTHING, type Row, type Table, timesOf } from './table.ts';

/** Measures whether response times reveal which mail addresses have an account. */

const PAIRS = 300;
const PAIRS_WARM = 30;
/** Concurrent requests. A failed sign-in takes half a second, so one lane would take too long. */
const LANES = { register: 1, login: 4 } as const;
const ROUTES = ['register', 'login'] as const;

export async function benchEnumeration(context: BenchContext): Promise<readonly Table[]> {
  const rows = [...(await measureStore(context, 'directory', {}))];
  if (context.s3 === undefined) return [{ ...TABLE, rows, notes: [...TABLE.notes, S3_SKIPPED] }];
  const bucket = await makeBucket(context.s3);
  try {
    rows.push(...(await measureStore(context, 'S3', bucket.env)));
  } finally {
    await bucket.remove();
  }
  return [{ ...TABLE, rows }];
}

const TABLE = {
  title: 'enumeration: do response times reveal which addresses have an account?',
  heading: ['', 'known ms', 'unknown ms', 'p90 ms', 'p90 ms', 'ratio', 'known is slower', 'z'],
  notes: [
    `${PAIRS} pairs of HTTP requests: one address with an account (known) and one without (unknown), in random order. Medians, p90s, and the ratio of the medians.`,
    'Known is slower: the share of all pairs of a known and an unknown time (Mann-Whitney); at 50 % the times reveal nothing. Without a difference, z is within ±1.96 in 95 of 100 runs.',
    'register: one request at a time. login: wrong passwords, four requests at a time.',
  ],
};

async function measureStore(
  context: BenchContext,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly Row[]> {
  const { workspace, progress } = context;
  const directory = await workspace.makeDirectory();
  const settings = { ...env, DATA_DIR: directory, AUTH_PER_ADDRESS: '999999' };
  const service = await startService(context, settings);
  const module = workspace.module('scripts/bench/enumeration-process');
  const child = await startChild(module, { cwd: workspace.path });
  try {
    progress(`enumeration: registering accounts on ${name}`);
    const accounts = PAIRS + PAIRS_WARM;
    await child.ask({ do: 'register', url: service.url, accounts });
    const rows: Row[] = [];
    for (const route of ROUTES) {
      progress(`enumeration: ${route} on ${name}`);
      rows.push(rowOf(`${route}, ${name}`, await timePairs(child, service.url, route)));
    }
    return rows;
  } finally {
    await Promise.all([child.stop(), service.stop()]);
  }
}

async function timePairs(
  child: Child,
  url: string,
  route: (typeof ROUTES)[number],
): Promise<Timed> {
  const question = { do: 'time', url, route, lanes: LANES[route] };
  await child.ask({ ...question, pairs: PAIRS_WARM, first: PAIRS });
  return child.ask<Timed>({ ...question, pairs: PAIRS, first: 0 });
}

function rowOf(text: string, { known, unknown }: Timed): Row {
  const { share, z } = rankSum(known, unknown);
  return {
    cells: [
      text,
      median(known).toFixed(2),
      median(unknown).toFixed(2),
      quantile(known, 0.9).toFixed(2),
      quantile(unknown, 0.9).toFixed(2),
      timesOf(median(known) / median(unknown)),
      `${(share * 100).toFixed(1)} %`,
      Number.isFinite(z) ? z.toFixed(2) : NOTHING,
    ],
  };
}
