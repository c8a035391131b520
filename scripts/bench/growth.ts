import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPort, runCommand, type Server, spawnService } from './child-process.ts';
import { type Compared, compare } from './compare.ts';
import type { BenchContext } from './context.ts';
import {
  changeOffer,
  checkOf,
  fill,
  firstAnswer,
  record,
  type Subject,
  start,
} from './growth-subject.ts';
import {
  CHECKS_MAX,
  CHECKS_PER_SECOND,
  FIRST_RELEASES,
  type Figure,
  growthTable,
  RESTING_SECONDS,
} from './growth-table.ts';
import { cpuSlice, type Load, startLoad } from './load.ts';
import { longestTurns, measuringTurns } from './longest-turn.ts';
import { readUsage } from './resource-usage.ts';
import { quantile } from './statistics.ts';
import type { Table } from './table.ts';

/** Measures how memory, times and costs grow with the numbers of releases and applications. */

/** The repetitions of a start, of a command and of a change. */
const ROUNDS = 3;
const READ_SECONDS = 10;
const PACED_SECONDS = 6;
/** In this time, the service answers the first clients of every release, and Node compiles its code. */
const WARM_SECONDS = 4;
/** A service that reads fewer bytes in a second counts as settled. */
const SETTLED_BYTES = 10_000;
const SETTLING_SECONDS_MAX = 600;
const ROLLED_UP_MS = 10_000;
const ROLLED_UP_TRIES = 6;
/** Longer than a service waits before it closes the counter of another process. */
const COUNTER_AGE_MS = 3 * 3_600_000;

export async function benchGrowth(context: BenchContext): Promise<readonly Table[]> {
  const { releases } = context;
  const many = Array<number>(releases / 100).fill(100);
  const empty = await fill(context, 'empty', []);
  const ten = await fill(context, '10', [10]);
  const most = await fill(context, `${releases}`, [releases]);
  const wide = await fill(context, `${many.length} × 100`, [FIRST_RELEASES, ...many.slice(1)]);
  const filled = [ten, most, wide];
  const load = startLoad();
  for (const subject of filled) await measureStarts(context, subject);
  await measureResting(context, empty, filled);
  // Runs few services at a time, because another service would use the processor to verify its own files.
  for (const subject of filled) {
    if (subject !== ten) subject.checks = await compareChecks(context, ten, subject, load);
  }
  for (const subject of filled) {
    await measureChanges(context, subject, load);
    await measureTurns(context, subject, subject === most ? 'full' : 'revision');
    await measureCommands(context, subject);
  }
  load.stop();
  return [
    growthTable(
      context,
      filled.map(({ checks, ...rest }) => ({ ...rest, checks })),
    ),
  ];
}

/** Starts fresh services, which have no saved state, and then others with the state that the last of them saved. */
async function measureStarts(context: BenchContext, subject: Subject): Promise<void> {
  const { dataDirectory: DATA_DIR } = subject;
  for (let round = 1; round <= 2 * ROUNDS; round++) {
    context.progress(`growth: starts with ${subject.name}, round ${round}`);
    const figure = round <= ROUNDS ? 'fresh' : 'restarted';
    if (figure === 'fresh') {
      await rm(path.join(DATA_DIR, 'state'), { recursive: true, force: true });
    }
    const server = await spawnService(context, { DATA_DIR });
    record(subject, figure, await firstAnswer(server));
    if (round === ROUNDS) await settle(server);
    await server.stop();
  }
}

/** The memory of every restarted service, and the number of bytes that it reads when it polls. No client asks. */
async function measureResting(
  context: BenchContext,
  empty: Subject,
  filled: readonly Subject[],
): Promise<void> {
  context.progress('growth: resting');
  const resting = [];
  for (const subject of [empty, ...filled]) {
    const server = await start(context, subject);
    resting.push(rest(server, subject));
  }
  await Promise.all(resting);
  // The table has a row and no column for it.
  for (const value of empty.measured.get('memory') ?? []) filled[0]?.measured.set('empty', [value]);
}

async function rest(server: Server, subject: Subject): Promise<void> {
  await sleep(server.startedAt + RESTING_SECONDS * 1000 - performance.now());
  record(subject, 'memory', (await readUsage(server.pid)).residentMib);
  await settle(server);
  record(subject, 'read', await readBytesPerSecond(server, READ_SECONDS));
  await server.stop();
}

/**
 * Waits until a service has read and verified everything, and so reads little.
 *
 * @throws Error when it still reads after ten minutes
 */
async function settle(server: Server): Promise<void> {
  const end = performance.now() + SETTLING_SECONDS_MAX * 1000;
  while (performance.now() < end) {
    if (!((await readBytesPerSecond(server, 2)) > SETTLED_BYTES)) return;
  }
  throw new Error('The service still reads files long after its start.');
}

/** @returns the bytes that a service reads in a second; NaN on a system that does not count them */
async function readBytesPerSecond({ pid }: Server, seconds: number): Promise<number> {
  const before = await readUsage(pid);
  await sleep(seconds * 1000);
  return ((await readUsage(pid)).readBytes - before.readBytes) / seconds;
}

/** Two processes of each service: Node compiles the code differently at each start. */
async function compareChecks(
  context: BenchContext,
  ten: Subject,
  subject: Subject,
  load: Load,
): Promise<Compared> {
  const run = async (of: Subject) => {
    const requests = Array.from({ length: 3_000 }, (_, client) => checkOf(client, of.applications));
    const servers = [await start(context, of), await start(context, of)];
    await Promise.all(servers.map(settle));
    for (const server of servers) await cpuSlice(load, server, requests, WARM_SECONDS);
    const slice = (turn: number) => cpuSlice(load, servers[turn % 2] as Server, requests);
    return { slice, stop: () => Promise.all(servers.map((server) => server.stop())) };
  };
  const many = await run(subject);
  // Last, because V8 gives an idle service less memory for new objects, and the service then collects them more often.
  const few = await run(ten);
  const compared = await compare(context, {
    name: `growth: checks with ${subject.name}`,
    service: (pair) => many.slice(pair >> 1),
    baseline: (pair) => few.slice(pair >> 2),
    limit: CHECKS_MAX,
  });
  await few.stop();
  await many.stop();
  return compared;
}

/** Commits new revisions while clients check. */
async function measureChanges(context: BenchContext, subject: Subject, load: Load): Promise<void> {
  const server = await start(context, subject);
  await cpuSlice(load, server, [checkOf(0, 1)], WARM_SECONDS);
  for (let round = 1; round <= ROUNDS; round++) {
    context.progress(`growth: a new revision of ${subject.name}, round ${round}`);
    const pace = { seconds: PACED_SECONDS, perSecond: CHECKS_PER_SECOND };
    const [{ times, refused }] = await Promise.all([
      load.send(server, { requests: [checkOf(0, 1)] }, pace),
      sleep(500).then(() => changeOffer(subject, server)),
    ]);
    record(subject, 'p99', quantile(times, 0.99));
    record(subject, 'refused', refused);
  }
  await server.stop();
}

/** What blocks the service longest. The counts of earlier services are rolled up as if these had ended hours ago. */
async function measureTurns(
  context: BenchContext,
  subject: Subject,
  revision: Figure,
): Promise<void> {
  const file = path.join(await context.makeDirectory(), 'turns');
  const { flags, env } = measuringTurns(file);
  const metrics = String(await findPort());
  const server = await start(context, subject, {
    ...env,
    NODE_OPTIONS: flags.join(' '),
    // The service then looks every second for counts to roll up.
    COUNTERS_FLUSH_INTERVAL: '1s',
    METRICS_PORT: metrics,
  });
  const longest = async (figure: Figure, run: () => Promise<unknown>): Promise<void> => {
    context.progress(`growth: longest turn of ${subject.name}, ${figure}`);
    const since = Date.now();
    await run();
    record(subject, figure, longestTurns(file, since)[0]?.ms ?? 0);
  };
  await firstAnswer(server);
  await sleep(WARM_SECONDS * 1000);
  for (let round = 1; round <= ROUNDS; round++) {
    await longest(revision, () => changeOffer(subject, server));
    await longest('scrape', async () => {
      const answer = await fetch(`http://${server.host}:${metrics}/metrics`);
      if (!answer.ok) throw new Error(`/metrics answered ${answer.status}.`);
      await answer.text();
    });
  }
  await longest('rollUp', async () => {
    const usage = path.join(subject.dataDirectory, 'objects', 'usage');
    const old = new Date(Date.now() - COUNTER_AGE_MS);
    for (const entry of await readdir(path.join(usage, 'counters'), { recursive: true })) {
      await utimes(path.join(usage, 'counters', entry), old, old);
    }
    // A service that has just started needs longer, and the bench fails when the service makes no total of the counts.
    for (let tries = 1; ; tries++) {
      await sleep(ROLLED_UP_MS);
      const totals = await readdir(path.join(usage, 'totals')).catch(() => []);
      if (totals.length > 0) break;
      if (tries === ROLLED_UP_TRIES) throw new Error('The service made no total of the counts.');
    }
  });
  await server.stop();
}

async function measureCommands(context: BenchContext, subject: Subject): Promise<void> {
  const { dataDirectory: DATA_DIR } = subject;
  const file = path.join(await context.makeDirectory(), 'Acme-Studio.AppImage');
  for (let round = 1; round <= ROUNDS; round++) {
    context.progress(`growth: commands with ${subject.name}, round ${round}`);
    await writeFile(file, `A release of round ${round}.`);
    const artifact = `${file},os=linux,arch=x64,format=appimage`;
    const client = ['--version', '1.0.0', '--platform', 'linux', '--arch', 'x64'];
    const { milliseconds: startMs } = await runCommand(context, ['--version']);
    const commands = {
      publish: ['publish', `9999.0.${round}`, artifact],
      stats: ['stats'],
      explain: ['explain', ...client],
    };
    for (const [figure, words] of Object.entries(commands)) {
      const run = await runCommand(context, [...words, '--app', 'desktop'], { DATA_DIR });
      record(subject, figure as keyof typeof commands, run.milliseconds - startMs);
    }
  }
}
