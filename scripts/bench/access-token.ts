import type { CallCost } from './access-token-process.ts';
import type { BenchContext } from './bench.ts';
import { type Child, startChild } from './child.ts';
import { interleave, median, medianRatio } from './statistic.ts';
import { type Row, type Table, timesOf } from './table.ts';

/** Compares authenticating a request with only verifying the token's signature. */

const RATIO_MAX = 1.5;
const CALLS_WARM = 3_000;
const CALLS = 8_000;

const SUBJECTS = ['jose', 'accessTokens', 'principal', 'developerKey'] as const;
const TEXTS: Readonly<Record<(typeof SUBJECTS)[number], string>> = {
  principal: 'requirePrincipal and requireFeature',
  accessTokens: '  of that, AccessTokens.verify',
  jose: '  jose jwtVerify with an imported key',
  developerKey: 'developer key, cached',
};

export async function benchAccessToken(context: BenchContext): Promise<readonly Table[]> {
  const { workspace, rounds, nodeArgs, progress } = context;
  const module = workspace.module('scripts/bench/access-token-process');
  const children = {} as Record<(typeof SUBJECTS)[number], Child>;
  for (const subject of SUBJECTS) {
    children[subject] = await startChild(module, { cwd: workspace.path, execArgv: nodeArgs });
  }
  try {
    const ask = (subject: (typeof SUBJECTS)[number], calls: number) =>
      children[subject].ask<CallCost>({ do: 'measure', subject, calls });
    for (const subject of SUBJECTS) await ask(subject, CALLS_WARM);
    const measured = await interleave(SUBJECTS, rounds, (subject, round) => {
      progress(`access-token: ${subject}, round ${round + 1} of ${rounds}`);
      return ask(subject, CALLS);
    });
    return [{ ...TABLE, rows: rowsOf(measured), notes: [noteOn(rounds), ...TABLE.notes] }];
  } finally {
    await Promise.all(Object.values(children).map((child) => child.stop()));
  }
}

const TABLE = {
  title: 'access-token: authentication and authorization',
  heading: ['', 'CPU µs/call', '× jose', 'µs/call', '× jose'],
  notes: [
    'CPU is process.cpuUsage() of all threads, because other threads verify the signatures. µs/call is the time until the result, one call after the other.',
    'The target applies to both ratios; the row shows the higher one. The baseline checks the same: algorithm, type, issuer, audience, claims and times.',
    'The service reads a developer key from the store at most once in 30 seconds, and hashes it on every call.',
  ],
};

function noteOn(rounds: number): string {
  return `Medians of ${rounds} rounds of ${CALLS} calls, alternating between the rows; each row has its own process. Ratios are medians of the ratios within each round.`;
}

function rowsOf(
  measured: Readonly<Record<(typeof SUBJECTS)[number], readonly CallCost[]>>,
): readonly Row[] {
  const cpu = (subject: (typeof SUBJECTS)[number]) => measured[subject].map((m) => m.cpuMicros);
  const wall = (subject: (typeof SUBJECTS)[number]) => measured[subject].map((m) => m.wallMicros);
  return (Object.keys(TEXTS) as (typeof SUBJECTS)[number][]).map((subject) => {
    const ratios = [
      medianRatio(cpu(subject), cpu('jose')),
      medianRatio(wall(subject), wall('jose')),
    ] as const;
    const cells = [
      TEXTS[subject],
      median(cpu(subject)).toFixed(1),
      timesOf(ratios[0]),
      median(wall(subject)).toFixed(1),
      timesOf(ratios[1]),
    ];
    const target = { value: Math.max(...ratios), max: RATIO_MAX, unit: ' ×' };
    return subject === 'principal' ? { cells, target } : { cells };
  });
}
