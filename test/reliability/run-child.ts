import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from '../support/process.ts';

/** Runs the project's programs in child processes, which a test can kill. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Child {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
}

/** Runs a TypeScript file of the project with the settings in `env`, without this process's own. */
export function startChild(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Child {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const child = spawn(process.execPath, [path.join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { PATH, HOME, ...COMPILED, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // Ignores a failed write to a killed process: `finished` reports its end.
  child.stdin.on('error', () => undefined);
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { process: child, finished };
}

export function startCli(args: readonly string[], env: Readonly<Record<string, string>>): Child {
  return startChild('scripts/slipway.ts', args, env);
}
