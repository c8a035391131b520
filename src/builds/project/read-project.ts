import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { PLATFORMS } from '../../domain/platform.ts';
import { misuse } from '../refusal.ts';
import { applicationNameOf } from './application-name.ts';
import { findCi } from './ci.ts';
import { readDotnet, VELOPACK_OUTPUT } from './dotnet-project.ts';
import { readElectronBuilder } from './electron-builder-project.ts';
import { readElectronForge } from './electron-forge-project.ts';
import { compileRuns, findPackageManager, type Manifest, readManifest } from './package-json.ts';
import { withPlainNames } from './plain-tool.ts';
import { type FoundTool, type Project, type Stated, stated, statedAll } from './project.ts';
import { namesIn } from './project-files.ts';
import { readSourceNames } from './source-names.ts';
import { readSparkle } from './sparkle-project.ts';
import { readTauri } from './tauri-project.ts';
import { targetsOf } from './usual-target.ts';

/** The name of an application when no file states one: the default of the settings. */
const UNNAMED: Stated = { text: 'desktop', source: 'the default, because no file names it' };
/** The number of directories, from a package upwards, in which this file looks for the repository. */
const DEPTH_MAX = 20;

/**
 * Reads what the files of a project say about how it is built and released. It runs no code of the project, writes
 * nothing, and needs no network.
 *
 * @param directory of the project, or of one package in a monorepo
 * @throws AppError `invalid_request` when there is no such directory, and for a file that is not what its name says
 */
export async function readProject(directory: string): Promise<Project> {
  const path = resolve(directory);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw misuse(path, 'there is no such directory. Check the path');
  if (!found.isDirectory())
    throw misuse(path, 'it is not a directory. Name the directory of the project');
  const root = await findRoot(path);
  const manifest = await readManifest(path);
  const [tool, ...others] = await findTools(path, manifest, root);
  const source = await readSourceNames(path, root);
  return {
    directory: path,
    root,
    tool,
    others,
    application: applicationNameOf([...namesOf(tool, manifest), ...source.names]) ?? UNNAMED,
    productName: tool?.name ?? stated(manifest?.productName, 'the productName of package.json'),
    version: tool?.version ?? stated(manifest?.version, 'package.json') ?? source.version,
    packages: manifest === undefined ? undefined : await findPackageManager([path, root]),
    ci: await findCi(root),
  };
}

/**
 * The tools of a project, the most specific tool first. The npm package `velopack` comes before Electron's tools,
 * because vpk may pack an application that one of these tools builds.
 */
export async function findTools(
  directory: string,
  manifest: Manifest | undefined,
  root: string,
): Promise<readonly FoundTool[]> {
  const tools = [
    await readTauri(directory, manifest, root),
    readVelopackPackage(manifest),
    await readElectronBuilder(directory, manifest),
    await readElectronForge(directory, manifest),
    await readSparkle(directory),
    await readDotnet(directory),
  ];
  return tools.filter((tool) => tool !== undefined).map(withPlainNames);
}

/** An application in JavaScript that updates itself with the npm package `velopack`. */
function readVelopackPackage(manifest: Manifest | undefined): FoundTool | undefined {
  if (manifest?.packages.has('velopack') !== true) return undefined;
  const packId = (manifest.productName ?? manifest.name ?? '').replace(/[^\w.-]+/g, '');
  return {
    kind: 'velopack',
    shownBy: 'package.json',
    output: VELOPACK_OUTPUT,
    platforms: PLATFORMS,
    targets: PLATFORMS.flatMap((platform) => targetsOf(platform, [])),
    name: undefined,
    otherNames: [],
    version: undefined,
    build: { kind: 'vpk', runs: compileRuns(manifest, /\bvpk\b/), packId },
    updaters: ['velopack'],
    remarks: [],
  };
}

function namesOf(tool: FoundTool | undefined, manifest: Manifest | undefined): readonly Stated[] {
  return [
    ...(tool?.name === undefined ? [] : [tool.name]),
    ...statedAll(manifest?.productName, 'the productName of package.json'),
    ...statedAll(manifest?.name, 'the name of package.json'),
    ...(tool?.otherNames ?? []),
  ];
}

/** The nearest directory with a `.git`; the project itself when there is none. */
async function findRoot(directory: string): Promise<string> {
  let at = directory;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    if ((await namesIn(at)).includes('.git')) return at;
    if (dirname(at) === at) break;
    at = dirname(at);
  }
  return directory;
}
