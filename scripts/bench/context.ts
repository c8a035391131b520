import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBrowserFiles } from '../build/browser-output.ts';
import type { Table } from './table.ts';

/** The values that every benchmark receives. */
export interface BenchContext {
  /** A temporary directory with the compiled project, because the benchmarks measure the code that users run. */
  readonly root: string;
  /** A comparison ends after this time, also when it is not sure. */
  readonly seconds: number;
  /** A text: the benchmark measures only the routes whose name contains it. */
  readonly only: string;
  /** The number of releases in the largest catalog. */
  readonly releases: number;
  /** The size of the file to publish. */
  readonly sizeMib: number;
  /**
   * The directory in which the service writes its processor profiles; undefined when the benchmark takes no profiles.
   */
  readonly profileDirectory?: string;
  /** Creates a new empty directory. */
  makeDirectory(): Promise<string>;
  /** Shows the user which measurement runs now. */
  progress(text: string): void;
}

export type Bench = (context: BenchContext) => Promise<readonly Table[]>;

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles the project into a temporary directory. This process removes the directory when it exits.
 *
 * @throws Error when the project has type errors
 */
export async function openContext(
  options: Omit<BenchContext, 'root' | 'makeDirectory'>,
): Promise<BenchContext> {
  const root = await mkdtemp(path.join(tmpdir(), 'slipway-bench-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  // The compiled project needs both: `package.json` declares ES modules, and `node_modules` has the dependencies.
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
