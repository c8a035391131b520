import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BenchContext } from './bench.ts';
import { runCommand, runProgram } from './command.ts';
import { COMPARED_HEADING, type Compared, compare, comparedRow, type Side } from './compare.ts';
import { fillApplication, NOTES, openDirectoryTarget, versionAt } from './content.ts';
import { type Request, startLoad } from './load.ts';
import { checks } from './routes.ts';
import { type RunningServer, spawnServer, startService, waitFor } from './server.ts';
import type { Row, Table } from './table.ts';

/** Compares answers and downloads with the servers that others use for them. */

const DOWNLOAD_RATIO_MAX = 1.25;
const FILE_MIB = 64;
/** Few: every connection receives whole files. */
const DOWNLOADS_AT_ONCE = 8;
const HAZEL = 'hazel-server@5.1.1';
const PLAN = { application: 'desktop', channels: { stable: 50, beta: 5 }, retired: 0 };
const NEWEST = versionAt(PLAN.channels.stable - 1);
const WARM_SECONDS = 1;
const ROUND_SHARE = 0.2;

const LATEST: Request = {
  ...{ method: 'GET', path: '/api/v1/desktop/latest-version?platform=macos&arch=x64' },
  ...{ status: 200, contains: NEWEST },
};
const CHECK = { requests: checks([versionAt(0)], '"update_available":true') };

interface Pair {
  readonly name: string;
  readonly service: Side;
  readonly peer: Side;
  readonly max?: number;
  /** What one request is, for the unit of the row. */
  readonly perRequest?: number;
  readonly connections?: number;
}

export async function benchPeers(context: BenchContext): Promise<readonly Table[]> {
  const directory = await context.workspace.makeDirectory();
  await fillApplication(await openDirectoryTarget(directory), PLAN);
  const file = await publishFile(context, directory);
  const servers: RunningServer[] = [];
  const skipped: string[] = [];
  const open = async (start: Promise<RunningServer>): Promise<RunningServer | undefined> => {
    const server = await start.catch((error: Error) => void skipped.push(error.message));
    if (server !== undefined) servers.push(server);
    return server ?? undefined;
  };
  try {
    const service = await startService(context, { DATA_DIR: directory });
    servers.push(service);
    const latest = { server: service, traffic: { requests: [LATEST] } };
    const check = { server: service, traffic: CHECK };
    const pairs: Pair[] = [];
    const nginx = await open(startNginx(context, service, file));
    if (nginx !== undefined) {
      const peer = (target: string): Side => ({
        server: nginx,
        traffic: { requests: [{ method: 'GET', path: target, status: 200, contains: '' }] },
      });
      const link = await linkOf(service);
      const download: Request = { method: 'GET', path: link, status: 200, contains: '' };
      pairs.push(
        { name: 'latest-version ÷ a static file of nginx', service: latest, peer: peer('/latest') },
        {
          name: 'download, a MiB ÷ nginx, sendfile off',
          service: { server: service, traffic: { requests: [download] } },
          peer: peer('/file'),
          max: DOWNLOAD_RATIO_MAX,
          perRequest: FILE_MIB,
          connections: DOWNLOADS_AT_ONCE,
        },
      );
    }
    context.progress('peers: installing Hazel');
    const hazel = await open(startHazel(context));
    if (hazel !== undefined) {
      const update: Request = {
        ...{ method: 'GET', path: '/update/darwin/1.0.0', status: 200, contains: '"url"' },
      };
      const peer = { server: hazel, traffic: { requests: [update] } };
      pairs.push({ name: 'latest-version ÷ update of Hazel', service: latest, peer });
      pairs.push({ name: 'check-update ÷ update of Hazel', service: check, peer });
    }
    const rows: Row[] = [];
    for (const pair of pairs) rows.push(await measure(context, pair));
    return [report(context, rows, skipped)];
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function measure(context: BenchContext, pair: Pair): Promise<Row> {
  const { service, peer, perRequest = 1 } = pair;
  const load = await startLoad(pair.connections);
  try {
    for (const { server, traffic } of [service, peer]) {
      await load.send(server, traffic, WARM_SECONDS);
    }
    const rounds: Compared[] = [];
    for (let round = 1; round <= context.rounds; round++) {
      context.progress(`peers: ${pair.name}, round ${round}`);
      const compared = await compare(load, service, peer, context.seconds * ROUND_SHARE);
      rounds.push({
        service: compared.service / perRequest,
        baseline: compared.baseline / perRequest,
        refused: compared.refused,
      });
    }
    return comparedRow(pair.name, rounds, pair.max);
  } finally {
    await load.stop();
  }
}

function report({ rounds }: BenchContext, rows: readonly Row[], skipped: string[]): Table {
  return {
    title: 'peers: processor time per request, and per MiB of a download',
    heading: ['', ...COMPARED_HEADING],
    rows,
    notes: [
      `Medians of ${rounds} rounds. Directory store; every server writes its access log to a file, Hazel has none.`,
      `nginx: one worker. The download is a file of ${FILE_MIB} MiB on ${DOWNLOADS_AT_ONCE} connections.`,
      `Hazel: ${HAZEL} in bare node:http, with one release from a stand-in for GitHub's API.`,
      ...skipped,
    ],
  };
}

/** Publishes a file of random bytes as an application of its own. @returns its path */
async function publishFile(context: BenchContext, DATA_DIR: string): Promise<string> {
  const file = path.join(await context.workspace.makeDirectory(), 'Large.AppImage');
  await writeFile(file, randomBytes(FILE_MIB * 1024 * 1024));
  const artifact = `${file},os=linux,arch=x64,format=appimage`;
  const args = ['publish', '1.0.0', artifact, '--app', 'large', '--create'];
  await runCommand(context, args, { DATA_DIR });
  return file;
}

/** The path of the presigned link of the large file. */
async function linkOf(service: RunningServer): Promise<string> {
  const target = '/api/v1/desktop/download/linux?app=large';
  const { headers } = await fetch(service.url + target, { redirect: 'manual' });
  const { pathname, search } = new URL(headers.get('location') ?? '');
  return pathname + search;
}

/** @throws Error when nginx is not installed */
async function startNginx(
  context: BenchContext,
  service: RunningServer,
  file: string,
): Promise<RunningServer> {
  const root = await context.workspace.makeDirectory();
  const latest = await fetch(service.url + LATEST.path);
  await writeFile(path.join(root, 'latest'), Buffer.from(await latest.arrayBuffer()));
  // The temporary directory belongs to this user only, and nginx would give up being root.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${root}/${name};`,
  );
  const configure = (port: number): string => `${user}
    daemon off; master_process off; pid ${root}/pid; error_log ${root}/errors;
    events { worker_connections 1024; }
    http {
      ${temporary.join(' ')}
      sendfile off; keepalive_requests 100000000; access_log ${root}/access.log;
      default_type application/json;
      server {
        listen 127.0.0.1:${port};
        location /latest { root ${root}; }
        location /file { alias ${file}; }
      }
    }`;
  const configuration = path.join(root, 'nginx.conf');
  const argsOf = async (port: number): Promise<readonly string[]> => {
    await writeFile(configuration, configure(port));
    return ['-p', root, '-c', configuration];
  };
  const server = await spawnServer(context, 'nginx', argsOf, {}).catch((error: Error) => {
    throw new Error(`nginx: skipped, because it does not start (${error.message}).`);
  });
  await waitFor(server, '/latest');
  return server;
}

/** @throws Error when npm cannot install it */
async function startHazel(context: BenchContext): Promise<RunningServer> {
  const root = await context.workspace.makeDirectory();
  const quiet = ['--no-fund', '--no-audit', '--ignore-scripts', '--loglevel=error'];
  await runProgram('npm', ['install', HAZEL, '--prefix', root, ...quiet], root).catch(
    (error: Error) => {
      throw new Error(`Hazel: skipped, because npm does not install it (${error.message}).`);
    },
  );
  const release = {
    ...{ tag_name: NEWEST, body: NOTES, published_at: '2026-11-01T12:00:00Z' },
    ...{ draft: false, prerelease: false },
    assets: [
      { name: 'Acme-Studio-mac.zip', browser_download_url: 'https://example.com/a.zip', size: 1 },
    ],
  };
  const main = path.join(root, 'main.cjs');
  await writeFile(
    main,
    `const answer = { status: 200, json: async () => [${JSON.stringify(release)}] };
     require.cache[require.resolve('node-fetch')] = { loaded: true, exports: async () => answer };
     const handle = require('hazel-server')({ account: 'acme', repository: 'studio' });
     require('node:http').createServer(handle).listen(process.env.PORT, process.env.HOST);`,
  );
  const server = await spawnServer(context, process.execPath, () => [main], {});
  await waitFor(server, '/update/darwin/1.0.0');
  return server;
}
