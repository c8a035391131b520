import type { BenchContext } from './bench.ts';
import { type Child, startChild } from './child.ts';
import { fillDirectory, versionAt } from './content.ts';
import { median, medianRatio } from './statistic.ts';
import { NOTHING, type Row, type Table, timesOf } from './table.ts';

/** Compares the processor time of a check with that of a route that does nothing. */

const REQUESTS_WARM = 6_000;
/** The servers of a case also alternate within a round, so that other load on the machine slows all of them. */
const TURNS = 8;
const REQUESTS_A_TURN = 1_000;
const PRESIGN_CALLS = 2_000;
const OFFERS = 200;

interface CaseSpec {
  readonly name: string;
  readonly links: 'directory' | 's3';
  /** The version that the client sends. */
  readonly version: string;
  /** The target: times the processor time of the fixed route. */
  readonly max: number;
}

const NAMES = ['none', 's3', 'directory'] as const;
type Case = (typeof NAMES)[number];
const CASES: Readonly<Record<Case, CaseSpec>> = {
  none: { name: 'no update', links: 'directory', version: versionAt(OFFERS - 1), max: 1.25 },
  s3: { name: 'update, S3 link', links: 's3', version: versionAt(OFFERS - 20), max: 1.4 },
  directory: {
    name: 'update, directory link',
    links: 'directory',
    version: versionAt(OFFERS - 20),
    max: 1.4,
  },
};
type Kind = 'service' | 'fixed' | 'bare';

interface Measured {
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
}

export async function benchCheckUpdate(context: BenchContext): Promise<readonly Table[]> {
  const directory = await context.workspace.makeDirectory();
  const plan = { stableOffers: OFFERS, betaOffers: 2, retired: 0, history: false };
  await fillDirectory(directory, { application: 'desktop', ...plan });
  const answers = new Map<Case, string>();
  for (const name of NAMES) answers.set(name, await askOnce(context, directory, name));

  const client = await startChild(context.workspace.module('scripts/bench/load-process'), {
    cwd: context.workspace.path,
  });
  const setting = { directory, answers, client };
  const rounds: Round[] = [];
  for (let round = 0; round < context.rounds; round++) {
    const measure = (name: Case) => {
      context.progress(`check-update: ${CASES[name].name}, round ${round + 1}`);
      return measureCase(context, setting, name);
    };
    rounds.push({
      none: await measure('none'),
      s3: await measure('s3'),
      directory: await measure('directory'),
      presignMicros: await measurePresign(context),
    });
  }
  await client.stop();
  return [report(rounds, answers)];
}

interface Round extends Readonly<Record<Case, CaseResult>> {
  readonly presignMicros: number;
}

type CaseResult = Readonly<Record<Kind, Measured>>;

function report(rounds: readonly Round[], answers: ReadonlyMap<Case, string>): Table {
  const cpu = (kind: Kind, name: Case): number[] =>
    rounds.map((round) => round[name][kind].cpuMicros);
  const row = (kind: Kind, name: Case, text: string): Row => {
    const toFixed = medianRatio(cpu(kind, name), cpu('fixed', name));
    const toBare = medianRatio(cpu(kind, name), cpu('bare', name));
    const rate = median(rounds.map((round) => round[name][kind].requestsPerSecond));
    const cells = [text, median(cpu(kind, name)).toFixed(1), rate.toFixed(0)];
    const { max } = CASES[name];
    return {
      cells: [...cells, timesOf(toFixed), timesOf(toBare)],
      ...(kind === 'service' ? { target: { value: toFixed, max, unit: ' ×' } } : {}),
    };
  };
  const rows = NAMES.flatMap((name): Row[] => {
    const bytes = `${Buffer.byteLength(answers.get(name) ?? '')} bytes`;
    return [
      row('service', name, `check-update, ${CASES[name].name}`),
      row('fixed', name, `  fixed Fastify route, ${bytes}`),
      row('bare', name, `  bare node:http, ${bytes}`),
    ];
  });
  const presign = rounds.map(({ presignMicros }) => presignMicros);
  const perRequest = medianRatio(presign, cpu('fixed', 's3'));
  rows.push({
    cells: [
      'one SDK presign call',
      median(presign).toFixed(1),
      NOTHING,
      timesOf(perRequest),
      NOTHING,
    ],
  });
  return {
    title: 'check-update: processor time per request',
    heading: ['', 'CPU µs/request', 'requests/s', '× fixed route', '× bare node:http'],
    rows,
    notes: [
      `Medians of ${rounds.length} rounds. Each round starts new servers, warms each up with ${REQUESTS_WARM} requests, and then sends ${TURNS} × ${REQUESTS_A_TURN} requests, alternating between the service and its baselines.`,
      'Ratios are medians of the ratios within each round. CPU is process.cpuUsage() of the server process; another process sends the requests, on 10 connections.',
      'The fixed route has the same plugins, hooks, log (pino, info, /dev/null), body limit and schema as check-update, and sends a buffer of the same size.',
      'The service counts the checks and stores the counts in the background, as by default. The benchmark fails when the count is wrong.',
      'The presign call is ObjectStore.presign on S3, a thin wrapper of the SDK. The service makes it once per file every 20 minutes.',
    ],
  };
}

function bodyOf(name: Case): string {
  return JSON.stringify({
    current_version: CASES[name].version,
    platform: 'win32',
    arch: 'x64',
    channel: 'stable',
    app: 'desktop',
    installation_id: '3f1d6c1e-8a3b-4f50-9d53-1f0f6f0a7c11',
    os_version: '10.0.19045',
    format: 'nsis',
    locale: 'en-GB',
  });
}

/** The answer that the baselines send. Fails when the service does not answer as the case expects. */
async function askOnce(context: BenchContext, directory: string, name: Case): Promise<string> {
  const child = await startServer(context);
  try {
    const url = await child.ask<string>({ do: 'service', directory, links: CASES[name].links });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: bodyOf(name) });
    const answer = await response.text();
    const reason = name === 'none' ? 'up_to_date' : 'offer';
    if (!answer.includes(`"reason":"${reason}"`))
      throw new Error(`Expected the reason ${reason}: ${answer}`);
    return answer;
  } finally {
    await child.stop();
  }
}

interface Setting {
  readonly directory: string;
  readonly answers: ReadonlyMap<Case, string>;
  readonly client: Child;
}

async function measureCase(
  context: BenchContext,
  { directory, answers, client }: Setting,
  name: Case,
): Promise<CaseResult> {
  const { links } = CASES[name];
  const body = bodyOf(name);
  const answer = answers.get(name);
  const children: Child[] = [];
  const open = async (kind: Kind): Promise<MeasuredServer> => {
    const child = await startServer(context);
    children.push(child);
    const url = await child.ask<string>({ do: kind, directory, links, answer });
    await client.ask({ do: 'send', url, body, requests: REQUESTS_WARM });
    return { child, url, cpu: 0, rates: [] };
  };
  try {
    const service = await open('service');
    const fixed = await open('fixed');
    const bare = await open('bare');
    const before = await countedBy(service.child);
    for (let turn = 0; turn < TURNS; turn++) {
      for (const server of [service, fixed, bare]) {
        const cpu = await server.child.ask<number>({ do: 'cpu' });
        const load = { do: 'send', url: server.url, body, requests: REQUESTS_A_TURN };
        server.rates.push(await client.ask<number>(load));
        server.cpu += (await server.child.ask<number>({ do: 'cpu' })) - cpu;
      }
    }
    const counted = (await countedBy(service.child)) - before;
    // A service that did not count would be faster than the real one.
    if (counted !== TURNS * REQUESTS_A_TURN) throw new Error(`${counted} checks were counted.`);
    return { service: resultOf(service), fixed: resultOf(fixed), bare: resultOf(bare) };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

interface MeasuredServer {
  readonly child: Child;
  readonly url: string;
  /** Microseconds of processor time in all turns so far. */
  cpu: number;
  /** Requests a second in each turn. */
  readonly rates: number[];
}

function resultOf({ cpu, rates }: MeasuredServer): Measured {
  return { cpuMicros: cpu / (TURNS * REQUESTS_A_TURN), requestsPerSecond: median(rates) };
}

function countedBy(service: Child): Promise<number> {
  return service.ask<number>({ do: 'counted' });
}

/** @returns microseconds of processor time for one call */
async function measurePresign(context: BenchContext): Promise<number> {
  const child = await startServer(context);
  try {
    return await child.ask<number>({ do: 'presign', calls: PRESIGN_CALLS });
  } finally {
    await child.stop();
  }
}

function startServer(context: BenchContext) {
  const { workspace, nodeArgs } = context;
  const module = workspace.module('scripts/bench/check-update-process');
  return startChild(module, { cwd: workspace.path, execArgv: nodeArgs });
}
