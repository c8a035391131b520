import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { endWithBench } from './child.ts';
import type { Server } from './load.ts';

/** The measured servers, each in a process of its own. */

const RETRY_MS = 4;
const READY_MAX_MS = 120_000;
const HOST = '127.0.0.1';

export type Environment = Readonly<Record<string, string>>;

export interface RunningServer extends Server {
  readonly url: string;
  /** `performance.now()` when the process was started. */
  readonly startedAt: number;
  stop(): Promise<void>;
}

/** As an operator sets them; what is not here has its default. */
const SETTINGS: Environment = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://updates.example.com',
  METRICS_PORT: '0',
};

/**
 * Starts the compiled service, without waiting until it answers. Its log goes to a file.
 *
 * @param env the store, and settings other than an operator's usual ones
 */
export async function spawnService(
  context: BenchContext,
  env: Environment,
): Promise<RunningServer> {
  const { workspace, profileDirectory } = context;
  const profile =
    profileDirectory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`];
  const args = [...profile, workspace.module('src/server')];
  return spawnServer(context, process.execPath, () => args, { ...SETTINGS, ...env });
}

/** Like {@link spawnService}, and waits until the service is ready. */
export async function startService(
  context: BenchContext,
  env: Environment,
): Promise<RunningServer> {
  const server = await spawnService(context, env);
  await waitFor(server, '/readyz');
  return server;
}

/**
 * Starts any server on a free port.
 *
 * @param argsOf makes the arguments of the command from the port, which is also in `PORT`
 */
export async function spawnServer(
  { workspace, profileDirectory }: BenchContext,
  command: string,
  argsOf: (port: number) => readonly string[] | Promise<readonly string[]>,
  env: Environment,
): Promise<RunningServer> {
  const port = await findPort();
  const log = openSync(path.join(await workspace.makeDirectory(), 'log'), 'a');
  const startedAt = performance.now();
  const child = spawn(command, await argsOf(port), {
    // Not the project's directory: a `.env` there must not change the measurement.
    cwd: workspace.path,
    env: { PATH: process.env.PATH ?? '', HOME: workspace.path, HOST, PORT: String(port), ...env },
    stdio: ['ignore', log, 'inherit'],
  });
  endWithBench(child);
  await once(child, 'spawn');
  const stop = (): Promise<void> => end(child, profileDirectory === undefined);
  return { pid: child.pid ?? 0, host: HOST, port, url: `http://${HOST}:${port}`, startedAt, stop };
}

/** Node writes a profile only when the process exits by itself. */
async function end(child: ChildProcess, isKilled: boolean): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(isKilled ? 'SIGKILL' : 'SIGTERM');
  await ended;
}

/**
 * Waits for the first answer of 200 that contains a text.
 *
 * @returns milliseconds from the start of the process
 * @throws Error when there is none within two minutes
 */
export async function waitFor(
  server: RunningServer,
  target: string,
  { contains = '', init = {} as RequestInit } = {},
): Promise<number> {
  const deadline = performance.now() + READY_MAX_MS;
  while (performance.now() < deadline) {
    const answer = await fetch(server.url + target, { ...init, redirect: 'manual' }).then(
      async (response) => (response.ok ? response.text() : undefined),
      // The server does not listen yet.
      () => undefined,
    );
    if (answer?.includes(contains)) return performance.now() - server.startedAt;
    await sleep(RETRY_MS);
  }
  await server.stop();
  throw new Error(`${target} did not answer 200 within ${READY_MAX_MS / 1000} seconds.`);
}

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
