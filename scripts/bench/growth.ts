import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand, type Server, spawnService, startService, waitFor } from './child-process.ts';
import { comparedTable, compareRound, type Results } from './compare.ts';
import { fillApplication, offersMax, openTarget } from './content.ts';
import type { BenchContext } from './context.ts';
import {
  cpuTurn,
  type Load,
  type Request,
  startBaseline,
  startLoad,
  type Traffic,
} from './load.ts';
import { readUsage } from './resource-usage.ts';
import { median, quantile, type Row, type Table } from './table.ts';

/** Measures how memory and times grow with the number of releases and applications. */

const CHANNELS = 10;
const TURNS = 8;
/** A new revision that a service loads later than this after the measurement was not measured. */
const LATE_MAX_MS = 500;
const PACE = 500;
const CLIENTS = 30_000;
/** Resident memory is read this many times `seconds` after the start: a minute by default. */
const RESTING_FACTOR = 3;
/** Longer than a service waits before it closes the counter of another process. */
const COUNTER_AGE_MS = 3 * 3_600_000;
const RATIO_MAX = { max: 1.1 };
const PLATFORMS = ['windows', 'macos', 'linux'];

/** What is measured: its text, the digits, and the most that it may be. */
const FIGURES = {
  fresh: ['first answer after a fresh start, ms', 0, undefined],
  restarted: ['first answer after a restart, ms', 0, undefined],
  memory: ['resident memory at rest, MiB', 0, 500],
  read: ['bytes read a second at rest', 0, undefined],
  publish: ['publish, ms', 0, undefined],
  p99: ['check-update p99, new revision, ms', 1, undefined],
  maximum: ['check-update maximum, new revision, ms', 1, undefined],
  refused: ['checks refused as overload', 0, undefined],
  blockedFresh: ['longest /livez, fresh start, ms', 1, 20],
  blockedRestarted: ['longest /livez, restart, ms', 1, 20],
  blockedRevision: ['longest /livez, new revision, ms', 1, 20],
  blockedRollUp: ['longest /livez, rolling up, ms', 1, 20],
  idle: ['longest of an idle server, ms', 1, undefined],
} as const;
type Figure = keyof typeof FIGURES;

/** A store of one size, and what was measured on it. */
interface Subject {
  readonly name: string;
  readonly applications: number;
  readonly dataDirectory: string;
  /** A service on the store. */
  server?: Server;
  /** See {@link fillApplication}. */
  readonly prepareChange?: () => () => Promise<number>;
  readonly measured: Map<Figure, number[]>;
}

type Watch = (subject: Subject, figure: Figure, server: Server) => Promise<void>;

export async function benchGrowth(asked: BenchContext): Promise<readonly Table[]> {
  // Every round starts and changes every store, for `seconds` each.
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
  for (const subject of filled) await measureStarts(context, subject, watch);
  await measureResting(context, [empty, ...filled]);
  await compareChecks(context, filled, load, results);
  for (const subject of filled) await measureChanges(context, subject, load, watch);
  for (const subject of filled) await measureRollUp(context, subject, watch);
  for (const one of [load, probe, idleProbe]) one.stop();
  await Promise.all(
    [idle, ...[empty, ...filled].map(({ server }) => server)].map((s) => s?.stop()),
  );
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

function record({ measured }: Subject, figure: Figure, value: number): void {
  measured.set(figure, [...(measured.get(figure) ?? []), value]);
}

function get(target: string): Traffic {
  return { requests: [{ method: 'GET', path: target, status: 200, contains: '' }] };
}

/** A check of a client that is behind: the answer needs the catalog, a release and a link. */
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

/** A fresh service has no saved state; a restarted one has the state that the fresh one has saved. */
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

/** Memory a minute after the start, and what polling reads. The services keep running. */
async function measureResting(context: BenchContext, subjects: readonly Subject[]): Promise<void> {
  const { seconds, progress } = context;
  progress('growth: resting');
  for (const subject of subjects) {
    const env = { DATA_DIR: subject.dataDirectory, COUNTERS_FLUSH_INTERVAL: '1s' };
    subject.server = await startService(context, env);
  }
  const usageOf = ({ server }: Subject) => readUsage(server?.pid ?? 0);
  await sleep(RESTING_FACTOR * seconds * 1000);
  const before = await Promise.all(subjects.map(usageOf));
  await sleep(seconds * 1000);
  for (const [index, subject] of subjects.entries()) {
    const { readBytes } = await usageOf(subject);
    record(subject, 'memory', before[index]?.residentMib ?? Number.NaN);
    record(subject, 'read', (readBytes - (before[index]?.readBytes ?? 0)) / seconds);
  }
}

async function compareChecks(
  { rounds, seconds, progress }: BenchContext,
  [ten, ...others]: readonly Subject[],
  load: Load,
  results: Results,
): Promise<void> {
  const turnOf = ({ server, applications }: Subject) => {
    const clients = Array.from({ length: 3_000 }, (_, client) => checkOf(client, applications));
    const traffic = { requests: clients, ids: CLIENTS };
    if (server === undefined) throw new Error('The service is not running.');
    return cpuTurn(load, server, traffic, seconds / 40);
  };
  if (ten === undefined) return;
  for (let round = 0; round <= rounds; round++) {
    for (const subject of others) {
      progress(`growth: checks with ${subject.name}, round ${round}`);
      const pair = { name: subject.name, service: turnOf(subject), baseline: turnOf(ten) };
      // The first round warms the services up.
      const into = round === 0 ? new Map() : results;
      await compareRound(into, { ...pair, limit: RATIO_MAX }, TURNS);
    }
  }
}

/** Swaps in a new revision while clients check, and publishes with the command line. */
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

/** A restarted service rolls up what the one before it counted, as if that had ended hours ago. */
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

function tablesOf(
  { rounds, seconds, releases }: BenchContext,
  empty: Subject,
  filled: readonly Subject[],
  checks: Results,
): readonly Table[] {
  const rows = Object.entries(FIGURES).map(([figure, [text, digits, max]]): Row => {
    const summary = text.startsWith('longest') ? (all: number[]) => Math.max(...all) : median;
    const values = filled.map(({ measured }) => summary(measured.get(figure as Figure) ?? []));
    const cells = [text, ...values.map((value) => value.toFixed(digits))];
    if (max === undefined) return { cells };
    return { cells, target: { value: Math.max(...values), limit: { max }, unit: '' } };
  });
  const memory = median(empty.measured.get('memory') ?? []);
  const target = { value: memory, limit: { max: 140 }, unit: '' };
  return [
    {
      title: 'growth: releases of one application, and applications × releases',
      heading: ['', ...filled.map(({ name }) => name)],
      rows: [
        ...rows,
        { cells: ['resident memory of an empty service, MiB', memory.toFixed(0)], target },
      ],
      notes: [
        `Directory store, ${CHANNELS} channels. Medians of ${rounds} rounds; of the longest answers the longest, asked ${PACE} times a second for ${seconds} s. At rest: ${RESTING_FACTOR * seconds} s after the start.`,
        `The largest application has room for ${offersMax(releases)} offers; its other releases are retired.`,
        'The idle server is bare node:http, asked at the same times: what exceeds its longest answer is due to the service.',
        'The new revision changes one offer. Rolling up: at its start the service adds the counts of a process that ended hours ago.',
      ],
    },
    comparedTable(
      'growth: processor time of check-update ÷ the same with 10 releases',
      'µs',
      checks,
      [`Medians of ${rounds} rounds; ${CLIENTS} clients of every application and platform.`],
    ),
  ];
}
