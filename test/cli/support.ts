import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Runs the project's programs from their source, from whatever working directory. */

export const ROOT = path.resolve(import.meta.dirname, '../..');
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** Arguments for `node`. */
export const runSource = (file: string): string[] => ['--import', loader, path.join(ROOT, file)];

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command as a process of its own: no terminal, and only these settings. */
export function slipway(
  arguments_: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Finished> {
  const env = { PATH: process.env.PATH ?? '', SLIPWAY_ACTOR: 'ada@build-7', ...options.env };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...runSource('scripts/slipway.ts'), ...arguments_],
      { cwd: options.cwd, env, timeout: 60_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

/** What `--json` printed; the standard output must hold nothing else. */
export function json(finished: Finished): ReturnType<typeof JSON.parse> {
  return JSON.parse(finished.stdout);
}
