import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { build, type Metafile, transform } from 'esbuild';
import type { AddCommands } from '../../src/cli/runner.ts';
import { readVersion } from '../../src/core/system.ts';
import { SERVICE_COMMANDS } from '../../src/features/package-commands.ts';
import { lessOfPackages } from './less-of-packages.ts';
import { bundledFiles, renderLicences } from './licences.ts';

/** The command line of publishers as one file that needs only Node. */

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface OneFile {
  readonly text: string;
  /** esbuild's description of the content of the file. */
  readonly metafile: Metafile;
}

/**
 * Bundles the commands with the packages that they use. The same sources give the same bytes.
 *
 * The file contains the code as texts: one text for each part into which esbuild splits the code. Node compiles a part
 * only when a command needs it, because parsing all parts would take longer than most commands. An older version of
 * Node, which Slipway refuses, can read enough of the file to print the reason.
 */
export async function buildOneFile(): Promise<OneFile> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [{ in: 'scripts/build/publisher.ts', out: 'publisher' }],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    // Uses the ES modules of a package, because esbuild can leave out the unused code of ES modules.
    mainFields: ['module', 'main'],
    define: {
      SLIPWAY_VERSION: JSON.stringify(readVersion()),
      SLIPWAY_SKILL: JSON.stringify(await readFile(path.join(ROOT, 'SKILL.md'), 'utf8')),
      SLIPWAY_LEFT_OUT: JSON.stringify(namesOf(SERVICE_COMMANDS).join(' ')),
    },
    plugins: [lessOfPackages],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // The names of parts are short, because CommonJS code repeats the name of a part at each use of its exports.
    chunkNames: '[hash]',
    outdir: path.join(ROOT, 'dist'),
    write: false,
    metafile: true,
    logLevel: 'warning',
  });
  const parts: Record<string, string> = {};
  for (const { path: file, text } of outputFiles) {
    parts[`./${path.basename(file)}`] = await asCommonJs(text);
  }
  const check = await readFile(path.join(ROOT, 'src/check-node.js'), 'utf8');
  const licences = await renderLicences(ROOT, bundledFiles(metafile));
  return { text: renderFile(check, parts, licences), metafile };
}

/**
 * Translates a part to CommonJS, because Node can compile CommonJS from a text. Identifiers do not change, so that
 * stack traces stay readable.
 */
async function asCommonJs(text: string): Promise<string> {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node22.19',
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
    legalComments: 'none',
  });
  // ES modules are always strict, so the translated code must be strict, too.
  return `"use strict";${code}`;
}

function renderFile(check: string, parts: Record<string, string>, licences: string): string {
  return `#!/usr/bin/env node
// Slipway ${readVersion()}, the publisher in one file. The licences of the packages in it are at the end.
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

${check}
const require = createRequire(import.meta.url);
const loaded = {};
function load(name) {
  if (parts[name] === undefined) return require(name);
  if (loaded[name] === undefined) {
    const module = { exports: {} };
    loaded[name] = module;
    const options = { filename: import.meta.filename + name.slice(1) };
    const run = compileFunction(parts[name], ['require', 'module', 'exports'], options);
    run(load, module, module.exports);
  }
  return loaded[name].exports;
}
const parts = ${JSON.stringify(parts, null, 1)};
load('./publisher.js');

${licences}`;
}

/** The names of commands. */
function namesOf(commands: readonly AddCommands[]): readonly string[] {
  const program = new Command();
  for (const add of commands) add(program, () => async () => {});
  return program.commands.map((command) => command.name());
}
