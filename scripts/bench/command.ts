import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { BenchContext } from './bench.ts';
import { endWithBench } from './child.ts';
import type { Environment } from './server.ts';

/**
 * Runs a command of the compiled command line in a process of its own.
 *
 * @returns milliseconds from the start of the process to its end
 * @throws Error when it fails
 */
export async function runCommand(
  { workspace }: BenchContext,
  args: readonly string[],
  env: Environment,
): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [workspace.module('scripts/slipway'), ...args], {
    cwd: path.dirname(workspace.path),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  endWithBench(child);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`slipway ${args.join(' ')} ended with ${code}.`);
  return performance.now() - started;
}
