import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';

/** The compiled service in its own process, as users run it. */
interface RunningService {
  readonly url: string;
  stop(): Promise<void>;
}

const RETRY_MS = 20;
const READY_MAX_MS = 60_000;

interface SpawnedService extends RunningService {
  /** `performance.now()` when the process was started. */
  readonly startedAt: number;
  hasEnded(): boolean;
}

/**
 * Starts the service on a free loopback port, without waiting until it is ready.
 *
 * @param env added to this process's environment
 */
export async function spawnService(
  { workspace, nodeArgs }: BenchContext,
  env: Readonly<Record<string, string>>,
): Promise<SpawnedService> {
  const port = await findPort();
  const settings = { ...env, HOST: '127.0.0.1', PORT: String(port), METRICS_PORT: '0' };
  const args = ['--no-warnings', ...nodeArgs, workspace.module('src/server')];
  const startedAt = performance.now();
  const server = spawn(process.execPath, args, {
    cwd: workspace.path,
    env: { ...process.env, ...settings },
    // The service logs at its default level; disk speed must not affect the result.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const kill = (): boolean => server.kill('SIGKILL');
  process.once('exit', kill);
  return {
    url: `http://127.0.0.1:${port}`,
    startedAt,
    hasEnded: () => server.exitCode !== null,
    stop: async () => {
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
}

/** Like {@link spawnService}, but resolves when the service is ready. */
export async function startService(
  context: BenchContext,
  env: Readonly<Record<string, string>>,
): Promise<RunningService> {
  const service = await spawnService(context, env);
  const deadline = performance.now() + READY_MAX_MS;
  while (!(await isReady(service.url))) {
    if (!service.hasEnded() && performance.now() < deadline) {
      await sleep(RETRY_MS);
      continue;
    }
    await service.stop();
    throw new Error(
      `The service was not ready within ${READY_MAX_MS / 1000} seconds, or it exited.`,
    );
  }
  return service;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).ok;
  } catch {
    // Not listening yet.
    return false;
  }
}

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
