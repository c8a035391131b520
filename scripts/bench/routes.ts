import { rename } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import type { BenchContext } from './bench.ts';
import { COMPARED_HEADING, type Compared, compare, comparedRow } from './compare.ts';
import { fillApplication, openDirectoryTarget, openS3Target, versionAt } from './content.ts';
import { type Load, type Request, startLoad, type Traffic } from './load.ts';
import { type Baseline, startBaseline } from './probe.ts';
import { makeBucket, S3_SKIPPED } from './s3.ts';
import { type Environment, type RunningServer, startService } from './server.ts';
import type { Table } from './table.ts';

/** Compares what an answer costs the service with what it costs bare node:http. */

const OFFERS = 200;
const IDS = 50_000;
const APPLICATION = 'desktop';
/** One round of one route takes this share of `seconds`. */
const ROUND_SHARE = 0.1;
/** Until Node has compiled the code of the route. */
const WARM_SECONDS = 1;

interface Route {
  readonly name: string;
  readonly traffic: Traffic;
  /** The highest ratio to the baseline. */
  readonly max?: number;
}

export async function benchRoutes(context: BenchContext): Promise<readonly Table[]> {
  const load = await startLoad();
  const baseline = await startBaseline();
  try {
    const directory = await context.workspace.makeDirectory();
    await fillApplication(await openDirectoryTarget(directory), PLAN);
    const objects = path.join(directory, 'objects');
    const store: Store = {
      name: 'directory',
      env: { DATA_DIR: directory },
      fail: () => rename(objects, `${objects}-away`),
      restore: () => rename(`${objects}-away`, objects),
    };
    const tables = [...(await measureStore(context, store, load, baseline))];
    if (context.s3 === undefined) {
      return [...tables, { title: 'routes, S3', heading: [], rows: [], notes: [S3_SKIPPED] }];
    }
    const bucket = await makeBucket(context.s3);
    const gate = await openGate(context.s3.endpoint);
    try {
      await fillApplication(await openS3Target(bucket.env), PLAN);
      const DATA_DIR = await context.workspace.makeDirectory();
      const env = { ...bucket.env, DATA_DIR, S3_ENDPOINT: gate.endpoint };
      const s3 = { name: 'S3', env, fail: gate.close, restore: gate.open };
      return [...tables, ...(await measureStore(context, s3, load, baseline))];
    } finally {
      await gate.close();
      await bucket.remove();
    }
  } finally {
    await Promise.all([load.stop(), baseline.stop()]);
  }
}

const PLAN = {
  application: APPLICATION,
  channels: { stable: OFFERS, beta: 10 },
  retired: 100,
};
const OLDEST = PLAN.retired;
const NEWEST = PLAN.retired + OFFERS - 1;

interface Store {
  readonly name: string;
  readonly env: Environment;
  fail(): Promise<void>;
  restore(): Promise<void>;
}

/** Every round has a service of its own: how Node compiles the code differs from start to start. */
async function measureStore(
  context: BenchContext,
  store: Store,
  load: Load,
  baseline: Baseline,
): Promise<readonly Table[]> {
  const healthy = new Map<string, Compared[]>();
  const failing = new Map<string, Compared[]>();
  const routes = new Map<string, Route>();
  for (let round = 1; round <= context.rounds; round++) {
    const server = await startService(context, store.env);
    const measureAll = async (results: Map<string, Compared[]>, isNew: boolean): Promise<void> => {
      for (const route of await routesOf(server)) {
        if (!route.name.includes(context.only)) continue;
        context.progress(`routes: ${route.name}, ${store.name}, round ${round}`);
        const compared = await measureRoute(context, route, server, load, baseline, isNew);
        results.set(route.name, [...(results.get(route.name) ?? []), compared]);
        routes.set(route.name, route);
      }
    };
    try {
      await measureAll(healthy, true);
      await store.fail();
      try {
        await measureAll(failing, false);
      } finally {
        await store.restore();
      }
    } finally {
      await server.stop();
    }
  }
  return [['', healthy] as const, [', while the store fails', failing] as const].map(
    ([state, results]) => ({
      title: `routes, ${store.name} store${state}: processor time per request`,
      heading: ['', ...COMPARED_HEADING],
      rows: [...routes.values()].map(({ name, max }) =>
        comparedRow(name, results.get(name) ?? [], max),
      ),
      notes: [
        `Medians of ${context.rounds} rounds, each with a new service. 64 connections; the access log goes to a file.`,
        'The baseline is bare node:http with a body of the same size; for check-update it reads the body and parses it as JSON.',
      ],
    }),
  );
}

async function measureRoute(
  { seconds }: BenchContext,
  { traffic }: Route,
  server: RunningServer,
  load: Load,
  baseline: Baseline,
  isNew: boolean,
): Promise<Compared> {
  const { status, method, body } = traffic.requests[0] as Request;
  const bare = await baseline.listen({ bytes: await bodyBytes(server, traffic), status });
  const request: Request = { method, path: '/', status, contains: '', ...(body && { body }) };
  const service = { server, traffic };
  const other = { server: bare, traffic: { requests: [request] } };
  if (isNew) await load.send(server, traffic, WARM_SECONDS);
  return compare(load, service, other, seconds * ROUND_SHARE);
}

/** The size of the answer's body to the first request. */
async function bodyBytes(server: RunningServer, { requests }: Traffic): Promise<number> {
  const { method, path: target, headers, body } = requests[0] as Request;
  const response = await fetch(server.url + target, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.arrayBuffer()).byteLength;
}

async function routesOf(server: RunningServer): Promise<readonly Route[]> {
  const newest = versionAt(NEWEST);
  const get = (target: string, contains: string, status = 200): Request => ({
    ...{ method: 'GET', path: target, contains, status },
  });
  const notModified = async (target: string): Promise<Request> => {
    const etag = (await fetch(server.url + target)).headers.get('etag') ?? '';
    return { ...get(target, etag, 304), headers: { 'if-none-match': etag } };
  };
  const latest = '/api/v1/desktop/latest-version?platform=windows&arch=x64';
  const feed = `/feeds/${APPLICATION}/stable/electron/latest.yml`;
  const staged = { ...get(feed, newest), headers: { 'x-user-staging-id': '{id}' } };
  const older = Array.from({ length: 60 }, (_, i) => versionAt(OLDEST + ((i * 7) % (OFFERS - 1))));
  const behind = checks(older, '"update_available":true');
  const one = (request: Request): Traffic => ({ requests: [request] });
  return [
    {
      name: 'check-update, no update',
      traffic: { requests: checks([newest], '"reason":"up_to_date"') },
      max: 1.9,
    },
    { name: 'check-update, an update and its link', traffic: { requests: behind }, max: 2.1 },
    {
      name: `the same, ${IDS.toLocaleString('en')} installation ids`,
      traffic: { requests: behind, ids: IDS },
      max: 2.1,
    },
    { name: 'latest-version', traffic: one(get(latest, newest)), max: 1.7 },
    { name: 'latest-version, 304', traffic: one(await notModified(latest)), max: 1.5 },
    { name: 'electron feed', traffic: one(get(feed, newest)), max: 1.7 },
    {
      name: `the same, ${IDS.toLocaleString('en')} staging ids`,
      traffic: { requests: [staged], ids: IDS },
      max: 1.7,
    },
    { name: 'electron feed, 304', traffic: one(await notModified(feed)), max: 1.5 },
    { name: 'status', traffic: one(get('/api/v1/system/status', '"components"')), max: 1.7 },
    { name: 'live metrics', traffic: one(get('/api/v1/metrics/public/live', '{')) },
    {
      name: 'download redirect',
      traffic: one(get('/api/v1/desktop/download/windows', 'ocation: http', 302)),
      max: 2,
    },
    { name: '/livez', traffic: one(get('/livez', '{')) },
    { name: '/openapi.json', traffic: one(get('/openapi.json', '"openapi"')) },
  ];
}

/** Clients of three platforms with these versions. */
export function checks(versions: readonly string[], contains: string): readonly Request[] {
  const clients = [
    { platform: 'win32', arch: 'x64', format: 'nsis', os_version: '10.0.19045' },
    { platform: 'darwin', arch: 'arm64', format: 'zip', os_version: '15.1' },
    { platform: 'linux', arch: 'x64', format: 'appimage', os_version: '6.8.0' },
  ];
  return versions.flatMap((version) =>
    clients.map((client) => ({
      method: 'POST' as const,
      path: '/api/v1/desktop/check-update',
      body: {
        ...{ current_version: version, ...client, channel: 'stable', app: APPLICATION },
        ...{ installation_id: '{id}', locale: 'en-GB' },
      },
      status: 200,
      contains,
    })),
  );
}

/** A way to the S3 server that can be closed, so that the store fails for the service only. */
async function openGate(endpoint: string) {
  const { hostname, port, protocol } = new URL(endpoint);
  const target = { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((client) => {
    const pair = isOpen ? [client, connect(target)] : [client];
    const end = (): void => pair.forEach((socket) => void socket.destroy());
    if (pair[1] === undefined) return end();
    client.pipe(pair[1]).pipe(client);
    for (const socket of pair) sockets.add(socket.on('error', end).on('close', end));
  });
  await new Promise<void>((resolve) => server.unref().listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: async (): Promise<void> => {
      isOpen = true;
    },
    close: async (): Promise<void> => {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
  };
}
