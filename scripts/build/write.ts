import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildOneFile } from './one-file.ts';

/** Writes `dist/slipway.mjs`. */
const file = path.resolve(import.meta.dirname, '../../dist/slipway.mjs');
const { text } = await buildOneFile();
await mkdir(path.dirname(file), { recursive: true });
await writeFile(file, text, { mode: 0o755 });
console.log(`${file}: ${(Buffer.byteLength(text) / 1e6).toFixed(1)} MB`);
