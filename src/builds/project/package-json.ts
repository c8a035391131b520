import type { JsonRecord } from '../../core/json-record.ts';
import { recordOf, textOf } from './loose.ts';
import type { PackageManager, PackageRun } from './project.ts';
import { namesIn, readConfiguration } from './project-files.ts';

/** The facts in package.json. */
export interface Manifest {
  readonly name: string | undefined;
  readonly productName: string | undefined;
  readonly version: string | undefined;
  readonly scripts: ReadonlyMap<string, string>;
  /** The names of all packages that package.json asks for. */
  readonly packages: ReadonlySet<string>;
  readonly value: JsonRecord;
}

/** @throws AppError `invalid_request` for a package.json that is not an object of JSON */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  const value = await readConfiguration(directory, 'package.json');
  if (value === undefined) return undefined;
  const scripts = Object.entries(recordOf(value.scripts)).flatMap(([name, command]) =>
    typeof command === 'string' ? [[name, command] as const] : [],
  );
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'];
  return {
    name: textOf(value.name),
    productName: textOf(value.productName),
    version: textOf(value.version),
    scripts: new Map(scripts),
    packages: new Set(kinds.flatMap((kind) => Object.keys(recordOf(value[kind])))),
    value,
  };
}

const LOCK_FILES: Readonly<Record<string, PackageManager['name']>> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'yarn.lock': 'yarn',
  'pnpm-lock.yaml': 'pnpm',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
};

/** Recognizes the package manager by its lock file, in the first of these directories that has a lock file. */
export async function findPackageManager(directories: readonly string[]): Promise<PackageManager> {
  for (const directory of directories) {
    const names = await namesIn(directory);
    const lock = Object.keys(LOCK_FILES).find((name) => names.includes(name));
    if (lock !== undefined) return { name: LOCK_FILES[lock] ?? 'npm', hasLockFile: true };
  }
  return { name: 'npm', hasLockFile: false };
}

/**
 * Asks the publisher to remove `update-electron-app`: this package sets the address of an Electron application by
 * itself.
 */
export function replacedIn({ packages }: Manifest): readonly string[] {
  return packages.has('update-electron-app')
    ? [
        'package.json has update-electron-app, which sets another address by itself. Remove the package and the call of updateElectronApp().',
      ]
    : [];
}

/**
 * The script that compiles the application before a tool packs it. Empty when the script also packs the application.
 */
export function compileRuns({ scripts }: Manifest, packs: RegExp): readonly PackageRun[] {
  const build = scripts.get('build');
  if (build === undefined || packs.test(build)) return [];
  return [{ kind: 'script', name: 'build', arguments: [] }];
}
