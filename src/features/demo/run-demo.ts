import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { Environment } from '../../cli/facts.ts';
import { shown } from '../../cli/place.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import { systemClock, systemRandomness } from '../../core/system.ts';
import type { OpenedService, OpenService } from '../../server/opened-service.ts';
import { demoDirectory } from './demo-directory.ts';

const OS_BY_NODE: Readonly<Record<string, string>> = {
  win32: 'windows',
  darwin: 'macos',
  linux: 'linux',
};
const OS = OS_BY_NODE[process.platform] ?? process.platform;
const REQUEST_TIMEOUT_MS = 10_000;
const OLD = '1.0.0';
const NEW = '1.1.0';

interface Answer {
  readonly version?: string;
  readonly download: {
    readonly url: string;
    readonly filename: string;
    readonly size: number;
    readonly sha256: string;
  };
}

/** Publishes two versions of a small program, serves them, and acts as a client that runs the older version. */
export async function demo(
  terminal: Terminal,
  options: { once: boolean },
  openService: OpenService,
): Promise<void> {
  const given = terminal.environment();
  const env = {
    ...given,
    DATA_DIR: demoDirectory(given, 'demo'),
    OBJECT_STORE: 'filesystem',
    DEFAULT_APP: 'desktop',
    // An empty value counts as unset, and replaces a value from a .env file.
    PUBLIC_URL: '',
    NODE_ENV: '',
  };
  step(terminal, 'A publisher releases two versions of a small program');
  const builds = await mkdtemp(path.join(tmpdir(), 'slipway-demo-'));
  try {
    for (const version of [OLD, NEW]) await publish(terminal, env, builds, version);
    step(terminal, 'The service starts on the same directory');
    const { app, url } = await startService(openService, env);
    print(terminal, `listening on ${url}`);
    let goesOn = false;
    try {
      await playClient(terminal, url, builds);
      goesOn = !options.once;
    } finally {
      if (!goesOn) await Promise.all([app.http.close(), app.catalog.stop()]);
    }
    if (goesOn) printAddresses(terminal, url);
  } finally {
    await rm(builds, { recursive: true, force: true });
  }
}

function step(terminal: Terminal, text: string): void {
  print(terminal, `\n=== ${text}`);
}

function programText(version: string): string {
  return `import { stdout } from 'node:process';\nstdout.write('Hello, I am version ${version}.\\n');\n`;
}

/** Publishes with the real command line, and prints the command that it runs. */
async function publish(
  terminal: Terminal,
  env: Environment,
  builds: string,
  version: string,
): Promise<void> {
  const file = path.join(builds, version, 'hello.mjs');
  await mkdir(path.dirname(file));
  await writeFile(file, programText(version));
  const words = ['publish', version, `${file},os=${OS},arch=${process.arch},format=binary`];
  print(terminal, `$ DATA_DIR=${shown(String(env.DATA_DIR))} slipway ${words.join(' ')} --create`);
  const args = [String(process.argv[1]), ...words, '--create'];
  const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) {
    const data = shown(String(env.DATA_DIR));
    throw new AppError(
      'internal',
      `The demo stops, because "slipway publish" failed. To start again, delete ${data}.`,
    );
  }
}

async function startService(
  openService: OpenService,
  environment: Environment,
): Promise<{ app: OpenedService; url: string }> {
  const app = await openService({
    environment,
    clock: systemClock,
    randomness: systemRandomness,
    logger: pino({ level: 'warn' }),
  });
  await app.catalog.start();
  const { host } = app.config;
  await app.http
    .listen({ host, port: app.config.port })
    // If another program uses the default port, the demo uses a free port.
    .catch(() => app.http.listen({ host, port: 0 }));
  const { port } = app.http.server.address() as AddressInfo;
  const url = `http://${host}:${port}`;
  app.learnAddress(url);
  return { app, url };
}

async function playClient(terminal: Terminal, url: string, builds: string): Promise<void> {
  step(terminal, `A client that runs ${OLD} checks for an update`);
  const question = { current_version: OLD, platform: process.platform, arch: process.arch };
  const body = JSON.stringify(question);
  print(terminal, `POST ${url}/api/v1/desktop/check-update\n  ${body}`);
  const asked = await fetch(`${url}/api/v1/desktop/check-update`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const answer = (await asked.json()) as Answer;
  if (answer.version !== NEW) {
    throw new AppError(
      'internal',
      `The demo expected version ${NEW}, but the service offers ${answer.version ?? 'no version'}: DATA_DIR has other releases. To begin again, delete it.`,
    );
  }
  const { download } = answer;
  const { filename, size, sha256 } = download;
  print(terminal, `  → ${answer.version}, ${filename}, ${size} bytes, sha256 ${sha256}`);

  step(terminal, 'The client downloads the file from the presigned URL and verifies it');
  print(terminal, `GET ${download.url.replace(/signature=.*/, 'signature=…')}`);
  const response = await fetch(download.url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  const bytes = Buffer.from(await response.arrayBuffer());
  const found = createHash('sha256').update(bytes).digest('hex');
  print(terminal, `  → ${response.status}, ${bytes.length} bytes, sha256 ${found}`);
  if (found !== sha256) {
    throw new AppError('internal', 'The downloaded bytes do not have the SHA-256 of the answer.');
  }
  print(terminal, '  → the hash matches');

  step(terminal, 'The client runs the downloaded program');
  const file = path.join(builds, filename);
  await writeFile(file, bytes);
  print(terminal, `$ node ${filename}\n${await run(file)}`);
}

async function run(file: string): Promise<string> {
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const output: Buffer[] = [];
  for await (const chunk of child.stdout) output.push(chunk as Buffer);
  return Buffer.concat(output).toString().trim();
}

function printAddresses(terminal: Terminal, url: string): void {
  const body = JSON.stringify({ current_version: OLD, platform: OS, arch: process.arch });
  step(terminal, 'The service still runs. Try these addresses; stop it with Ctrl-C');
  print(
    terminal,
    [
      `  ${url}/docs   the API, to try in a browser`,
      `  curl ${url}/api/v1/desktop/latest-version`,
      `  curl -H 'content-type: application/json' -d '${body}' ${url}/api/v1/desktop/check-update`,
      `  curl -LOJ '${url}/api/v1/desktop/download/${OS}-${process.arch}'`,
    ].join('\n'),
  );
}
