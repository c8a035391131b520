import { type Server, startService } from './child-process.ts';
import * as clients from './clients.ts';
import { type Compared, compare, comparedTable } from './compare.ts';
import { fillApplication, openTarget, PACKAGES, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { cpuSlice, type Load, type Request, startBaseline, startLoad } from './load.ts';
import { FILE_MIB, HAZEL, linkOf, NGINX, publishFile, startHazel, startNginx } from './peers.ts';
import { withStores } from './stores.ts';
import type { Table } from './table.ts';

/** Compares the processor time of an answer with its cost in other servers. */

/** In this time, Node compiles the code of a route, or the code of the whole service. */
const WARM_SECONDS = 0.7;
const WARM_SERVICE_SECONDS = 4;
/** Downloads use few connections, because each connection receives whole files. */
const DOWNLOADS = 8;
/** Node compiles the code differently at each start, so the pairs alternate among this many processes. */
const PROCESSES = 2;

interface Route {
  readonly name: string;
  readonly requests: readonly Request[];
  /** The highest ratio to the peer. */
  readonly max?: number;
  /** True when the clients have the answer already, so that the service answers 304. */
  readonly isKnown?: boolean;
  /** True for routes that are also measured on S3, and while a store fails. */
  readonly isEverywhere?: boolean;
  /** Without it, the peer is bare node:http, which answers with a body of the same size. */
  readonly peer?: { readonly name: 'nginx' | 'Hazel'; readonly request: Request };
}

const { get, checks, NEWEST, OLDER } = clients;
const SHARED = 1.5;
const KNOWN = 1.6;
const CHECK = 1.8;
const HAZEL_MAX = 1.2;

const BEHIND = checks(
  Array.from({ length: 60 }, (_, index) => versionAt(clients.RELEASES - 2 - index)),
  '"update_available":true',
);

/** Both a route and the same route for clients that have its answer. */
function shared(name: string, request: Request): readonly Route[] {
  return [
    { name, requests: [request], max: SHARED },
    { name: `${name}, 304`, requests: [request], max: KNOWN, isKnown: true },
  ];
}

const hazel = { name: 'Hazel', request: get(HAZEL.route, '"url"') } as const;
const ROUTES: readonly Route[] = [
  { name: 'check-update, no update', requests: checks([NEWEST], '"up_to_date"'), max: CHECK },
  { name: 'check-update, an update', requests: BEHIND, max: CHECK, isEverywhere: true },
  ...shared('latest-version', clients.latestVersion),
  ...shared('page', clients.page),
  ...shared('electron feed', clients.electronUpdater),
  { name: 'squirrel-mac, an update', requests: [clients.squirrelMac(OLDER)], max: SHARED },
  { name: 'squirrel-mac, no update', requests: [clients.squirrelMac(NEWEST)], max: SHARED },
  { name: 'squirrel-windows', requests: [clients.squirrelWindows(OLDER)], max: SHARED },
  ...shared('velopack feed', clients.velopack),
  ...shared('sparkle appcast', clients.sparkle),
  { name: 'download redirect', requests: [clients.redirect], max: 2, isEverywhere: true },
  { name: 'status', requests: [get('/api/v1/system/status', '"components"')], max: 1.7 },
  { name: '/livez', requests: [get('/livez', '{')] },
  { name: 'latest-version', requests: [clients.latestVersion], max: HAZEL_MAX, peer: hazel },
  {
    name: 'squirrel-mac, an update',
    requests: [clients.squirrelMac(OLDER)],
    max: HAZEL_MAX,
    peer: hazel,
  },
  { name: 'electron feed', requests: [clients.electronUpdater], max: HAZEL_MAX, peer: hazel },
  { name: 'check-update, an update', requests: BEHIND, peer: hazel },
  {
    name: 'latest-version ÷ a static file',
    requests: [clients.latestVersion],
    peer: { name: 'nginx', request: get(NGINX.latest, '') },
  },
  {
    name: 'a MiB of a download, sendfile off',
    // The link is made when the service runs.
    requests: [],
    max: 1.3,
    peer: { name: 'nginx', request: get(NGINX.file, '') },
  },
];

function labelOf({ name, peer }: Route): string {
  return `${peer?.name ?? 'node:http'}: ${name}`;
}

/** What runs while the routes of a store are measured. */
interface Rig {
  readonly services: readonly Server[];
  /** A peer that does not start is missing. */
  readonly peers: ReadonlyMap<string, readonly Server[]>;
  readonly answers: Load;
  readonly downloads: Load;
}

export async function benchRoutes(context: BenchContext): Promise<readonly Table[]> {
  const routes = ROUTES.filter((route) => labelOf(route).includes(context.only));
  if (routes.length === 0) {
    const names = ROUTES.map((route) => `  ${labelOf(route)}`).join('\n');
    throw new Error(`The name of no route contains ${context.only}. The routes are:\n${names}`);
  }
  const everywhere = routes.filter(({ isEverywhere }) => isEverywhere);
  const [answers, downloads] = [startLoad(), startLoad(DOWNLOADS)];
  const bare = [await startBaseline(context), await startBaseline(context)];
  const [results, others, skipped]: [Compared[], Compared[], string[]] = [[], [], []];
  await withStores(context, async ({ name, env, prepareOutage }) => {
    const isDirectory = name === 'directory';
    if (!isDirectory && everywhere.length === 0) return;
    const target = await openTarget(env);
    await fillApplication(target, clients.APPLICATION, clients.RELEASES);
    await fillApplication(target, clients.PACKAGED, clients.RELEASES, 2, PACKAGES);
    const file = await publishFile(context, env);
    const outage = await prepareOutage();
    const services: Server[] = [];
    while (services.length < PROCESSES) services.push(await startService(context, outage.env));
    const peers = new Map([['node:http', bare]]);
    const open = async (peer: string, start: () => Promise<Server>): Promise<void> => {
      if (!isDirectory || !routes.some((route) => route.peer?.name === peer)) return;
      try {
        peers.set(peer, [await start()]);
      } catch (error) {
        skipped.push(`${peer}: skipped, because it does not start (${(error as Error).message}).`);
      }
    };
    await open('nginx', async () => {
      const latest = await fetch((services[0] as Server).url + clients.latestVersion.path);
      return startNginx(context, await latest.text(), file);
    });
    await open('Hazel', () => startHazel(context));
    const rig = { services, peers, answers, downloads };
    for (const server of services) await cpuSlice(answers, server, BEHIND, WARM_SERVICE_SECONDS);
    for (const route of isDirectory ? routes : []) {
      results.push(...(await compareRoute(context, rig, route, labelOf(route))));
    }
    const measureOthers = async (state: string): Promise<void> => {
      for (const route of everywhere) {
        others.push(...(await compareRoute(context, rig, route, `${name}${state}: ${route.name}`)));
      }
    };
    if (!isDirectory) await measureOthers('');
    await outage.begin();
    await measureOthers(', while it fails');
    await outage.end();
    for (const server of [...services, ...[...peers.values()].flat()]) {
      if (!bare.includes(server)) await server.stop();
    }
  });
  for (const one of [answers, downloads, ...bare]) await one.stop();
  const tables = [
    comparedTable('Against peers: processor time of an answer', 'µs', results, [
      `Directory store, ${clients.RELEASES} releases, ${PROCESSES} processes of the service in turn. 64 connections; every request has a new installation id and a new \`noCache\`, where clients send them.`,
      'node:http: a bare server that gets the same headers, and answers with the same status and a body of the same size. For check-update it reads the body and parses it as JSON. It writes no log.',
      `Hazel: ${HAZEL.version} in bare node:http, asked for an update, with one release from a stand-in for GitHub's API. It writes no log.`,
      `nginx: one process with its access log. The download is a file of ${FILE_MIB} MiB on ${DOWNLOADS} connections.`,
      ...skipped,
    ]),
    comparedTable('routes: on S3, and while a store fails', 'µs', others, [
      'The baseline is bare node:http.',
    ]),
  ];
  return tables
    .map((table, at) => ({ ...table, block: ['peers', 'routes'][at] }))
    .filter(({ rows }) => rows.length > 0);
}

/** @returns nothing when the peer does not run */
async function compareRoute(
  context: BenchContext,
  { services, peers, answers, downloads }: Rig,
  route: Route,
  name: string,
): Promise<readonly Compared[]> {
  const theirs = peers.get(route.peer?.name ?? 'node:http');
  if (theirs === undefined) return [];
  const { ours, asked } = await trafficOf(route, services[0] as Server);
  const isDownload = route.peer?.request.path === NGINX.file;
  const load = isDownload ? downloads : answers;
  const micros = async (server: Server, requests: readonly Request[]): Promise<number> =>
    (await cpuSlice(load, server, requests)) / (isDownload ? FILE_MIB : 1);
  for (const server of services) await cpuSlice(load, server, ours, WARM_SECONDS);
  for (const server of theirs) await cpuSlice(load, server, asked, WARM_SECONDS);
  const compared = await compare(context, {
    name,
    // The pairs visit all combinations of the processes.
    service: (pair) => micros(services[(pair >> 1) % services.length] as Server, ours),
    baseline: (pair) => micros(theirs[(pair >> 2) % theirs.length] as Server, asked),
    limit: route.max === undefined ? undefined : { max: route.max },
  });
  return [compared];
}

/** What the service is asked, and what its peer is asked. */
async function trafficOf(
  { requests, peer, isKnown = false }: Route,
  service: Server,
): Promise<{ readonly ours: readonly Request[]; readonly asked: readonly Request[] }> {
  if (peer?.request.path === NGINX.file) {
    return { ours: [get(await linkOf(service), '')], asked: [peer.request] };
  }
  if (peer !== undefined) return { ours: requests, asked: [peer.request] };
  const first = requests[0] as Request;
  const { method, path, body } = first;
  const headers = { ...first.headers, 'content-type': 'application/json' };
  const init = { method, headers, redirect: 'manual', ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(service.url + path, init as RequestInit);
  const { byteLength } = await answer.arrayBuffer();
  const etag = answer.headers.get('etag') ?? '';
  const known = { ...first.headers, 'if-none-match': etag };
  const sent = isKnown ? { ...first, status: 304, contains: etag, headers: known } : first;
  const query = path.includes('?') ? path.slice(path.indexOf('?')) : '';
  const bare = { ...sent, path: `/${sent.status}/${byteLength}${query}`, contains: '' };
  return { ours: isKnown ? [sent] : requests, asked: [bare] };
}
