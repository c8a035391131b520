import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A temporary directory with the compiled project in it: what is measured runs as it is shipped. */
export interface Workspace {
  readonly path: string;
  /** A compiled module, by its path in the project without the ending: `src/server`. */
  module(name: string): string;
  /** Creates an empty directory of its own. */
  makeDirectory(): Promise<string>;
  remove(): Promise<void>;
}

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles instead of running the TypeScript: what is measured is what is shipped.
 *
 * @throws when the compiler leaves nothing to run
 */
export async function openWorkspace(): Promise<Workspace> {
  const root = await mkdtemp(path.join(tmpdir(), 'slipway-bench-'));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 5 });
  let made = 0;
  try {
    // Says that the modules are ES modules, and lets them find their dependencies.
    await cp(path.join(PROJECT, 'package.json'), path.join(root, 'package.json'));
    await symlink(path.join(PROJECT, 'node_modules'), path.join(root, 'node_modules'), 'junction');
    await compile(root);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    path: root,
    module: (name) => path.join(root, 'dist', `${name}.js`),
    makeDirectory: async () => {
      const directory = path.join(root, `d${++made}`);
      await mkdir(directory);
      return directory;
    },
    remove,
  };
}

/** As `npm run build` does, with these scripts as well. */
async function compile(root: string): Promise<void> {
  const configuration = {
    extends: path.join(PROJECT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      allowJs: true,
      outDir: path.join(root, 'dist'),
      rootDir: PROJECT,
    },
    include: ['src', 'scripts/bench', 'scripts/cli', 'scripts/slipway.ts'].map((source) =>
      path.join(PROJECT, source),
    ),
  };
  const project = path.join(root, 'tsconfig.json');
  await writeFile(project, JSON.stringify(configuration));
  const tsc = path.join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc');
  const code = await new Promise<number | null>((resolve, reject) => {
    const args = [tsc, '--project', project];
    const compiler = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    compiler.once('error', reject);
    compiler.once('close', resolve);
  });
  // Reported above, and for `npm run types` to judge; the code runs all the same.
  if (code !== 0) console.log('The project has type errors; measuring it as it is.');
}
