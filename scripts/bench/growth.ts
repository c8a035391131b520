import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { runCommand } from './command.ts';
import { versionAt } from './content.ts';
import { RESTING_FACTOR, report } from './growth-report.ts';
import { checkOf, fill, mixOf, record, type Subject, sizesFor } from './growth-subject.ts';
import { type Load, startLoad } from './load.ts';
import { type Longest, startProbe } from './probe.ts';
import { readUsage } from './processor-time.ts';
import { type RunningServer, spawnService, startService, waitFor } from './server.ts';
import { quantile } from './statistic.ts';
import type { Table } from './table.ts';

/** Measures how memory and times grow with the number of releases and applications. */

const CPU_TURNS = 8;
const CHECKS_PER_SECOND = 500;
const COMMIT_AFTER_MS = 500;
/** Longer than a service waits before it closes the counter of another process. */
const COUNTER_AGE_MS = 3 * 3_600_000;
const COUNTED_MAX = 30_000;

/** Every round starts and changes every store, for `seconds` each. */
const ROUNDS_MAX = 3;

export async function benchGrowth(asked: BenchContext): Promise<readonly Table[]> {
  const context = { ...asked, rounds: Math.min(ROUNDS_MAX, asked.rounds) };
  const subjects: Subject[] = [];
  for (const [applications, releases] of sizesFor(context.releases)) {
    context.progress(`growth: filling ${applications} × ${releases}`);
    subjects.push(await fill(context, applications, releases));
  }
  const probe = await startProbe();
  const load = await startLoad();
  const watch = async (subject: Subject, figure: string, server: RunningServer): Promise<void> => {
    const longest: Longest = await probe.watch(server, context.seconds);
    record(subject, figure, longest.service);
    record(subject, 'idle server', longest.idle);
  };
  try {
    for (let round = 1; round <= context.rounds; round++) {
      for (const subject of subjects) {
        context.progress(`growth: start with ${subject.name}, round ${round}`);
        await measureStarts(context, subject, watch);
      }
    }
    await withServices(context, subjects, async (servers) => {
      await measureResting(context, subjects, servers);
      await measureChecks(context, subjects, servers, load);
      for (let round = 1; round <= context.rounds; round++) {
        for (const [index, subject] of subjects.entries()) {
          const server = servers[index];
          if (server === undefined || subject.applications === 0) continue;
          context.progress(`growth: a new revision of ${subject.name}, round ${round}`);
          await measureSwap(context, subject, server, load, watch);
        }
      }
    });
    for (const subject of subjects) {
      context.progress(`growth: publishing and rolling up with ${subject.name}`);
      await measurePublish(context, subject);
      await measureRollUp(context, subject, load, watch);
    }
  } finally {
    await Promise.all([probe.stop(), load.stop()]);
  }
  return [report(context, subjects)];
}

type Watch = (subject: Subject, figure: string, server: RunningServer) => Promise<void>;

/** A fresh service has no saved state; a restarted one has the state that the fresh one has saved. */
async function measureStarts(context: BenchContext, subject: Subject, watch: Watch): Promise<void> {
  if (subject.applications === 0) return;
  await rm(path.join(subject.env.DATA_DIR ?? '', 'state'), { recursive: true, force: true });
  for (const kind of ['fresh', 'restarted']) {
    const server = await spawnService(context, subject.env);
    try {
      await waitFor(server, '/livez');
      const [milliseconds] = await Promise.all([
        firstAnswer(server),
        watch(subject, `start, ${kind}`, server),
      ]);
      record(subject, `first answer, ${kind}`, milliseconds);
    } finally {
      await server.stop();
    }
  }
}

/** Asks as a client that is behind, so that the answer needs the catalog, a release and a link. */
function firstAnswer(server: RunningServer): Promise<number> {
  const { body, contains } = checkOf(0);
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return waitFor(server, '/api/v1/desktop/check-update', { contains, init });
}

async function withServices(
  context: BenchContext,
  subjects: readonly Subject[],
  use: (servers: readonly RunningServer[]) => Promise<void>,
): Promise<void> {
  const servers: RunningServer[] = [];
  try {
    for (const { env } of subjects) servers.push(await startService(context, env));
    await use(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Memory a minute after the start, and what polling reads. */
async function measureResting(
  context: BenchContext,
  subjects: readonly Subject[],
  servers: readonly RunningServer[],
): Promise<void> {
  context.progress('growth: resting');
  await sleep(RESTING_FACTOR * context.seconds * 1000);
  const before = await Promise.all(servers.map(({ pid }) => readUsage(pid)));
  await sleep(context.seconds * 1000);
  const after = await Promise.all(servers.map(({ pid }) => readUsage(pid)));
  for (const [index, subject] of subjects.entries()) {
    record(subject, 'resident memory', before[index]?.residentMib ?? Number.NaN);
    const bytes = (after[index]?.readBytes ?? 0) - (before[index]?.readBytes ?? 0);
    record(subject, 'read a second', bytes / context.seconds);
  }
}

async function measureChecks(
  context: BenchContext,
  subjects: readonly Subject[],
  servers: readonly RunningServer[],
  load: Load,
): Promise<void> {
  const rounds = Math.max(3, context.rounds);
  for (let round = 1; round <= rounds; round++) {
    context.progress(`growth: checks, round ${round} of ${rounds}`);
    const sums = subjects.map(() => 0);
    for (let turn = 0; turn < CPU_TURNS; turn++) {
      for (const [index, subject] of subjects.entries()) {
        const server = servers[index];
        if (server === undefined || subject.applications === 0) continue;
        const traffic = mixOf(subject, 3_000, (index) => `0.${index % 10}.${index % 7}`);
        const { serverMicros } = await load.send(server, traffic, context.seconds / 40);
        sums[index] = (sums[index] ?? 0) + serverMicros / CPU_TURNS;
      }
    }
    for (const [index, subject] of subjects.entries()) {
      if (subject.applications > 0) record(subject, 'check-update', sums[index] ?? Number.NaN);
    }
  }
}

async function measureSwap(
  context: BenchContext,
  subject: Subject,
  server: RunningServer,
  load: Load,
  watch: Watch,
): Promise<void> {
  const revisionOf = async (): Promise<number> => {
    const url = `${server.url}/api/v1/desktop/check-update`;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(checkOf(0).body);
    const answer = await fetch(url, { method: 'POST', headers, body });
    return ((await answer.json()) as { catalog_revision: number }).catalog_revision;
  };
  const before = await revisionOf();
  const commit = subject.filled[0]?.prepareChange();
  const { seconds } = context;
  const traffic = { requests: [checkOf(0)] };
  const [{ times, refused }] = await Promise.all([
    load.pace(server, traffic, CHECKS_PER_SECOND, seconds),
    watch(subject, 'new revision', server),
    sleep(COMMIT_AFTER_MS).then(commit),
  ]);
  if ((await revisionOf()) === before) {
    throw new Error(`The service did not load the revision of ${subject.name} in ${seconds} s.`);
  }
  record(subject, 'p99, new revision', quantile(times, 0.99));
  record(subject, 'refused', refused);
  record(subject, 'maximum, new revision', Math.max(...times));
}

async function measurePublish(context: BenchContext, subject: Subject): Promise<void> {
  const file = path.join(await context.workspace.makeDirectory(), 'Acme-Studio.AppImage');
  for (let round = 1; round <= context.rounds; round++) {
    await writeFile(file, `A release of round ${round}.`);
    const artifact = `${file},os=linux,arch=x64,format=appimage`;
    const args = ['publish', `9999.0.${round}`, artifact, '--app', 'desktop', '--create'];
    const { milliseconds } = await runCommand(context, args, subject.env);
    record(subject, 'publish', milliseconds);
  }
}

/** Rolls up what a process counted that ended hours ago: clients of every application, version and platform. */
async function measureRollUp(
  context: BenchContext,
  subject: Subject,
  load: Load,
  watch: Watch,
): Promise<void> {
  if (subject.applications === 0) return;
  const server = await startService(context, { ...subject.env, COUNTERS_FLUSH_INTERVAL: '1s' });
  try {
    await firstAnswer(server);
    const { applications, releases } = subject;
    const counted = mixOf(subject, COUNTED_MAX, (index) =>
      versionAt(Math.floor(index / applications) % releases),
    );
    await load.send(server, counted, context.seconds);
    // Two intervals, with what the service adds to them at random.
    await sleep(3_000);
  } finally {
    await server.stop();
  }
  const counters = path.join(subject.env.DATA_DIR ?? '', 'objects', 'usage', 'counters');
  const old = new Date(Date.now() - COUNTER_AGE_MS);
  for (const entry of await readdir(counters, { recursive: true })) {
    await utimes(path.join(counters, entry), old, old);
  }
  const restarted = await spawnService(context, subject.env);
  try {
    await waitFor(restarted, '/livez');
    await watch(subject, 'start, rolling up counts', restarted);
  } finally {
    await restarted.stop();
  }
}
