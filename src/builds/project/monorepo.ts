import { join, posix } from 'node:path';
import { isAppError } from '../../core/errors.ts';
import { readManifest } from './package-json.ts';
import type { Project } from './project.ts';
import { findFiles, namesIn } from './project-files.ts';
import { findTools } from './read-project.ts';

/**
 * Recognizes the root of a monorepo. The settings and the CI file belong in the folder of an application, not in this
 * root.
 */

export interface Monorepo {
  /** What shows the monorepo: `pnpm-workspace.yaml`; undefined: only its folders show it. */
  readonly shownBy: string | undefined;
  /** The folders that look like desktop applications, relative to the root. */
  readonly applications: readonly string[];
}

const MARKERS = ['pnpm-workspace.yaml', 'turbo.json', 'nx.json', 'lerna.json', 'rush.json'];
/** Files that show an application. Tauri keeps its files in a folder of their own below the application. */
const SHOWN_BY =
  /^(package\.json|pubspec\.yaml|wails\.json|tauri\.conf\.json5?|Tauri\.toml|Info\.plist|.+\.(cs|fs|vb)proj)$/;
const DEPTH_MAX = 4;
const FOLDERS_MAX = 200;
const APPLICATIONS_MAX = 10;
/** Folders of packages in a monorepo that states no workspaces. */
const USUAL = /^(apps|packages)\/[^/]+$/;

/** @returns undefined for a project that is no monorepo */
export async function findMonorepo(project: Project): Promise<Monorepo | undefined> {
  const { directory, tool, root } = project;
  // When only package.json names a tool, the tool may be installed at the root for all packages.
  if (tool !== undefined && tool.shownBy !== 'package.json') return undefined;
  const manifest = await readManifest(directory);
  const names = await namesIn(directory);
  const shownBy =
    manifest !== undefined && 'workspaces' in manifest.value
      ? '"workspaces" in package.json'
      : MARKERS.find((name) => names.includes(name));
  if (tool !== undefined && shownBy === undefined) return undefined;
  const folders = await foldersBelow(directory);
  const applications: string[] = [];
  for (const folder of folders) {
    if (applications.length === APPLICATIONS_MAX) break;
    if (shownBy === undefined && !USUAL.test(folder)) continue;
    if (await isApplication(join(directory, folder), root)) applications.push(folder);
  }
  const isOne = applications.length > 0 || (shownBy !== undefined && tool === undefined);
  return isOne ? { shownBy, applications } : undefined;
}

async function foldersBelow(directory: string): Promise<readonly string[]> {
  const files = await findFiles(directory, SHOWN_BY, DEPTH_MAX);
  const folders = files.map((file) => posix.dirname(file).replace(/\/src-tauri$/, ''));
  return [...new Set(folders)].filter((folder) => folder !== '.').slice(0, FOLDERS_MAX);
}

/** A malformed file is no error here. The publisher sees the error when the command runs in the folder of that file. */
async function isApplication(directory: string, root: string): Promise<boolean> {
  try {
    const manifest = await readManifest(directory);
    const names = await namesIn(directory);
    return (
      (await findTools(directory, manifest, root)).length > 0 ||
      manifest?.packages.has('electron') === true ||
      names.includes('wails.json') ||
      isFlutter(names)
    );
  } catch (error) {
    if (isAppError(error, 'invalid_request')) return false;
    throw error;
  }
}

/** A folder with the name of a platform shows that a Flutter application is built for that platform. */
function isFlutter(names: readonly string[]): boolean {
  const platforms = ['windows', 'macos', 'linux'];
  return names.includes('pubspec.yaml') && platforms.some((name) => names.includes(name));
}
