import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand, type Server, spawnService, startService, waitFor } from './child-process.ts';
import { compareRound, type Results } from './compare.ts';
import { fillApplication, openTarget } from './content.ts';
import type { BenchContext } from './context.ts';
import {
  CHANNELS,
  CLIENTS,
  type Figure,
  PACE,
  RESTING_FACTOR,
  record,
  type Subject,
  tablesOf,
} from './growth-table.ts';
import {
  cpuTurn,
  type Load,
  type Request,
  startBaseline,
  startLoad,
  type Traffic,
} from './load.ts';
import { readUsage } from './resource-usage.ts';
import { quantile, type Table } from './table.ts';

/** Measures how memory and times grow with the numbers of releases and applications. */

const TURNS = 8;
/**
 * The service must load the new revision within this time after a measurement. Otherwise the measurement is not valid.
 */
const LATE_MAX_MS = 500;
/**
 * The age of a counter. It is longer than the time that a service waits before it closes the counter of another
 * process.
 */
const COUNTER_AGE_MS = 3 * 3_600_000;
const RATIO_MAX = { max: 1.1 };
const PLATFORMS = ['windows', 'macos', 'linux'];

type Watch = (subject: Subject, figure: Figure, server: Server) => Promise<void>;

export async function benchGrowth(asked: BenchContext): Promise<readonly Table[]> {
  // Limits the rounds, because every round starts and changes every store, for `seconds` each.
  const context = { ...asked, rounds: Math.min(3, asked.rounds) };
  const { seconds, releases } = context;
  const empty = await fill(context, 0, 0);
  const filled: Subject[] = [];
  for (const count of [10, releases / 10, releases]) filled.push(await fill(context, 1, count));
  for (const share of [1000, 100]) filled.push(await fill(context, releases / share, 100));
  const idle = await startBaseline(context);
  const [load, probe, idleProbe] = [startLoad(), startLoad(), startLoad()];
  const watch: Watch = async (subject, figure, server) => {
    const longest = async (by: Load, at: Server, target: string): Promise<number> => {
      const { times } = await by.send(at, get(target), { seconds, perSecond: PACE });
      return Math.max(...times);
    };
    const both = [longest(probe, server, '/livez'), longest(idleProbe, idle, '/200/20')];
    const [service = 0, control = 0] = await Promise.all(both);
    record(subject, figure, service);
    record(subject, 'idle', control);
  };
  const results: Results = new Map();
  await measureResting(context, empty);
  await empty.server?.stop();
  const [ten, ...others] = filled;
  // Runs one service at a time, because another service would use the processor to verify its own files.
  for (const subject of filled) {
    await measureStarts(context, subject, watch);
    await measureResting(context, subject);
    if (ten !== undefined && others.includes(subject)) {
      await compareChecks(context, ten, subject, load, results);
    }
    await measureChanges(context, subject, load, watch);
    await measureRollUp(context, subject, watch);
  }
  for (const one of [load, probe, idleProbe, idle]) await one.stop();
  return tablesOf(context, empty, filled, results);
}

async function fill(
  { makeDirectory, progress }: BenchContext,
  applications: number,
  releases: number,
): Promise<Subject> {
  const name = [...(applications > 1 ? [applications] : []), releases].join(' × ');
  const dataDirectory = await makeDirectory();
  const target = await openTarget({ DATA_DIR: dataDirectory });
  let prepareChange: Subject['prepareChange'];
  for (let index = 0; index < applications; index++) {
    progress(`growth: filling ${name}, application ${index + 1}`);
    const change = await fillApplication(target, applicationAt(index), releases, CHANNELS);
    prepareChange ??= change;
  }
  const rest = prepareChange && { prepareChange };
  return { name, applications, dataDirectory, measured: new Map(), ...rest };
}

function applicationAt(index: number): string {
  return index === 0 ? 'desktop' : `desktop-${index}`;
}

function get(target: string): Traffic {
  return { requests: [{ method: 'GET', path: target, status: 200, contains: '' }] };
}

/** A check of a client with an old version. To answer it, the service needs the catalog, a release and a link. */
function checkOf(client: number, applications: number): Request {
  const platform = PLATFORMS[client % PLATFORMS.length];
  const version = `0.${client % 100}.0`;
  const app = applicationAt(client % applications);
  return {
    ...{ method: 'POST', path: '/api/v1/desktop/check-update', status: 200 },
    body: { current_version: version, platform, arch: 'x64', app, installation_id: '{id}' },
    contains: '"update_available":true',
  };
}

function firstAnswer(server: Server, text?: string): Promise<number> {
  const { path: target, body, contains } = checkOf(0, 1);
  const headers = { 'content-type': 'application/json' };
  return waitFor(server, target, text ?? contains, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
}

/**
 * Measures the start of a fresh service, which has no saved state, and of a restarted service, which has the state that
 * the fresh service has saved.
 */
async function measureStarts(context: BenchContext, subject: Subject, watch: Watch): Promise<void> {
  const { dataDirectory: DATA_DIR } = subject;
  for (let round = 1; round <= context.rounds; round++) {
    context.progress(`growth: starts with ${subject.name}, round ${round}`);
    await rm(path.join(DATA_DIR, 'state'), { recursive: true, force: true });
    for (const kind of ['fresh', 'restarted'] as const) {
      const server = await spawnService(context, { DATA_DIR });
      await waitFor(server, '/livez');
      const figure = kind === 'fresh' ? 'blockedFresh' : 'blockedRestarted';
      const both = [firstAnswer(server), watch(subject, figure, server)] as const;
      record(subject, kind, (await Promise.all(both))[0]);
      await server.stop();
    }
  }
}

/**
 * Measures the memory a minute after the start, and the number of bytes that the service reads when it polls. The
 * service keeps running.
 */
async function measureResting(context: BenchContext, subject: Subject): Promise<void> {
  const { seconds, progress } = context;
  progress(`growth: resting with ${subject.name}`);
  const server = await start(context, subject);
  subject.server = server;
  await sleep(RESTING_FACTOR * seconds * 1000);
  const before = await readUsage(server.pid);
  await sleep(seconds * 1000);
  const after = await readUsage(server.pid);
  record(subject, 'memory', before.residentMib);
  record(subject, 'read', (after.readBytes - before.readBytes) / seconds);
}

function start(context: BenchContext, { dataDirectory }: Subject): Promise<Server> {
  return startService(context, { DATA_DIR: dataDirectory, COUNTERS_FLUSH_INTERVAL: '1s' });
}

/**
 * Restarts the service with ten releases before each comparison, so that this service has never run longer than the
 * other service.
 */
async function compareChecks(
  context: BenchContext,
  ten: Subject,
  subject: Subject,
  load: Load,
  results: Results,
): Promise<void> {
  const { rounds, seconds, progress } = context;
  if (subject.server === undefined) return;
  const baseline = await start(context, ten);
  const turnOf = (server: Server, applications: number) => {
    const clients = Array.from({ length: 3_000 }, (_, client) => checkOf(client, applications));
    return cpuTurn(load, server, { requests: clients, ids: CLIENTS }, seconds / 40);
  };
  const pair = {
    name: subject.name,
    service: turnOf(subject.server, subject.applications),
    baseline: turnOf(baseline, ten.applications),
    limit: RATIO_MAX,
  };
  for (let round = 0; round <= rounds; round++) {
    progress(`growth: checks with ${subject.name}, round ${round}`);
    // The first round does not count: it runs until Node has compiled the code of both services.
    await compareRound(round === 0 ? new Map() : results, pair, round === 0 ? 3 * TURNS : TURNS);
  }
  await baseline.stop();
}

/** Commits new revisions while clients check, and publishes with the command line. */
async function measureChanges(
  context: BenchContext,
  subject: Subject,
  load: Load,
  watch: Watch,
): Promise<void> {
  const { server, prepareChange, dataDirectory: DATA_DIR } = subject;
  if (server === undefined || prepareChange === undefined) return;
  const file = path.join(await context.makeDirectory(), 'Acme-Studio.AppImage');
  for (let round = 1; round <= context.rounds; round++) {
    context.progress(`growth: a new revision of ${subject.name}, round ${round}`);
    const commit = prepareChange();
    const pace = { seconds: context.seconds, perSecond: PACE };
    const [{ times, refused }, , revision] = await Promise.all([
      load.send(server, { requests: [checkOf(0, 1)] }, pace),
      watch(subject, 'blockedRevision', server),
      sleep(500).then(commit),
    ]);
    const late = performance.now();
    await firstAnswer(server, `"catalog_revision":${revision}`);
    if (performance.now() - late > LATE_MAX_MS) {
      throw new Error(`The revision of ${subject.name} was not loaded in ${context.seconds} s.`);
    }
    record(subject, 'p99', quantile(times, 0.99));
    record(subject, 'maximum', Math.max(...times));
    record(subject, 'refused', refused);
  }
  for (let round = 1; round <= context.rounds; round++) {
    await writeFile(file, `A release of round ${round}.`);
    const artifact = `${file},os=linux,arch=x64,format=appimage`;
    const args = ['publish', `9999.0.${round}`, artifact, '--app', 'desktop'];
    record(subject, 'publish', (await runCommand(context, args, { DATA_DIR })).milliseconds);
  }
}

/** A restarted service rolls up the counts of the previous service, as if the previous service had ended hours ago. */
async function measureRollUp(context: BenchContext, subject: Subject, watch: Watch): Promise<void> {
  const { dataDirectory: DATA_DIR } = subject;
  context.progress(`growth: rolling up counts of ${subject.name}`);
  await subject.server?.stop();
  const counters = path.join(DATA_DIR, 'objects', 'usage', 'counters');
  const old = new Date(Date.now() - COUNTER_AGE_MS);
  for (const entry of await readdir(counters, { recursive: true })) {
    await utimes(path.join(counters, entry), old, old);
  }
  const server = await spawnService(context, { DATA_DIR });
  await waitFor(server, '/livez');
  await watch(subject, 'blockedRollUp', server);
  await server.stop();
}
