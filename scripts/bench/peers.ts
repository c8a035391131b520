import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand, type Server, spawnServer, startService, waitFor } from './child-process.ts';
import { comparedTable, compareRound, type Results } from './compare.ts';
import { fillApplication, NOTES, openTarget, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { cpuTurn, type Request, startLoad } from './load.ts';
import { checks, get } from './routes.ts';
import type { Table } from './table.ts';

/** Compares answers and downloads with servers that other projects use for the same purpose. */

const FILE_MIB = 64;
const HAZEL = 'hazel-server@5.1.1';
const HAZEL_ROUTE = '/update/darwin/1.0.0';
const NEWEST = versionAt(99);
const LATEST = '/api/v1/desktop/latest-version?platform=macos&arch=x64';
const TURNS = 6;
const ROUND_SHARE = 0.2;

export async function benchPeers(context: BenchContext): Promise<readonly Table[]> {
  const DATA_DIR = await context.makeDirectory();
  await fillApplication(await openTarget({ DATA_DIR }), 'desktop', 100);
  const file = await publishFile(context, DATA_DIR);
  const service = await startService(context, { DATA_DIR });
  const skipped: string[] = [];
  const open = (name: string, start: (context: BenchContext) => Promise<Server>) =>
    start(context).catch((error: Error) => {
      skipped.push(`${name}: skipped, because it does not start (${error.message}).`);
      return undefined;
    });
  const latest = await (await fetch(service.url + LATEST)).text();
  const nginx = await open('nginx', () => startNginx(context, latest, file));
  const hazel = await open('Hazel', startHazel);
  // The downloads use few connections, because each connection receives whole files.
  const [load, downloads] = [startLoad(), startLoad(8)];
  const results: Results = new Map();
  const compare = async (name: string, ours: readonly Request[], peer: Server, theirs: Request) => {
    const isDownload = theirs.path === '/file';
    const by = isDownload ? downloads : load;
    const turnOf = (server: Server, requests: readonly Request[]) => {
      const turn = cpuTurn(by, server, { requests }, (context.seconds * ROUND_SHARE) / TURNS / 2);
      return async () => (await turn()) / (isDownload ? FILE_MIB : 1);
    };
    const limit = isDownload ? { max: 1.25 } : undefined;
    const pair = { name, service: turnOf(service, ours), baseline: turnOf(peer, [theirs]), limit };
    // The first round does not count: in it, both servers warm up.
    for (let round = 0; round <= context.rounds; round++) {
      context.progress(`peers: ${name}, round ${round}`);
      await compareRound(round === 0 ? new Map() : results, pair, TURNS);
    }
  };
  const ours = [get(LATEST, NEWEST)];
  if (nginx !== undefined) {
    const link = [get(await linkOf(service), '')];
    await compare('latest-version ÷ a static file of nginx', ours, nginx, get('/latest', ''));
    await compare('download, a MiB ÷ nginx, sendfile off', link, nginx, get('/file', ''));
  }
  if (hazel !== undefined) {
    const theirs = get(HAZEL_ROUTE, '"url"');
    const behind = checks([versionAt(0)], '"update_available":true');
    await compare('latest-version ÷ update of Hazel', ours, hazel, theirs);
    await compare('check-update ÷ update of Hazel', behind, hazel, theirs);
  }
  for (const one of [load, downloads]) one.stop();
  await Promise.all([service, nginx, hazel].map((server) => server?.stop()));
  return [
    comparedTable('peers: processor time per request, and per MiB of a download', 'µs', results, [
      `Medians of ${context.rounds} rounds. Directory store; every server writes its access log to a file, Hazel has none.`,
      `nginx: one process. The download is a file of ${FILE_MIB} MiB on 8 connections.`,
      `Hazel: ${HAZEL} in bare node:http, with one release from a stand-in for GitHub's API.`,
      ...skipped,
    ]),
  ];
}

/** Publishes a file of random bytes as a separate application. @returns the path of the file */
async function publishFile(context: BenchContext, DATA_DIR: string): Promise<string> {
  const file = path.join(await context.makeDirectory(), 'Large.AppImage');
  await writeFile(file, randomBytes(FILE_MIB * 1024 * 1024));
  const artifact = `${file},os=linux,arch=x64,format=appimage`;
  await runCommand(context, ['publish', '1.0.0', artifact, '--app', 'large', '--create'], {
    DATA_DIR,
  });
  return file;
}

/** The path of the presigned link of the large file. */
async function linkOf(service: Server): Promise<string> {
  const target = '/api/v1/desktop/download/linux?app=large';
  const { headers } = await fetch(service.url + target, { redirect: 'manual' });
  const { pathname, search } = new URL(headers.get('location') ?? '');
  return pathname + search;
}

/** Serves a text at `/latest` and a file at `/file`. @throws Error when nginx is not installed */
export async function startNginx(
  context: BenchContext,
  latest: string,
  file: string,
): Promise<Server> {
  const root = await context.makeDirectory();
  await writeFile(path.join(root, 'latest'), latest);
  // As root, nginx would switch to another user, and only this user can read the temporary directory.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const configure = (port: number): string => `${user}
    daemon off; master_process off; pid ${root}/pid; error_log ${root}/errors;
    events { worker_connections 1024; }
    http {
      ${kinds.map((kind) => `${kind}_temp_path ${root}/${kind};`).join(' ')}
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
  const server = await spawnServer(context, 'nginx', argsOf);
  await waitFor(server, '/latest');
  return server;
}

/** @throws Error when npm cannot install Hazel */
async function startHazel(context: BenchContext): Promise<Server> {
  const cwd = await context.makeDirectory();
  context.progress('peers: installing Hazel');
  const quiet = ['--no-fund', '--no-audit', '--ignore-scripts'];
  execFileSync('npm', ['install', HAZEL, '--prefix', cwd, ...quiet], { cwd, stdio: 'ignore' });
  const asset = {
    name: 'Acme-mac.zip',
    browser_download_url: 'https://example.com/a.zip',
    size: 1,
  };
  const state = { draft: false, prerelease: false, published_at: '2026-11-01T12:00:00Z' };
  const release = { tag_name: NEWEST, body: NOTES, ...state, assets: [asset] };
  const main = path.join(cwd, 'main.cjs');
  await writeFile(
    main,
    `const answer = { status: 200, json: async () => [${JSON.stringify(release)}] };
     require.cache[require.resolve('node-fetch')] = { loaded: true, exports: async () => answer };
     const handle = require('hazel-server')({ account: 'acme', repository: 'studio' });
     require('node:http').createServer(handle).listen(process.env.PORT, process.env.HOST);`,
  );
  const server = await spawnServer(context, process.execPath, () => [main]);
  await waitFor(server, HAZEL_ROUTE);
  return server;
}
