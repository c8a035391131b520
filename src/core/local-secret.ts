import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, systemCode } from './errors.ts';
import { createOwnDirectory } from './own-directory.ts';
import { readPlainFile } from './plain-file.ts';
import { Secret } from './secret.ts';

const SECRET_LENGTH_MIN = 32;
/** Every secret and every set of keys is smaller. */
const SECRET_BYTES_MAX = 256 * 1024;

/**
 * Reads a secret from a file, and creates the file the first time, readable by its owner alone.
 *
 * Replicas on several machines share secrets through their configuration instead. A secret is never stored
 * in the bucket.
 *
 * @param create makes the secret; default 32 random bytes in base64url
 * @throws AppError `invalid_configuration` when the file's secret is too short: with an empty secret, an
 *   attacker could sign links; `store_denied` or `store_full` when the file cannot be created or read
 */
export async function openLocalSecret(
  file: string,
  create: () => string | Promise<string> = () => randomBytes(32).toString('base64url'),
): Promise<Secret> {
  if (existsSync(file)) return readSecret(file);
  const secret = await create();
  // Writes under another name first, so that a killed process or a full disk leaves no partial secret.
  const temporary = `${file}.${randomUUID()}`;
  try {
    await createOwnDirectory(path.dirname(file));
    await writeFile(temporary, secret, { flag: 'wx', mode: 0o600 });
    await link(temporary, file);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw cannot('create', file, error);
  } finally {
    // A failure to remove the temporary file must not replace the earlier error.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  return readSecret(file);
}

async function readSecret(file: string): Promise<Secret> {
  const bytes = await readPlainFile(file, SECRET_BYTES_MAX).catch((error: unknown) => {
    throw cannot('read', file, error);
  });
  const secret = bytes?.toString().trim() ?? '';
  if (secret.length >= SECRET_LENGTH_MIN) return new Secret(secret);
  throw new AppError(
    'invalid_configuration',
    `The secret in ${file} has ${secret.length} characters. It needs ${SECRET_LENGTH_MIN} or more. Delete the file, and the service creates a new secret. Links, sessions and tokens that were signed with the old one become invalid.`,
  );
}

function cannot(action: 'create' | 'read', file: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code = systemCode(cause) ?? String(cause);
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new AppError(
    isFull ? 'store_full' : 'store_denied',
    `Could not ${action} ${file} (${code}). ${isFull ? 'Free space on its volume, or set' : 'Set'} DATA_DIR to a directory that this process may read and write, on a volume with hard links.`,
    { cause },
  );
}
