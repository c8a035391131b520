import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { builtOutput } from '../../src/browser-files/browser-files.ts';
import { buildBrowserFiles } from '../../src/browser-files/build.ts';
import { buildOneFile } from './one-file.ts';

/** Writes `dist/slipway.mjs`, and below `dist/browser` the files that browsers load. */
const dist = path.resolve(import.meta.dirname, '../../dist');

const { text } = await buildOneFile();
await mkdir(dist, { recursive: true });
await writeFile(path.join(dist, 'slipway.mjs'), text, { mode: 0o755 });
console.log(`dist/slipway.mjs: ${(Buffer.byteLength(text) / 1e6).toFixed(1)} MB`);

const browser = path.join(dist, 'browser');
// Files of an earlier build have other hashes.
await rm(browser, { recursive: true, force: true });
for (const [name, bytes] of builtOutput(await buildBrowserFiles())) {
  const file = path.join(browser, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, bytes);
}
console.log('dist/browser: the files for browsers');
