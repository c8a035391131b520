import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { MEMORY_ENVIRONMENT, NODE_OPTIONS } from '../../src/cli/serve/run.ts';
import type { BenchContext } from './context.ts';

/** The servers and commands that the benchmarks measure. Each runs in its own process. */

const RETRY_MS = 4;
const READY_MAX_MS = 120_000;
const HOST = '127.0.0.1';

export type Environment = Readonly<Record<string, string>>;

export interface Server {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** The value of `performance.now()` at the start of the process. */
  readonly startedAt: number;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', killChildren);

/** Child processes must not keep running when a benchmark ends early. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Makes sure that a process ends when the benchmark ends, at the latest. */
export function endWithBench<C extends ChildProcess>(child: C): C {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** The settings that an operator would set. Every other setting has its default. */
const SETTINGS: Environment = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://updates.example.com',
  METRICS_PORT: '0',
};

/**
 * Starts the compiled service, and does not wait until it answers. Its log goes to a file.
 *
 * @param env the settings of the store, and settings that replace an operator's usual settings
 */
export function spawnService(context: BenchContext, env: Environment): Promise<Server> {
  const { root, profileDirectory: directory } = context;
  const profile = directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`];
  const args = [...NODE_OPTIONS, ...profile, path.join(root, 'dist/src/server.js')];
  return spawnServer(context, process.execPath, () => args, {
    ...MEMORY_ENVIRONMENT,
    ...SETTINGS,
    ...env,
  });
}

/** Starts the service as {@link spawnService} does, and waits until it is ready. */
export async function startService(context: BenchContext, env: Environment): Promise<Server> {
  const server = await spawnService(context, env);
  await waitFor(server, '/readyz');
  return server;
}

/**
 * Starts any server on a free port.
 *
 * @param argsOf returns the arguments of the command for a port; the variable `PORT` has the same port
 */
export async function spawnServer(
  { root, makeDirectory }: BenchContext,
  command: string,
  argsOf: (port: number) => readonly string[] | Promise<readonly string[]>,
  env: Environment = {},
): Promise<Server> {
  const port = await findPort();
  const log = openSync(path.join(await makeDirectory(), 'log'), 'a');
  const startedAt = performance.now();
  const child = spawn(command, await argsOf(port), {
    // The directory is not the project's directory, because a `.env` there must not change the measurement.
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: root, HOST, PORT: String(port), ...env },
    stdio: ['ignore', log, 'inherit'],
  });
  endWithBench(child);
  await once(child, 'spawn');
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  return { pid: child.pid ?? 0, host: HOST, port, url: `http://${HOST}:${port}`, startedAt, stop };
}

/**
 * Waits for the first answer with status 200 and a given text.
 *
 * @returns the milliseconds from the start of the process to that answer
 * @throws Error when no such answer comes within two minutes
 */
export async function waitFor(
  server: Server,
  target: string,
  contains = '',
  init: RequestInit = {},
): Promise<number> {
  const deadline = performance.now() + READY_MAX_MS;
  while (performance.now() < deadline) {
    const answer = await fetch(server.url + target, init).then(
      (response) => (response.ok ? response.text() : undefined),
      // The server does not listen yet.
      () => undefined,
    );
    if (answer?.includes(contains)) return performance.now() - server.startedAt;
    await sleep(RETRY_MS);
  }
  await server.stop();
  throw new Error(`${target} did not answer 200 within ${READY_MAX_MS / 1000} seconds.`);
}

export async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The cost of one command. */
export interface Run {
  readonly milliseconds: number;
  readonly cpuMs: number;
  readonly peakMib: number;
}

/**
 * Node runs this code before the command. When the process exits, the code reports its cost through file descriptor 3.
 */
const REPORT = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs';
   process.on('exit', () => {
     const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
     const cpuMs = (userCPUTime + systemCPUTime) / 1000;
     writeSync(3, JSON.stringify({ cpuMs, peakMib: maxRSS / 1024 }));
   });`,
)}`;

/** Runs a command of the compiled command line. @throws Error when the command fails */
export async function runCommand(
  { root }: BenchContext,
  args: readonly string[],
  env: Environment = {},
): Promise<Run> {
  const started = performance.now();
  const main = path.join(root, 'dist/scripts/slipway.js');
  const child = spawn(process.execPath, ['--import', REPORT, main, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  endWithBench(child);
  const report = text(child.stdio[3] as Readable);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`slipway ${args.join(' ')} ended with ${code}.`);
  return { milliseconds: performance.now() - started, ...JSON.parse(await report) };
}
