import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBrowserFiles } from '../build/browser-output.ts';
import type { Table } from './table.ts';

/** What every benchmark receives. */
export interface BenchContext {
  /** A temporary directory with the compiled project: the benchmarks measure the code that users run. */
  readonly root: string;
  readonly rounds: number;
  /** How long one measurement lasts; the benchmarks divide it into turns. */
  readonly seconds: number;
  /** Only the routes whose name contains this text are measured. */
  readonly only: string;
  /** Releases of the largest catalog. */
  readonly releases: number;
  /** Size of the file to publish. */
  readonly sizeMib: number;
  /** Where the service writes its processor profiles; undefined when it is not profiled. */
  readonly profileDirectory?: string;
  /** Creates a new empty directory. */
  makeDirectory(): Promise<string>;
  /** Shows the user which measurement runs now. */
  progress(text: string): void;
}

export type Bench = (context: BenchContext) => Promise<readonly Table[]>;

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles the project into a temporary directory, which is removed when this process exits.
 *
 * @throws Error when the project has type errors
 */
export async function openContext(
  options: Omit<BenchContext, 'root' | 'makeDirectory'>,
): Promise<BenchContext> {
  const root = await mkdtemp(path.join(tmpdir(), 'slipway-bench-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  // `package.json` declares ES modules; `node_modules` holds the dependencies.
  await cp(path.join(PROJECT, 'package.json'), path.join(root, 'package.json'));
  await symlink(path.join(PROJECT, 'node_modules'), path.join(root, 'node_modules'), 'junction');
  const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
  const args = ['--project', 'tsconfig.build.json', '--outDir', path.join(root, 'dist')];
  execFileSync(process.execPath, [tsc, ...args], { cwd: PROJECT, stdio: 'inherit' });
  await writeBrowserFiles(path.join(root, 'dist'));
  let made = 0;
  const makeDirectory = async (): Promise<string> => {
    const directory = path.join(root, `d${++made}`);
    await mkdir(directory);
    return directory;
  };
  return { ...options, root, makeDirectory };
}
