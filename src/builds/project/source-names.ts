import { dirname, join } from 'node:path';
import type { JsonRecord } from '../../core/json-record.ts';
import { recordOf, textOf } from './loose.ts';
import { type Stated, stated, statedAll } from './project.ts';
import { readConfiguration, readText } from './project-files.ts';

/** Reads the names and versions in files of Wails, Flutter, Cargo and CMake. Any tool may pack such an application. */

export interface SourceNames {
  /** Best first. */
  readonly names: readonly Stated[];
  readonly version: Stated | undefined;
}

/**
 * @param root the directory of the repository: a workspace of Cargo may begin there
 * @throws AppError `invalid_request` for a file that is not what its name says
 */
export async function readSourceNames(directory: string, root: string): Promise<SourceNames> {
  const found = [
    await readWails(directory),
    await readFlutter(directory),
    await readCargo(directory, root),
    await readCmake(directory),
  ];
  return {
    names: found.flatMap(({ names }) => names),
    version: found.find(({ version }) => version !== undefined)?.version,
  };
}

async function readWails(directory: string): Promise<SourceNames> {
  const file = 'wails.json';
  const value = (await readConfiguration(directory, file)) ?? {};
  const { productName, productVersion } = recordOf(value.info);
  return {
    names: [
      ...statedAll(textOf(productName), `the productName of ${file}`),
      ...statedAll(textOf(value.name), `the name of ${file}`),
    ],
    version: stated(textOf(productVersion), file),
  };
}

async function readFlutter(directory: string): Promise<SourceNames> {
  const file = 'pubspec.yaml';
  const { name, version } = (await readConfiguration(directory, file)) ?? {};
  return {
    names: statedAll(textOf(name), `the name of ${file}`),
    // Leaves out the build number in `1.4.0+12`, because only app stores need it.
    version: stated(textOf(version)?.replace(/\+.*$/s, ''), file),
  };
}

const CARGO = 'Cargo.toml';

async function readCargo(directory: string, root: string): Promise<SourceNames> {
  const { name } = recordOf((await readConfiguration(directory, CARGO))?.package);
  return {
    names: statedAll(textOf(name), `the name of ${CARGO}`),
    version: await readCargoVersion(directory, '', root),
  };
}

/** The number of directories, from a package upwards, in which this file looks for the workspace. */
const DEPTH_MAX = 20;

/**
 * The version of a Cargo package. A package with `version.workspace = true` has the version of its workspace.
 *
 * @param folder of the package, relative to the directory, with a slash at its end; empty for the directory itself
 */
export async function readCargoVersion(
  directory: string,
  folder: string,
  root: string,
): Promise<Stated | undefined> {
  const own: JsonRecord = (await readConfiguration(directory, `${folder}${CARGO}`)) ?? {};
  const { version } = recordOf(own.package);
  if (recordOf(version).workspace !== true) return stated(textOf(version), `${folder}${CARGO}`);
  let at = join(directory, folder);
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const { workspace } = (await readConfiguration(at, CARGO)) ?? {};
    const shared = textOf(recordOf(recordOf(workspace).package).version);
    if (shared !== undefined) return stated(shared, `the workspace of ${folder}${CARGO}`);
    if (at === root || dirname(at) === at) break;
    at = dirname(at);
  }
  return undefined;
}

/** Reads `project(NAME VERSION 1.4.0 LANGUAGES CXX)`. Leaves out values that come from variables. */
async function readCmake(directory: string): Promise<SourceNames> {
  const file = 'CMakeLists.txt';
  const text = ((await readText(directory, file)) ?? '').replace(/#[^\n]*/g, '');
  const words = (/^[ \t]*project[ \t]*\(([^()]{0,2000})\)/im.exec(text)?.[1] ?? '')
    .split(/\s+/)
    .map((word) => word.replaceAll('"', ''))
    .filter((word) => word !== '');
  const [name] = words;
  const version = words[words.indexOf('VERSION') + 1];
  return {
    names: statedAll(plainWord(name), `the project of ${file}`),
    version: words.includes('VERSION') ? stated(plainWord(version), file) : undefined,
  };
}

function plainWord(word: string | undefined): string | undefined {
  return word?.includes('$') ? undefined : textOf(word);
}
