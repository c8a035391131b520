import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../core/errors.ts';
import type { BuiltFiles } from './build-browser-files.ts';

/** The scripts and style sheets that browsers load: built into the package, or from the sources in a checkout. */

export interface BrowserFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface BrowserFiles {
  /**
   * @param name `elements/download.js`, `assets/console-3F2A7C1B.js`
   * @returns undefined when there is no such file
   */
  file(name: string): BrowserFile | undefined;
  /**
   * The name with a hash, for pages.
   *
   * @param name without the hash: `console.js`
   * @throws Error when there is no such file
   */
  nameOf(name: string): string;
}

/** The list of the names of the files, which `npm run build` writes beside them. */
const LIST = 'files.json';
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

let opened: Promise<BrowserFiles> | undefined;

/**
 * Opens the files, once for the process: in a checkout esbuild builds them when the first request needs them.
 *
 * @throws AppError `not_configured` in a checkout without development dependencies
 */
export function openBrowserFiles(): Promise<BrowserFiles> {
  opened ??= load().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function load(): Promise<BrowserFiles> {
  const isPackage = path.extname(import.meta.filename) === '.js';
  return isPackage ? readBuilt(path.resolve(import.meta.dirname, '../../browser')) : buildNow();
}

async function buildNow(): Promise<BrowserFiles> {
  try {
    const { buildBrowserFiles } = await import('./build-browser-files.ts');
    return browserFilesOf(await buildBrowserFiles());
  } catch (error) {
    throw new AppError(
      'not_configured',
      'The pages of this service cannot be built here. In a checkout, run "npm ci" with development dependencies; the package on npm needs no build.',
      { cause: error },
    );
  }
}

/** Reads the files that `npm run build` has written. @param directory `dist/browser` */
export async function readBuilt(directory: string): Promise<BrowserFiles> {
  const list = JSON.parse(await readFile(path.join(directory, LIST), 'utf8')) as BuiltList;
  const files = await Promise.all(
    list.files.map(async (name) => ({ name, bytes: await readFile(path.join(directory, name)) })),
  );
  return browserFilesOf({ files, named: list.named });
}

interface BuiltList {
  readonly files: readonly string[];
  readonly named: BuiltFiles['named'];
}

/** The files that `npm run build` writes below `dist/browser`, by name. */
export function builtOutput({ files, named }: BuiltFiles): ReadonlyMap<string, Uint8Array> {
  const list: BuiltList = { files: files.map(({ name }) => name), named };
  return new Map<string, Uint8Array>([
    ...files.map(({ name, bytes }) => [name, bytes] as const),
    [LIST, Buffer.from(`${JSON.stringify(list, null, 2)}\n`)],
  ]);
}

function browserFilesOf({ files, named }: BuiltFiles): BrowserFiles {
  const byName = new Map(
    files.map(({ name, bytes }) => {
      const contentType = CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream';
      return [name, { contentType, bytes }] as const;
    }),
  );
  return {
    file: (name) => byName.get(name),
    nameOf: (name) => {
      const found = named[name];
      if (found === undefined) throw new Error(`${name} is not among the files for browsers.`);
      return found;
    },
  };
}
