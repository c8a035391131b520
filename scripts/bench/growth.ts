import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { runCommand } from './command.ts';
import {
  type FilledApplication,
  fillApplication,
  offersMax,
  openDirectoryTarget,
  versionAt,
} from './content.ts';
import { type Request, startLoad, type Traffic } from './load.ts';
import { type Longest, startProbe } from './probe.ts';
import { readUsage } from './processor-time.ts';
import {
  type Environment,
  type RunningServer,
  spawnService,
  startService,
  waitFor,
} from './server.ts';
import { median, quantile, ratios } from './statistic.ts';
import { NOTHING, type Row, type Table } from './table.ts';

/** Measures how memory and times grow with the number of releases and applications. */

const CPU_RATIO_MAX = 1.1;
const BLOCKED_MS_MAX = 20;
const EMPTY_MIB_MAX = 140;
const LARGE_MIB_MAX = 500;

const CHANNELS = 10;
const RELEASES_EACH = 100;
/** Resident memory is read this many times `seconds` after the start: a minute by default. */
const RESTING_FACTOR = 3;
const CPU_TURNS = 8;
const CHECKS_PER_SECOND = 500;
const COMMIT_AFTER_MS = 500;
/** Longer than a service waits before it closes the counter of another process. */
const COUNTER_AGE_MS = 3 * 3_600_000;
const COUNTED_MAX = 30_000;

/** A store of one size, and what was measured on it. */
interface Subject {
  readonly name: string;
  readonly applications: number;
  /** Releases of each application. */
  readonly releases: number;
  readonly env: Environment;
  readonly filled: readonly FilledApplication[];
  readonly measured: Map<string, number[]>;
}

export async function benchGrowth(context: BenchContext): Promise<readonly Table[]> {
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

/** Applications, and releases of each. The second is what the others are compared with. */
function sizesFor(releases: number): readonly (readonly [number, number])[] {
  return [
    [0, 0],
    [1, 10],
    [1, Math.ceil(releases / 10)],
    [1, releases],
    [Math.ceil(releases / RELEASES_EACH / 10), RELEASES_EACH],
    [Math.ceil(releases / RELEASES_EACH), RELEASES_EACH],
  ];
}

async function fill(
  context: BenchContext,
  applications: number,
  releases: number,
): Promise<Subject> {
  const directory = await context.workspace.makeDirectory();
  const target = await openDirectoryTarget(directory);
  const each = Math.ceil(Math.min(releases, offersMax(releases)) / CHANNELS);
  const names = ['stable', 'beta', ...Array.from({ length: CHANNELS - 2 }, (_, i) => `team-${i}`)];
  const filled: FilledApplication[] = [];
  for (let index = 0; index < applications; index++) {
    const plan = {
      application: applicationAt(index),
      channels: Object.fromEntries(names.map((name) => [name, each])),
      retired: Math.max(0, releases - each * CHANNELS),
    };
    filled.push(await fillApplication(target, plan));
  }
  const name =
    applications === 0
      ? 'empty'
      : `${applications === 1 ? '' : `${applications.toLocaleString('en')} × `}${releases.toLocaleString('en')}`;
  return {
    ...{ name, applications, releases, filled },
    env: { DATA_DIR: directory },
    measured: new Map(),
  };
}

function applicationAt(index: number): string {
  return index === 0 ? 'desktop' : `desktop-${index}`;
}

function record({ measured }: Subject, figure: string, value: number): void {
  measured.set(figure, [...(measured.get(figure) ?? []), value]);
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

/** A check of a client of any version; the answer offers an update to every version below 1.0.0. */
function checkOf(application: number, version = '0.9.0', platform = 'macos'): Request {
  const app = applicationAt(application);
  const client = { current_version: version, platform, arch: 'x64', app };
  return {
    method: 'POST',
    path: '/api/v1/desktop/check-update',
    body: { ...client, installation_id: '{id}' },
    status: 200,
    contains: `"update_available":${version.startsWith('0.') ? 'true' : ''}`,
  };
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

type Send = Awaited<ReturnType<typeof startLoad>>;

async function measureChecks(
  context: BenchContext,
  subjects: readonly Subject[],
  servers: readonly RunningServer[],
  load: Send,
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

/** Clients of every application and platform. */
function mixOf(
  { applications }: Subject,
  count: number,
  versionOf: (index: number) => string,
): Traffic {
  const platforms = ['windows', 'macos', 'linux'];
  const requests = Array.from({ length: count }, (_, index) =>
    checkOf(index % applications, versionOf(index), platforms[index % platforms.length]),
  );
  return { requests, ids: count };
}

async function measureSwap(
  context: BenchContext,
  subject: Subject,
  server: RunningServer,
  load: Send,
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
  record(subject, 'check-update p99, new revision', quantile(times, 0.99));
  record(subject, 'refused', refused);
  record(subject, 'check-update maximum, new revision', Math.max(...times));
}

async function measurePublish(context: BenchContext, subject: Subject): Promise<void> {
  const file = path.join(await context.workspace.makeDirectory(), 'Acme-Studio.AppImage');
  for (let round = 1; round <= context.rounds; round++) {
    await writeFile(file, `A release of round ${round}.`);
    const artifact = `${file},os=linux,arch=x64,format=appimage`;
    const args = ['publish', `9999.0.${round}`, artifact, '--app', 'desktop', '--create'];
    record(subject, 'publish', await runCommand(context, args, subject.env));
  }
}

/** Rolls up what a process counted that ended hours ago: clients of every application, version and platform. */
async function measureRollUp(
  context: BenchContext,
  subject: Subject,
  load: Send,
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

function report({ rounds, seconds }: BenchContext, subjects: readonly Subject[]): Table {
  const valuesOf = (subject: Subject | undefined, figure: string): readonly number[] =>
    subject?.measured.get(figure) ?? [];
  const rowOf = (
    text: string,
    figure: string,
    digits: number,
    target?: { readonly max: number; readonly unit: string; readonly from?: number },
    summarize: (values: readonly number[]) => number = median,
  ): Row => {
    const values = subjects.map((subject) => summarize(valuesOf(subject, figure)));
    const cells = values.map((value) => (Number.isFinite(value) ? value.toFixed(digits) : NOTHING));
    const measured = values.slice(target?.from ?? 0).filter(Number.isFinite);
    const worst = { value: Math.max(...measured), max: target?.max ?? 0, unit: target?.unit ?? '' };
    return { cells: [text, ...cells], ...(target === undefined ? {} : { target: worst }) };
  };
  const [, ten] = subjects;
  for (const subject of subjects) {
    const perCheck = ratios(valuesOf(subject, 'check-update'), valuesOf(ten, 'check-update'));
    for (const ratio of perCheck) record(subject, 'check-update ratio', ratio);
  }
  const blocked = { max: BLOCKED_MS_MAX, unit: ' ms' };
  const highest = (values: readonly number[]): number =>
    values.length === 0 ? Number.NaN : Math.max(...values);
  const memory = rowOf(
    `resident memory after ${RESTING_FACTOR * seconds} s, MiB`,
    'resident memory',
    0,
    {
      max: LARGE_MIB_MAX,
      unit: ' MiB',
    },
  );
  const empty = { ...memory, cells: ['the same, empty', memory.cells[1] ?? ''] };
  const emptyValue = median(valuesOf(subjects[0], 'resident memory'));
  return {
    title: 'growth: releases of one application, and applications × releases',
    heading: ['', ...subjects.map(({ name }) => name)],
    rows: [
      rowOf('first answer after a fresh start, ms', 'first answer, fresh', 0),
      rowOf('first answer after a restart, ms', 'first answer, restarted', 0),
      memory,
      {
        cells: [...empty.cells, ...subjects.slice(1).map(() => NOTHING)],
        target: { value: emptyValue, max: EMPTY_MIB_MAX, unit: ' MiB' },
      },
      rowOf('publish, ms', 'publish', 0),
      rowOf('bytes read a second at rest', 'read a second', 0),
      rowOf('check-update, µs of processor time', 'check-update', 1),
      rowOf('check-update ÷ with 10 releases', 'check-update ratio', 2, {
        max: CPU_RATIO_MAX,
        unit: ' ×',
      }),
      rowOf('check-update p99, new revision, ms', 'check-update p99, new revision', 1),
      rowOf('check-update maximum, new revision, ms', 'check-update maximum, new revision', 1),
      rowOf('checks refused as overload, new revision', 'refused', 0, undefined, highest),
      rowOf('longest /livez, fresh start, ms', 'start, fresh', 1, blocked, highest),
      rowOf('longest /livez, restart, ms', 'start, restarted', 1, blocked, highest),
      rowOf('longest /livez, new revision, ms', 'new revision', 1, blocked, highest),
      rowOf('longest /livez, rolling up, ms', 'start, rolling up counts', 1, blocked, highest),
      rowOf('longest answer of an idle server, ms', 'idle server', 1, undefined, highest),
    ],
    notes: [
      `Directory store, ${CHANNELS} channels. Medians of ${rounds} rounds; the longest answers are the longest of all rounds, asked every 2 ms for ${seconds} s.`,
      `The largest application has as many offers as a revision has room for: ${offersMax(subjects[3]?.releases ?? 0).toLocaleString('en')}. Its other releases are retired.`,
      'The idle server is bare node:http, asked at the same times: what exceeds its longest answer is due to the service.',
      'The new revision changes one offer of the largest application. Rolling up: at its start the service adds the counts of a process that ended hours ago.',
      'Bytes read at rest: from files and sockets, status probes included.',
    ],
  };
}
