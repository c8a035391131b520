import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build } from 'esbuild';

/**
 * Builds the scripts and style sheets that browsers load, from the folders named `browser`: their `elements/` for
 * websites, and their `assets/` for the pages of the service.
 */

const SOURCES = path.resolve(import.meta.dirname, '..');

/** A file as a browser gets it. */
interface BuiltFile {
  /** `elements/download.js`, or with a hash of its content: `assets/console-3F2A7C1B.js`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface BuiltFiles {
  readonly files: readonly BuiltFile[];
  /** The names of the files with a hash, by their names without the hash: `console.js`, `pages.css`. */
  readonly named: Readonly<Record<string, string>>;
}

const SHARED = {
  bundle: true,
  minify: true,
  format: 'esm',
  // Browsers of the last four years.
  target: ['chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  charset: 'utf8',
  tsconfigRaw: { compilerOptions: { target: 'es2022', verbatimModuleSyntax: true } },
  outdir: SOURCES,
  write: false as const,
  logLevel: 'warning',
} satisfies BuildOptions;

/**
 * Builds the files. Equal sources give equal bytes.
 *
 * @throws Error when esbuild, a development dependency, is not installed, or a source is wrong
 */
export async function buildBrowserFiles(): Promise<BuiltFiles> {
  const [elements, assets] = await Promise.all([buildElements(), buildAssets()]);
  return { files: [...elements, ...assets.files], named: assets.named };
}

/**
 * Builds the files for websites. Their names have no hash, because websites refer to the files by name. Each file is
 * complete in itself, because a website may load only one file.
 */
async function buildElements(): Promise<readonly BuiltFile[]> {
  const { outputFiles } = await build({
    ...SHARED,
    entryPoints: await findEntries('elements'),
    entryNames: '[name]',
  });
  return outputFiles.map(({ path: file, contents }) => ({
    name: `elements/${path.basename(file)}`,
    bytes: contents,
  }));
}

/** The files in the `elements/` or `assets/` of all folders named `browser`, by their names. */
async function findEntries(kind: 'elements' | 'assets'): Promise<string[]> {
  const found = await readdir(SOURCES, { recursive: true, withFileTypes: true });
  return found
    .filter((each) => each.isFile() && each.parentPath.endsWith(path.join('browser', kind)))
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .sort((a, b) => path.basename(a).localeCompare(path.basename(b)));
}

/** Builds the files for the service's own pages, which refer to each file by its name with the hash. */
async function buildAssets(): Promise<BuiltFiles> {
  const { outputFiles, metafile } = await build({
    ...SHARED,
    absWorkingDir: SOURCES,
    entryPoints: await findEntries('assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    // Only the screens with charts load the code of charts.
    splitting: true,
    metafile: true as const,
  });
  const named = Object.fromEntries(
    Object.entries(metafile.outputs).map(([output, { entryPoint = output }]) => {
      const { name } = path.parse(entryPoint);
      return [`${name}${path.extname(output)}`, `assets/${path.basename(output)}`];
    }),
  );
  const files = outputFiles.map(({ path: file, contents }) => ({
    name: `assets/${path.basename(file)}`,
    bytes: contents,
  }));
  return { files, named };
}
