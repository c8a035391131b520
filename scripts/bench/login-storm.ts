import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFilesystemStore } from '../../src/object-store/filesystem.ts';
import type { BenchContext } from './bench.ts';
import { type Child, startChild } from './child.ts';
import { fillStore, versionAt } from './content.ts';
import type { Answers, PacedChecks } from './login-storm-process.ts';
import { startService } from './service.ts';
import { interleave, median, medianRatio, quantile } from './statistic.ts';
import { NOTHING, type Row, type Table, timesOf } from './table.ts';

/** Whether checks are answered as fast while many people log in. */

const RATIO_MAX = 2;
const ROUNDS_MIN = 5;
const SECONDS = 5;
const SECONDS_WARM = 5;
/** The storm is there before the first check is, and after the last one. */
const LEAD_MS = 500;
/**
 * Some hundredths of what one process answers: a client that asks as fast as it can measures its own
 * queue. Enough for ten checks of a phase to be slower than its p99.
 */
const CHECKS_PER_SECOND = 200;
const CLIENTS = 40;
/** So that nobody is told to wait: five tries a minute for each. */
const ACCOUNTS = 400;
const OFFERS = 50;
const NO_LINK = { url: '', expiresAt: new Date(0) };

const PHASES = ['quiet', 'storm', 'neighbour'] as const;
type Phase = (typeof PHASES)[number];
const TEXTS: Readonly<Record<Phase, string>> = {
  storm: `${CLIENTS} clients logging in`,
  quiet: '  quiet',
  neighbour: '  as much hashing in another process',
};

interface Measured extends PacedChecks {
  readonly answers: Answers;
}

export async function benchLoginStorm(context: BenchContext): Promise<readonly Table[]> {
  const directory = await context.workspace.makeDirectory();
  await publishSome(path.join(directory, 'objects'));
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

async function publishSome(directory: string): Promise<void> {
  const store = await openFilesystemStore({ directory, signUrl: () => NO_LINK });
  const plan = { stableOffers: OFFERS, betaOffers: 1, retired: 0, history: false };
  await fillStore(store, { application: 'desktop', ...plan });
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
    const toNeighbour = medianRatio(at(phase, 0.99), at('neighbour', 0.99));
    const cells = [
      TEXTS[phase],
      median(at(phase, 0.5)).toFixed(2),
      median(at(phase, 0.99)).toFixed(2),
      phase === 'quiet' ? NOTHING : timesOf(ratio),
      phase === 'storm' ? timesOf(toNeighbour) : NOTHING,
      median(at(phase, 0.99, 'late')).toFixed(2),
    ];
    const target = { value: ratio, max: RATIO_MAX, unit: ' ×' };
    return phase === 'storm' ? { cells, target } : { cells };
  });
  return {
    title: `login-storm: check-update, ${CHECKS_PER_SECOND} a second, while people log in`,
    heading: ['', 'p50 ms', 'p99 ms', '× quiet', '× other process', 'client late p99 ms'],
    rows,
    notes: [
      `Medians of ${rounds} rounds of ${SECONDS} s for each phase, in turn, with one server; ratios are medians of the ratios within each round.`,
      'The checks are sent when it is time to, whatever was answered: far fewer than the server could answer, so that the queue is not the client’s own. How late the client was tells what it lacked of the processor.',
      `Half of the clients know their password, a quarter do not, a quarter have no account; ${answersText(measured.storm)}.`,
      'The hashing in another process, which has nothing to do with the service, shows how much of it is the machine: on two processors the server, its hashing and the clients share them, and who comes third waits, probably for the next tick of the scheduler. What the storm costs beyond that is the service’s own.',
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
