import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BenchContext } from './bench.ts';
import { endWithBench } from './child.ts';
import type { Environment } from './server.ts';

/** What one command cost. */
export interface Run {
  readonly milliseconds: number;
  readonly cpuMs: number;
  readonly peakMib: number;
}

/**
 * Runs a command of the compiled command line in a process of its own, which reports its processor time and highest
 * memory when it exits.
 *
 * @throws Error when it fails
 */
export async function runCommand(
  { workspace }: BenchContext,
  args: readonly string[],
  env: Environment,
): Promise<Run> {
  const started = performance.now();
  const main = workspace.module('scripts/slipway');
  const child = spawn(process.execPath, ['--import', REPORT, main, ...args], {
    cwd: path.dirname(workspace.path),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  endWithBench(child);
  const [report, [code]] = await Promise.all([
    text(child.stdio[3] as Readable),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(`slipway ${args.join(' ')} ended with ${code}.`);
  const milliseconds = performance.now() - started;
  return { milliseconds, ...(JSON.parse(report) as Omit<Run, 'milliseconds'>) };
}

/** Writes to file descriptor 3. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs';
   process.on('exit', () => {
     const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
     const cpuMs = (userCPUTime + systemCPUTime) / 1000;
     writeSync(3, JSON.stringify({ cpuMs, peakMib: maxRSS / 1024 }));
   });`,
)}`;

/** Runs any program in a directory. @throws Error when it cannot be started or fails */
export async function runProgram(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: 'ignore' });
  endWithBench(child);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}
