import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Secret } from './secret.ts';

/**
 * A secret of this machine's own, created once and readable by its owner alone.
 *
 * Only for a directory store, whose processes share the directory: anywhere else, replicas share
 * secrets through configuration, and never through the bucket.
 */
export async function openLocalSecret(file: string): Promise<Secret> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return new Secret((await readFile(file, 'utf8')).trim());
}
