import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { NODE_OPTIONS } from '../../src/cli/serve/run.ts';

/** A service that runs in its own process. */
export interface Running {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly errors: () => string;
  readonly exit: Promise<number | null>;
  /** Resolves when the service listens. It may not have read its store yet. */
  readonly url: () => Promise<string>;
  /** Resolves when the service can answer from the catalog, which takes seconds on a busy machine. */
  readonly ready: () => Promise<string>;
}

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Node keeps what it compiled here, so that the next process starts in two thirds of the time. */
export const COMPILED = { NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/compiled') };
const START_MAX_MS = 60_000;
const children: ChildProcess[] = [];

/**
 * Starts `src/server.ts` with these settings, without the settings of this process.
 *
 * @param limits the most open descriptors, the most heap in megabytes, and the program with its arguments that runs the
 *   service, such as a sandbox
 */
export function startServer(
  env: Readonly<Record<string, string>>,
  limits: {
    readonly descriptors?: number;
    readonly heapMb?: number;
    readonly within?: readonly string[];
  } = {},
): Running {
  const { descriptors, heapMb, within = [] } = limits;
  const args = [
    ...NODE_OPTIONS,
    ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]),
    path.join(ROOT, 'src/server.ts'),
  ];
  const [program, ...programArgs] =
    descriptors === undefined
      ? [...within, process.execPath, ...args]
      : ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', process.execPath, ...args];
  const child = spawn(String(program), programArgs, {
    // A directory without a developer's .env.
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '', ...COMPILED, PORT: '0', METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout?.on('data', (chunk) => out.push(String(chunk)));
  child.stderr?.on('data', (chunk) => err.push(String(chunk)));
  const exit = once(child, 'close').then(([code]) => code as number | null);
  const output = () => out.join('');
  const url = async () => {
    const address = () => /listening on (http:[^"]+)"/.exec(output())?.[1];
    const until = Date.now() + START_MAX_MS;
    while (address() === undefined && Date.now() < until) await sleep(20);
    expect(address(), err.join('')).toBeDefined();
    return String(address());
  };
  return {
    process: child,
    output,
    errors: () => err.join(''),
    exit,
    url,
    ready: async () => {
      const address = await url();
      const isReady = async () => (await fetch(`${address}/readyz`)).status === 200;
      const until = Date.now() + START_MAX_MS;
      while (!(await isReady())) {
        if (Date.now() > until) throw new Error(`The service is not ready: ${output()}`);
        await sleep(50);
      }
      return address;
    },
  };
}

/** Kills the processes that a test has started. */
export function killAll(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}

/** A free loopback port. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return Number(port);
}

/** Different free loopback ports. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
