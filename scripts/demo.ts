import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { type BuiltApp, buildApp } from '../src/app.ts';
import { loadConfig } from '../src/config.ts';
import { isAppError } from '../src/errors.ts';
import { systemClock, systemRandomness } from '../src/system.ts';

/**
 * Demonstrates Slipway on one machine: publishes two versions of a real native program (esbuild's, which
 * is in node_modules), serves them, and acts as the client that runs the old version.
 */

const ROOT = path.join(import.meta.dirname, '..');
const OS_BY_NODE: Readonly<Record<string, string>> = {
  win32: 'windows',
  darwin: 'macos',
  linux: 'linux',
};
const REQUEST_TIMEOUT_MS = 10_000;

interface Program {
  readonly version: string;
  readonly file: string;
}

interface Answer {
  readonly version?: string;
  readonly download: {
    readonly url: string;
    readonly filename: string;
    readonly size: number;
    readonly sha256: string;
  };
}

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
const env = {
  DATA_DIR: path.join(ROOT, 'data', 'demo'),
  ...process.env,
  OBJECT_STORE: 'filesystem',
  DEFAULT_APP: 'desktop',
  // An empty value counts as unset and takes precedence over a .env file.
  PUBLIC_URL: '',
  NODE_ENV: '',
};

try {
  const [previous, current] = [await findProgram('esbuild-previous'), await findProgram('esbuild')];
  step('A publisher releases two versions of a real program');
  for (const program of [previous, current]) await publish(program);
  step('The service starts on the same directory');
  const { app, url } = await startService();
  step(`A client that runs ${previous.version} checks for an update`);
  await playClient(url, previous, current);
  if (values.once) {
    await Promise.all([app.http.close(), app.catalog.stop()]);
  } else {
    printAddresses(url, previous);
    process.once('SIGINT', () => process.exit(0));
  }
} catch (error) {
  console.error(
    `\n${isAppError(error) ? error.message : error instanceof Error ? error.stack : error}`,
  );
  process.exit(1);
}

function step(text: string): void {
  console.log(`\n=== ${text}`);
}

/** The native program inside an npm package of esbuild, for this machine. */
async function findProgram(packageName: string): Promise<Program> {
  const require = createRequire(path.join(ROOT, 'package.json'));
  const manifest = require.resolve(`${packageName}/package.json`);
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const platform = `@esbuild/${process.platform}-${process.arch}/package.json`;
  const directory = path.dirname(createRequire(manifest).resolve(platform));
  const name = process.platform === 'win32' ? 'esbuild.exe' : 'bin/esbuild';
  return { version, file: path.join(directory, name) };
}

/** Publishes with the real command line, and prints the command. */
async function publish({ version, file }: Program): Promise<void> {
  const os = OS_BY_NODE[process.platform] ?? process.platform;
  const descriptor = `${file},os=${os},arch=${process.arch},format=binary`;
  const words = ['publish', version, descriptor, '--create'];
  console.log(
    `$ DATA_DIR=${path.relative(ROOT, env.DATA_DIR)} npm run slipway -- ${words.join(' ').replaceAll(`${ROOT}${path.sep}`, '')}`,
  );
  const child = spawn(process.execPath, [path.join(ROOT, 'scripts', 'slipway.ts'), ...words], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  // The command has printed the reason.
  if (code !== 0) process.exit(1);
}

async function startService(): Promise<{ app: BuiltApp; url: string }> {
  const config = loadConfig(env);
  const logger = pino({ level: 'warn' });
  const app = await buildApp({ config, clock: systemClock, randomness: systemRandomness, logger });
  await app.catalog.start();
  const host = config.host;
  await app.http
    .listen({ host, port: config.port })
    // Another service may use the default port.
    .catch(() => app.http.listen({ host, port: 0 }));
  const { port } = app.http.server.address() as AddressInfo;
  const url = `http://${host}:${port}`;
  app.learnAddress(url);
  console.log(`listening on ${url}`);
  return { app, url };
}

async function playClient(url: string, old: Program, expected: Program): Promise<void> {
  const question = {
    current_version: old.version,
    platform: process.platform,
    arch: process.arch,
  };
  console.log(`POST ${url}/api/v1/desktop/check-update\n  ${JSON.stringify(question)}`);
  const asked = await fetch(`${url}/api/v1/desktop/check-update`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(question),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const answer = (await asked.json()) as Answer;
  if (answer.version !== expected.version)
    throw new Error(
      `Expected version ${expected.version}, but the service answered ${JSON.stringify(answer)}.`,
    );
  const { download } = answer;
  console.log(
    `  → ${answer.version}, ${download.filename}, ${download.size} bytes, sha256 ${download.sha256}`,
  );

  step('The client downloads the file from the presigned URL and verifies it');
  console.log(`GET ${download.url.replace(/signature=.*/, 'signature=…')}`);
  const response = await fetch(download.url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  const bytes = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  console.log(`  → ${response.status}, ${bytes.length} bytes, sha256 ${sha256}`);
  if (sha256 !== download.sha256)
    throw new Error('The downloaded bytes do not match the SHA-256 in the answer.');
  console.log('  → the hash matches');

  step('The client runs the downloaded program');
  console.log(`$ ${download.filename} --version\n${await runVersion(bytes, download.filename)}`);
}

async function runVersion(bytes: Buffer, filename: string): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'slipway-demo-'));
  try {
    const file = path.join(directory, filename);
    await writeFile(file, bytes);
    await chmod(file, 0o755);
    const child = spawn(file, ['--version'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const output: Buffer[] = [];
    for await (const chunk of child.stdout) output.push(chunk as Buffer);
    return Buffer.concat(output).toString().trim();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function printAddresses(url: string, { version }: Program): void {
  const os = OS_BY_NODE[process.platform];
  const body = JSON.stringify({ current_version: version, platform: os, arch: process.arch });
  step('The service is still running. Try these addresses; stop it with Ctrl-C');
  console.log(
    [
      `  ${url}/docs   all endpoints, to try in a browser`,
      `  curl ${url}/api/v1/desktop/latest-version`,
      `  curl -H 'content-type: application/json' -d '${body}' ${url}/api/v1/desktop/check-update`,
      `  curl -LOJ '${url}/api/v1/desktop/download/${os}-${process.arch}'`,
    ].join('\n'),
  );
}
