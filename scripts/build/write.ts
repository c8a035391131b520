import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { writeBrowserFiles } from './browser-output.ts';
import { buildClient } from './client.ts';
import { buildOneFile } from './one-file.ts';

/**
 * Writes `dist/slipway.mjs`, `dist/client`, and below `dist/browser` the files that browsers load. With
 * `--only-publisher`, it writes only the first: the GitHub action needs no more.
 */
const dist = path.resolve(import.meta.dirname, '../../dist');

const { text } = await buildOneFile();
await mkdir(dist, { recursive: true });
await writeFile(path.join(dist, 'slipway.mjs'), text, { mode: 0o755 });
console.log(`dist/slipway.mjs: ${(Buffer.byteLength(text) / 1e6).toFixed(1)} MB`);

if (!process.argv.includes('--only-publisher')) {
  const client = path.join(dist, 'client');
  await mkdir(client, { recursive: true });
  for (const [name, file] of await buildClient()) await writeFile(path.join(client, name), file);
  console.log('dist/client: the updater for applications');

  await writeBrowserFiles(dist);
  console.log('dist/browser: the files for browsers');
}
