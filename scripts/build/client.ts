import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { readVersion } from '../../src/core/system.ts';
import { lessOfPackages } from './less-of-packages.ts';
import { bundledFiles, renderLicences } from './licences.ts';

/** The entry `slipway/client` of the package, as files that need only Node. */

const ROOT = path.resolve(import.meta.dirname, '../..');

/**
 * Builds the files of the entry, by their names. `index.cjs` has all code. `index.mjs` passes it on, so that a process
 * never has the code twice.
 */
export async function buildClient(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/client/index.ts'],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    // docs/clients/slipway-client.md promises this version to applications.
    target: 'node20.19',
    mainFields: ['module', 'main'],
    plugins: [lessOfPackages],
    legalComments: 'none',
    outfile: 'client.cjs',
    write: false,
    metafile: true,
    logLevel: 'warning',
  });
  const head = `// Slipway ${readVersion()}, the updater for Electron and Node. The licences of the packages in it are at the end.\n`;
  const licences = await renderLicences(ROOT, bundledFiles(metafile));
  const declarations = await buildDeclarations();
  return new Map([
    ['index.cjs', `${head}${outputFiles[0]?.text ?? ''}\n${licences}`],
    ['index.mjs', ESM],
    ['index.d.cts', declarations],
    ['index.d.mts', declarations],
  ]);
}

const ESM = `import client from './index.cjs';

export const { createUpdater, createElectronProvider, UpdaterError } = client;
`;

/** The files whose declarations applications see. They import only each other. */
const DECLARED = ['types', 'updater-error', 'create-updater', 'electron-provider'];

/** One file for both kinds of modules: declarations that import each other would need another copy for each kind. */
async function buildDeclarations(): Promise<string> {
  const out = await mkdtemp(path.join(tmpdir(), 'slipway-client-'));
  try {
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    const project = ['--project', path.join(ROOT, 'tsconfig.client.json')];
    await promisify(execFile)(process.execPath, [tsc, ...project, '--outDir', out]);
    const texts = await Promise.all(
      DECLARED.map((name) => readFile(path.join(out, `src/client/${name}.d.ts`), 'utf8')),
    );
    return texts.map((text) => text.replaceAll(/^import .*\n/gm, '')).join('\n');
  } finally {
    await rm(out, { recursive: true });
  }
}
