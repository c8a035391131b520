import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The entry point of the service beside this file: TypeScript in a checkout, JavaScript in the package. */
const SERVER = fileURLToPath(
  new URL(`../../server${path.extname(import.meta.filename)}`, import.meta.url),
);
/** Saves 80 MB of garbage while many clients download. Node reads this option only at its start. */
export const NODE_OPTIONS = ['--max-semi-space-size=16'];
/**
 * In bytes: the C library of most Linux systems returns buffers of this size to the kernel when they are freed. Without
 * the variable, a service with a thousand applications keeps 50 MB of free memory after its start. The C library reads
 * the variable only when a program starts.
 */
export const MEMORY_ENVIRONMENT = { MALLOC_MMAP_THRESHOLD_: '32768' };

/**
 * Replaces this process with the service, so that signals and the exit code are the service's own.
 *
 * @returns the exit code of the service, on systems where a process cannot be replaced
 */
export async function serve(): Promise<number> {
  const args = [...NODE_OPTIONS, SERVER];
  const env = { ...MEMORY_ENVIRONMENT, ...process.env };
  if (process.platform !== 'win32' && process.execve !== undefined) {
    process.execve(process.execPath, [process.execPath, ...args], env);
  }
  return runChild(args, env);
}

/**
 * Runs the service as a child process and waits for its end. On Windows, Ctrl-C reaches the child as well. If this
 * process also sent it a signal, the service would end without completing its requests.
 */
async function runChild(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
