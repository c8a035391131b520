import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, systemCode } from './errors.ts';
import { createOwnDirectory } from './own-directory.ts';
import { Secret } from './secret.ts';

const SECRET_LENGTH_MIN = 32;

/**
 * A secret of this machine's own, created once and readable by its owner alone.
 *
 * Only for a directory store, whose processes share the directory: anywhere else, replicas share
 * secrets through configuration, and never through the bucket.
 *
 * @param create makes the secret; 32 random bytes unless something else is asked for
 * @throws AppError `invalid_configuration` when the file holds no whole secret: with an empty one
 *   anybody could sign links; `store_denied` or `store_full` when it cannot be created or read
 */
export async function openLocalSecret(
  file: string,
  create: () => string | Promise<string> = () => randomBytes(32).toString('base64url'),
): Promise<Secret> {
  if (existsSync(file)) return readSecret(file);
  const secret = await create();
  // Written whole before it has its name: a process killed here, or a full disk, leaves no half of it.
  const temporary = `${file}.${randomUUID()}`;
  try {
    await createOwnDirectory(path.dirname(file));
    await writeFile(temporary, secret, { flag: 'wx', mode: 0o600 });
    await link(temporary, file);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw cannot('create', file, error);
  } finally {
    // A failure to remove it must not hide what failed before.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  return readSecret(file);
}

async function readSecret(file: string): Promise<Secret> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw cannot('read', file, error);
  });
  const secret = text.trim();
  if (secret.length >= SECRET_LENGTH_MIN) return new Secret(secret);
  throw new AppError(
    'invalid_configuration',
    `${file} is corrupt: it has ${secret.length} characters, not ${SECRET_LENGTH_MIN} or more. Delete it, and a new one is made; links handed out before stop working.`,
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
