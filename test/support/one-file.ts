import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildOneFile, type OneFile } from '../../scripts/build/one-file.ts';

/** Builds the publisher in one file, and writes it as `slipway.mjs` into a directory. */
export async function writeOneFile(
  directory: string,
): Promise<OneFile & { readonly file: string }> {
  const built = await buildOneFile();
  const file = path.join(directory, 'slipway.mjs');
  await writeFile(file, built.text, { mode: 0o755 });
  return { ...built, file };
}
