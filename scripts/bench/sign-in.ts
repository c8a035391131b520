import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { type Child, startChild } from './child.ts';
import { fillApplication, openDirectoryTarget, versionAt } from './content.ts';
import { type Load, type Paced, startLoad } from './load.ts';
import { checks } from './routes.ts';
import { makeBucket, S3_SKIPPED } from './s3.ts';
import { type Environment, type RunningServer, startService } from './server.ts';
import type { Answers, Timed } from './sign-in-process.ts';
import { median, quantile, rankSum, ratios } from './statistic.ts';
import { NOTHING, type Row, type Table } from './table.ts';

/** Measures update checks while many users sign in, and whether answer times reveal who has an account. */

const RATIO_MAX = 2;
const ROUND_SHARE = 0.25;
/** The sign-ins begin this long before the first check, and end this long after the last. */
const LEAD_MS = 500;
/** A few percent of what one process can answer, so that the load generator measures no queue of its own. */
const CHECKS_PER_SECOND = 200;
const CLIENTS = 40;
/** Enough to stay below the limit of sign-ins a minute per account. */
const ACCOUNTS = 160;
const PAIRS = 100;
const PLAN = { application: 'desktop', channels: { stable: 50, beta: 5 }, retired: 0 };
/** Not in production, where visitors need a captcha to register. An empty value counts as not set. */
const SETTINGS = {
  NODE_ENV: '',
  IDENTITY_PROVIDER: 'embedded',
  REGISTRATION: 'open',
  AUTH_PER_ADDRESS: '999999',
};

const PHASES = {
  quiet: 'quiet',
  signIn: `${CLIENTS} clients signing in`,
  hash: 'the same hashing in another process',
} as const;
type Phase = keyof typeof PHASES;
const PHASE_NAMES = Object.keys(PHASES) as readonly Phase[];

export async function benchSignIn(context: BenchContext): Promise<readonly Table[]> {
  const DATA_DIR = await context.workspace.makeDirectory();
  await fillApplication(await openDirectoryTarget(DATA_DIR), PLAN);
  const tables = await measureStore(context, 'directory', { DATA_DIR });
  if (context.s3 === undefined) {
    return [...tables, { title: 'sign-in, S3', heading: [], rows: [], notes: [S3_SKIPPED] }];
  }
  const bucket = await makeBucket(context.s3);
  try {
    const env = { ...bucket.env, DATA_DIR: await context.workspace.makeDirectory() };
    return [...tables, await withService(context, 'S3', env, measureTimes)];
  } finally {
    await bucket.remove();
  }
}

interface Setting {
  readonly store: string;
  readonly server: RunningServer;
  readonly clients: Child;
}

async function measureStore(
  context: BenchContext,
  store: string,
  env: Environment,
): Promise<readonly Table[]> {
  return withService(context, store, env, async (inner, setting) => [
    await measureStorm(inner, setting),
    await measureTimes(inner, setting),
  ]);
}

async function withService<T>(
  context: BenchContext,
  store: string,
  env: Environment,
  use: (context: BenchContext, setting: Setting) => Promise<T>,
): Promise<T> {
  const server = await startService(context, { ...env, ...SETTINGS });
  const clients = await startChild('sign-in-process.ts');
  try {
    context.progress(`sign-in: registering ${ACCOUNTS} accounts, ${store}`);
    await clients.ask({ do: 'register', url: server.url, accounts: ACCOUNTS });
    return await use(context, { store, server, clients });
  } finally {
    await Promise.all([clients.stop(), server.stop()]);
  }
}

type Measured = Record<Phase, { readonly paced: Paced; readonly answers: Answers }[]>;

async function measureStorm(context: BenchContext, setting: Setting): Promise<Table> {
  const load = await startLoad();
  const measured: Measured = { quiet: [], signIn: [], hash: [] };
  try {
    for (let round = 0; round <= context.rounds; round++) {
      for (const phase of PHASE_NAMES) {
        context.progress(`sign-in: ${PHASES[phase]}, round ${round}`);
        const result = await measurePhase(context, setting, load, phase);
        // The first round warms the service up.
        if (round > 0) measured[phase].push(result);
      }
    }
  } finally {
    await load.stop();
  }
  return stormTable(measured, context);
}

async function measurePhase(
  context: BenchContext,
  { server, clients }: Setting,
  load: Load,
  phase: Phase,
): Promise<Measured[Phase][number]> {
  const seconds = context.seconds * ROUND_SHARE;
  const question = { url: server.url, clients: CLIENTS, accounts: ACCOUNTS };
  const until = seconds + (2 * LEAD_MS) / 1000;
  const traffic = { requests: checks([versionAt(0)], '"update_available":true') };
  const [answers, paced] = await Promise.all([
    phase === 'quiet' ? {} : clients.ask<Answers>({ do: phase, ...question, seconds: until }),
    sleep(LEAD_MS).then(() => load.pace(server, traffic, CHECKS_PER_SECOND, seconds)),
  ]);
  return { paced, answers };
}

function stormTable(measured: Measured, { rounds }: BenchContext): Table {
  const at = (phase: Phase, share: number): readonly number[] =>
    measured[phase].map(({ paced }) => quantile(paced.times, share));
  const rows = PHASE_NAMES.map((phase): Row => {
    const all = ratios(at(phase, 0.99), at('quiet', 0.99));
    const value = median(all);
    const isQuiet = phase === 'quiet';
    const cells = [
      PHASES[phase],
      median(at(phase, 0.5)).toFixed(2),
      median(at(phase, 0.99)).toFixed(2),
      isQuiet ? NOTHING : `${value.toFixed(2)} ×`,
      isQuiet ? NOTHING : `${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)}`,
      median(measured[phase].map(({ paced }) => paced.lateMs)).toFixed(1),
    ];
    return phase === 'signIn'
      ? { cells, target: { value, max: RATIO_MAX, unit: ' ×' } }
      : { cells };
  });
  const sums: Record<string, number> = {};
  for (const { answers } of measured.signIn) {
    for (const [status, count] of Object.entries(answers)) {
      sums[status] = (sums[status] ?? 0) + count;
    }
  }
  const counts = Object.entries(sums).map(([status, count]) => `${count} × ${status}`);
  return {
    title: `sign-in: check-update, ${CHECKS_PER_SECOND} a second, while users sign in`,
    heading: ['', 'p50 ms', 'p99 ms', 'p99 ÷ quiet', 'min–max', 'load late by ms'],
    rows,
    notes: [
      `Medians of ${rounds} rounds. The load generator sends at a fixed pace and does not wait for answers; late: by how much it sent too late itself.`,
      `Half of the sign-ins have the right password, a quarter a wrong one, and a quarter an address without an account; answered ${counts.join(', ')}.`,
      'The hashing in another process, one hash at a time, shows what the machine contributes.',
    ],
  };
}

async function measureTimes(context: BenchContext, setting: Setting): Promise<Table> {
  const rows: Row[] = [];
  for (const route of ['register', 'login']) {
    context.progress(`sign-in: times of ${route}, ${setting.store}`);
    const question = { do: 'time', url: setting.server.url, route, pairs: PAIRS };
    const { known, unknown } = await setting.clients.ask<Timed>(question);
    const { share, z } = rankSum(known, unknown);
    rows.push({
      cells: [
        route,
        String(known.length),
        median(known).toFixed(2),
        median(unknown).toFixed(2),
        `${(share * 100).toFixed(1)} %`,
        z.toFixed(2),
      ],
    });
  }
  return {
    title: `sign-in, ${setting.store} store: do answer times reveal which addresses have an account?`,
    heading: ['', 'pairs', 'known ms', 'unknown ms', 'known is slower', 'z'],
    rows,
    notes: [
      'Pairs of requests, one with an address that has an account (known) and one with an address that has none, in random order, one at a time. Medians.',
      'Known is slower: in this share of all pairs of a known and an unknown time; at 50 % the times reveal nothing. Without a difference, z is within ±1.96 in 95 of 100 runs.',
    ],
  };
}
