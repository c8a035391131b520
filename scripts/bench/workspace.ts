import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
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
  remove(): Promise<void>;
}

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Creates the workspace and compiles the project into it. Type errors are only printed.
 */
export async function openWorkspace(): Promise<Workspace> {
  const root = await mkdtemp(path.join(tmpdir(), 'slipway-bench-'));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 5 });
  let made = 0;
  try {
    // `package.json` declares ES modules; `node_modules` holds the dependencies.
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

/** Compiles as `npm run build` does, with the benchmarks in addition. */
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
  // The compiler has printed the errors and still writes JavaScript; `npm run types` fails on them.
  if (code !== 0) console.log('The project has type errors. The benchmarks run anyway.');
}
