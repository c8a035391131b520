import { type Server, startService } from './child-process.ts';
import { comparedTable, compareRound, type Pair, type Results } from './compare.ts';
import { fillApplication, openTarget, PACKAGES, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { cpuTurn, type Load, type Request, startBaseline, startLoad } from './load.ts';
import { withStores } from './stores.ts';
import type { Table } from './table.ts';

/** Compares the cost of an answer of the service with its cost in a server that uses only node:http. */

const RELEASES = 300;
const IDS = 50_000;
const TURNS = 6;
/** One round of one route takes this share of `seconds`. */
const ROUND_SHARE = 0.1;
/** In this time, Node compiles the code of a route, or the code of the whole service. */
const WARM_SECONDS = 1;
const WARM_SERVICE_SECONDS = 5;

const APPLICATION = 'desktop';
/** An application with packages of Squirrel and Velopack. */
const PACKAGED = 'packaged';
const NEWEST = versionAt(RELEASES - 1);
const LATEST = '/api/v1/desktop/latest-version?platform=windows&arch=x64';
const PAGE = `/apps/${APPLICATION}`;
const BROWSER = {
  'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0',
  'sec-ch-ua-platform': '"Windows"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-arch': '"x86"',
  'sec-ch-ua-bitness': '"64"',
};
const FEED = `/feeds/${APPLICATION}/stable/electron/latest.yml`;

interface Route {
  readonly name: string;
  readonly requests: readonly Request[];
  /** The highest ratio to the baseline. */
  readonly max?: number;
  /** The number of different installation ids of the clients. */
  readonly ids?: number;
  /** True when the clients have the answer already, so that the service answers 304. */
  readonly isKnown?: boolean;
}

const BEHIND = checks(
  Array.from({ length: 60 }, (_, index) => versionAt(RELEASES - 2 - index)),
  '"update_available":true',
);
const FEEDS = `/feeds/${APPLICATION}/stable`;
const SQUIRREL = `/feeds/${PACKAGED}/stable/squirrel-windows/RELEASES`;
const VELOPACK = `/feeds/${PACKAGED}/stable/velopack/releases.linux.json`;
const APPCAST = `${FEEDS}/sparkle/appcast.xml`;
const STAGED = { ...get(FEED, NEWEST), headers: { 'x-user-staging-id': '{id}' } };

const ROUTES: readonly Route[] = [
  { name: 'check-update, no update', requests: checks([NEWEST], '"up_to_date"'), max: 1.9 },
  { name: 'check-update, an update and its link', requests: BEHIND, max: 2.1 },
  { name: `check-update, ${IDS} installation ids`, requests: BEHIND, ids: IDS, max: 2.1 },
  { name: 'latest-version', requests: [get(LATEST, NEWEST)], max: 1.7 },
  { name: 'latest-version, 304', requests: [get(LATEST, '')], isKnown: true, max: 1.5 },
  { name: 'page', requests: [{ ...get(PAGE, NEWEST), headers: BROWSER }], max: 1.7 },
  { name: 'page, 304', requests: [get(PAGE, '')], isKnown: true, max: 1.5 },
  { name: 'electron feed', requests: [get(FEED, NEWEST)], max: 1.7 },
  { name: `electron feed, ${IDS} staging ids`, requests: [STAGED], ids: IDS, max: 1.7 },
  { name: 'electron feed, 304', requests: [get(FEED, '')], isKnown: true, max: 1.5 },
  {
    name: 'squirrel-mac, an update',
    requests: [get(`${FEEDS}/squirrel-mac/darwin/arm64/${versionAt(RELEASES - 2)}`, NEWEST)],
    max: 1.7,
  },
  {
    name: 'squirrel-mac, no update',
    requests: [get(`${FEEDS}/squirrel-mac/darwin/arm64/${NEWEST}`, '', 204)],
    max: 1.7,
  },
  {
    name: 'squirrel-windows, an update',
    requests: [get(`${SQUIRREL}?localVersion=${versionAt(RELEASES - 2)}&arch=amd64`, '.nupkg')],
    max: 1.7,
  },
  {
    name: 'squirrel-windows, no update',
    requests: [get(`${SQUIRREL}?localVersion=${NEWEST}&arch=amd64`, '.nupkg')],
    max: 1.7,
  },
  { name: 'velopack feed', requests: [get(VELOPACK, '"Assets"')], max: 1.7 },
  { name: 'velopack feed, 304', requests: [get(VELOPACK, '')], isKnown: true, max: 1.5 },
  { name: 'sparkle appcast', requests: [get(APPCAST, '<rss')], max: 1.7 },
  { name: 'sparkle appcast, 304', requests: [get(APPCAST, '')], isKnown: true, max: 1.5 },
  { name: 'status', requests: [get('/api/v1/system/status', '"components"')], max: 1.7 },
  { name: 'live metrics', requests: [get('/api/v1/metrics/public/live', '{')] },
  {
    name: 'download redirect',
    requests: [get('/api/v1/desktop/download/windows', 'ocation: http', 302)],
    max: 2,
  },
  { name: '/livez', requests: [get('/livez', '{')] },
  { name: '/openapi.json', requests: [get('/openapi.json', '"openapi"')] },
];

export function get(path: string, contains: string, status = 200): Request {
  return { method: 'GET', path, contains, status };
}

/** Checks of clients with these versions, on three platforms. */
export function checks(versions: readonly string[], contains: string): readonly Request[] {
  const clients = [
    { platform: 'win32', arch: 'x64', format: 'nsis', os_version: '10.0.19045' },
    { platform: 'darwin', arch: 'arm64', format: 'zip', os_version: '15.1' },
    { platform: 'linux', arch: 'x64', format: 'appimage', os_version: '6.8.0' },
  ];
  const rest = { channel: 'stable', app: APPLICATION, installation_id: '{id}', locale: 'en-GB' };
  const path = '/api/v1/desktop/check-update';
  return versions.flatMap((version) =>
    clients.map((client): Request => {
      const body = { current_version: version, ...client, ...rest };
      return { method: 'POST', path, body, status: 200, contains };
    }),
  );
}

export async function benchRoutes(context: BenchContext): Promise<readonly Table[]> {
  const routes = ROUTES.filter(({ name }) => name.includes(context.only));
  if (routes.length === 0) {
    const names = ROUTES.map(({ name }) => `  ${name}`).join('\n');
    throw new Error(`The name of no route contains ${context.only}. The routes are:\n${names}`);
  }
  const [load, baseline] = [startLoad(), await startBaseline(context)];
  const results: Results = new Map();
  for (const { requests } of ROUTES.slice(0, 4)) {
    const traffic = { requests: [{ ...requests[0], path: '/200/200', contains: '' } as Request] };
    await load.send(baseline, traffic, { seconds: WARM_SECONDS });
  }
  await withStores(context, async (store) => {
    const target = await openTarget(store.env);
    await fillApplication(target, APPLICATION, RELEASES);
    await fillApplication(target, PACKAGED, RELEASES, 2, PACKAGES);
    // Every round has its own service, because Node compiles the code differently at each start.
    for (let round = 1; round <= context.rounds; round++) {
      const outage = await store.prepareOutage();
      const server = await startService(context, outage.env);
      await load.send(server, { requests: BEHIND }, { seconds: WARM_SERVICE_SECONDS });
      const measure = async (state: string): Promise<void> => {
        for (const route of routes) {
          const name = `${store.name}${state}: ${route.name}`;
          context.progress(`routes: ${name}, round ${round}`);
          const pair = await pairOf(context, { ...route, name }, server, load, baseline);
          await compareRound(results, pair, TURNS);
        }
      };
      await measure('');
      await outage.begin();
      await measure(', while it fails');
      await outage.end();
      await server.stop();
    }
  });
  load.stop();
  await baseline.stop();
  return [
    comparedTable('routes: processor time per request', 'µs', results, [
      `Medians of ${context.rounds} rounds, each with a new service. 64 connections; the access log goes to a file.`,
      'The baseline is bare node:http. It gets the same request headers and answers with a body of the same size; for check-update it reads the body and parses it as JSON.',
    ]),
  ];
}

async function pairOf(
  { seconds }: BenchContext,
  { name, requests, max, ids, isKnown = false }: Route,
  server: Server,
  load: Load,
  baseline: Server,
): Promise<Pair> {
  const first = requests[0] as Request;
  const { method, path, body } = first;
  const headers = { ...first.headers, 'content-type': 'application/json' };
  const init = { method, headers, redirect: 'manual', ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(server.url + path, init as RequestInit);
  const { byteLength } = await answer.arrayBuffer();
  const etag = answer.headers.get('etag') ?? '';
  const known = { ...first, status: 304, contains: etag, headers: { 'if-none-match': etag } };
  const traffic = { requests: isKnown ? [known] : requests, ids };
  const { status, headers: sent = {} } = isKnown ? known : first;
  const bare = { ...first, headers: sent, path: `/${status}/${byteLength}`, status, contains: '' };
  await load.send(server, traffic, { seconds: WARM_SECONDS });
  const turn = (seconds * ROUND_SHARE) / TURNS / 2;
  return {
    name,
    service: cpuTurn(load, server, traffic, turn),
    baseline: cpuTurn(load, baseline, { requests: [bare] }, turn),
    limit: max === undefined ? undefined : { max },
  };
}
