import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A temporary directory with the compiled project: the benchmarks measure the code that users run. */
export interface Workspace {
  readonly path: string;
  /** The path of a compiled module; `name` is its path in the project without extension: `src/server`. */
  module(name: string): string;
  /** Creates a new empty directory. */
  makeDirectory(): Promise<string>;
}

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles the project as `npm run build` does. The directory is removed when this process exits.
 *
 * @throws Error when the project has type errors
 */
export async function openWorkspace(): Promise<Workspace> {
  const root = await mkdtemp(path.join(tmpdir(), 'slipway-bench-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  // `package.json` declares ES modules; `node_modules` holds the dependencies.
  await cp(path.join(PROJECT, 'package.json'), path.join(root, 'package.json'));
  await symlink(path.join(PROJECT, 'node_modules'), path.join(root, 'node_modules'), 'junction');
  const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
  const args = ['--project', path.join(PROJECT, 'tsconfig.build.json')];
  const output = ['--outDir', path.join(root, 'dist')];
  const compiler = spawn(process.execPath, [tsc, ...args, ...output], { stdio: 'inherit' });
  const [code] = await once(compiler, 'close');
  if (code !== 0) throw new Error('The project does not compile.');
  let made = 0;
  return {
    path: root,
    module: (name) => path.join(root, 'dist', `${name}.js`),
    makeDirectory: async () => {
      const directory = path.join(root, `d${++made}`);
      await mkdir(directory);
      return directory;
    },
  };
}
