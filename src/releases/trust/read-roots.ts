import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { METADATA_BYTES_MAX } from '../../catalog/trust/metadata.ts';
import { parseRoot, type TrustRoot } from '../../catalog/trust/root.ts';
import { AppError, isAppError, systemCode } from '../../core/errors.ts';
import { readPlainFile } from '../../core/plain-file.ts';

/** Reads a root file, or each `.json` file of a directory. @throws AppError `invalid_configuration` */
export async function readRoots(place: string): Promise<ReadonlyMap<string, TrustRoot>> {
  const roots = new Map<string, TrustRoot>();
  for (const file of await rootFiles(place)) {
    const root = await readRoot(file);
    if (roots.has(root.application)) {
      throw wrong(`TRUST_ROOT has two root files for ${root.application}. Keep one: ${file}`);
    }
    roots.set(root.application, root);
  }
  if (roots.size === 0) {
    throw wrong(
      `TRUST_ROOT names the directory ${place}, which has no .json file. Copy the root file of each application there; "slipway trust init" writes it.`,
    );
  }
  return roots;
}

async function rootFiles(place: string): Promise<readonly string[]> {
  try {
    if (!(await stat(place)).isDirectory()) return [place];
    const names = (await readdir(place)).filter((name) => name.endsWith('.json')).sort();
    return names.map((name) => path.join(place, name));
  } catch (error) {
    throw unreadable(place, error);
  }
}

async function readRoot(file: string): Promise<TrustRoot> {
  try {
    const bytes = await readPlainFile(file, METADATA_BYTES_MAX);
    if (bytes === undefined) throw wrong(`${file} is too large for a root file.`);
    return parseRoot(bytes, file);
  } catch (error) {
    if (isAppError(error, 'document_corrupt')) throw wrong(error.message, error);
    if (isAppError(error)) throw error;
    throw unreadable(file, error);
  }
}

function unreadable(place: string, error: unknown): AppError {
  const code = systemCode(error);
  if (code === undefined) throw error;
  const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return wrong(`TRUST_ROOT names ${place}, which ${why}.`, error);
}

function wrong(message: string, cause?: unknown): AppError {
  return new AppError('invalid_configuration', message, { cause });
}
