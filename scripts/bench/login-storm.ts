import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { type Child, startChild } from './child.ts';
import { fillDirectory, versionAt } from './content.ts';
import type { Answers, PacedChecks } from './login-storm-process.ts';
import { startService } from './service.ts';
import { interleave, median, medianRatio, quantile } from './statistic.ts';
import { NOTHING, type Row, type Table, timesOf } from './table.ts';

/** Measures whether the service answers update checks as fast while many users sign in. */

const RATIO_MAX = 2;
const ROUNDS_MIN = 5;
const SECONDS = 5;
const SECONDS_WARM = 5;
/** The sign-ins begin this long before the first check, and end this long after the last. */
const LEAD_MS = 500;
/**
 * A few percent of what one process can answer: a client that sends as fast as possible measures its
 * own queue. High enough that ten checks of each phase are slower than its p99.
 */
const CHECKS_PER_SECOND = 200;
const CLIENTS = 40;
/** Enough to stay below the rate limit of five sign-ins a minute per account. */
const ACCOUNTS = 400;
const OFFERS = 50;

const PHASES = ['quiet', 'storm', 'neighbor'] as const;
type Phase = (typeof PHASES)[number];
const TEXTS: Readonly<Record<Phase, string>> = {
  storm: `${CLIENTS} clients signing in`,
  quiet: '  quiet',
  neighbor: '  the same hashing in another process',
};

interface Measured extends PacedChecks {
  readonly answers: Answers;
}

export async function benchLoginStorm(context: BenchContext): Promise<readonly Table[]> {
  const directory = await context.workspace.makeDirectory();
  const plan = { stableOffers: OFFERS, betaOffers: 1, retired: 0, history: false };
  await fillDirectory(directory, { application: 'desktop', ...plan });
  const env = { DATA_DIR: directory, AUTH_PER_ADDRESS: '999999', LOG_LEVEL: 'info' };
  const service = await startService(context, env);
  const { workspace } = context;
  const module = workspace.module('scripts/bench/login-storm-process');
  const start = () => startChild(module, { cwd: workspace.path });
  const [checker, crowd] = await Promise.all([start(), start()]);
  try {
    context.progress(`login-storm: registering ${ACCOUNTS} accounts`);
    await crowd.ask({ do: 'register', url: service.url, accounts: ACCOUNTS });
    const setting = { url: service.url, checker, crowd };
    await measurePhase(setting, 'quiet', SECONDS_WARM);
    await measurePhase(setting, 'storm', SECONDS_WARM);
    const rounds = Math.max(ROUNDS_MIN, context.rounds);
    const measured = await interleave(PHASES, rounds, (phase, round) => {
      context.progress(`login-storm: ${phase}, round ${round + 1} of ${rounds}`);
      return measurePhase(setting, phase, SECONDS);
    });
    return [report(measured, rounds)];
  } finally {
    await Promise.all([checker.stop(), crowd.stop(), service.stop()]);
  }
}

interface Setting {
  readonly url: string;
  readonly checker: Child;
  readonly crowd: Child;
}

async function measurePhase(
  { url, checker, crowd }: Setting,
  phase: Phase,
  seconds: number,
): Promise<Measured> {
  const body = JSON.stringify({
    current_version: versionAt(OFFERS - 20),
    platform: 'win32',
    arch: 'x64',
    format: 'nsis',
  });
  const busy = { url, clients: CLIENTS, accounts: ACCOUNTS };
  const busySeconds = seconds + (2 * LEAD_MS) / 1000;
  const beside =
    phase === 'quiet'
      ? undefined
      : crowd.ask<Answers>({ do: phase, ...busy, seconds: busySeconds });
  await sleep(LEAD_MS);
  const checks = await checker.ask<PacedChecks>({
    do: 'check',
    url: `${url}/api/v1/desktop/check-update`,
    body,
    perSecond: CHECKS_PER_SECOND,
    seconds,
  });
  const answers = await beside;
  return { ...checks, answers: phase === 'storm' ? (answers ?? {}) : {} };
}

function report(measured: Readonly<Record<Phase, readonly Measured[]>>, rounds: number): Table {
  const at = (phase: Phase, share: number, of: keyof PacedChecks = 'times'): readonly number[] =>
    measured[phase].map((m) => quantile(m[of], share));
  const rows = (Object.keys(TEXTS) as Phase[]).map((phase): Row => {
    const ratio = medianRatio(at(phase, 0.99), at('quiet', 0.99));
    const toNeighbor = medianRatio(at(phase, 0.99), at('neighbor', 0.99));
    const cells = [
      TEXTS[phase],
      median(at(phase, 0.5)).toFixed(2),
      median(at(phase, 0.99)).toFixed(2),
      phase === 'quiet' ? NOTHING : timesOf(ratio),
      phase === 'storm' ? timesOf(toNeighbor) : NOTHING,
      median(at(phase, 0.99, 'late')).toFixed(2),
    ];
    const target = { value: ratio, max: RATIO_MAX, unit: ' ×' };
    return phase === 'storm' ? { cells, target } : { cells };
  });
  return {
    title: `login-storm: check-update, ${CHECKS_PER_SECOND} a second, while users sign in`,
    heading: ['', 'p50 ms', 'p99 ms', '× quiet', '× other process', 'client late p99 ms'],
    rows,
    notes: [
      `Medians of ${rounds} rounds with one server. A round runs each phase for ${SECONDS} s. Ratios are medians of the ratios within each round.`,
      'The client sends checks at a fixed pace and does not wait for answers. The pace is far below what the server can answer, so the client itself has no queue. Client late: how late the client sent, because it waited for a processor.',
      `Half of the sign-ins have the right password, a quarter a wrong one, and a quarter an address without an account; ${answersText(measured.storm)}.`,
      'The hashing in another process, which is not part of the service, shows the effect of the machine: the server, its hashing and the clients share its processors. Only the time beyond that is due to the service.',
    ],
  };
}

function answersText(storm: readonly Measured[]): string {
  const sums: Record<string, number> = {};
  for (const { answers } of storm) {
    for (const [status, count] of Object.entries(answers)) {
      sums[status] = (sums[status] ?? 0) + count;
    }
  }
  const parts = Object.entries(sums).map(([status, count]) => `${count} × ${status}`);
  return `answered ${parts.join(', ')}`;
}
