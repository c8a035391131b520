import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type Environment,
  runCommand,
  type Server,
  spawnServer,
  waitFor,
} from './child-process.ts';
import { NEWEST } from './clients.ts';
import { NOTES } from './content.ts';
import type { BenchContext } from './context.ts';

/** Servers that other projects use for the same purpose, and a large file to download from them. */

export const FILE_MIB = 64;
/** What nginx serves. */
export const NGINX = { latest: '/latest', file: '/file' } as const;
export const HAZEL = { version: 'hazel-server@5.1.1', route: '/update/darwin/1.0.0' } as const;

/** Publishes a file of random bytes as a separate application. @returns the path of the file */
export async function publishFile(context: BenchContext, env: Environment): Promise<string> {
  const file = path.join(await context.makeDirectory(), 'Large.AppImage');
  await writeFile(file, randomBytes(FILE_MIB * 1024 * 1024));
  const artifact = `${file},os=linux,arch=x64,format=appimage`;
  await runCommand(context, ['publish', '1.0.0', artifact, '--app', 'large', '--create'], env);
  return file;
}

/** The path of the presigned link of the large file. */
export async function linkOf(service: Server): Promise<string> {
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
        location ${NGINX.latest} { root ${root}; }
        location ${NGINX.file} { alias ${file}; }
      }
    }`;
  const configuration = path.join(root, 'nginx.conf');
  const argsOf = async (port: number): Promise<readonly string[]> => {
    await writeFile(configuration, configure(port));
    return ['-p', root, '-c', configuration];
  };
  const server = await spawnServer(context, 'nginx', argsOf);
  await waitFor(server, NGINX.latest);
  return server;
}

/** @throws Error when npm cannot install Hazel */
export async function startHazel(context: BenchContext): Promise<Server> {
  const cwd = await context.makeDirectory();
  context.progress('peers: installing Hazel');
  const quiet = ['--no-fund', '--no-audit', '--ignore-scripts'];
  execFileSync('npm', ['install', HAZEL.version, '--prefix', cwd, ...quiet], {
    cwd,
    stdio: 'ignore',
  });
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
  await waitFor(server, HAZEL.route);
  return server;
}
