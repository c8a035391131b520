import { systemCode } from '../core/errors.ts';
import { UpdaterError } from './updater-error.ts';

/** Translates the failure of a call of the file system. Other errors stay as they are. */
export function cacheError(directory: string, error: unknown): unknown {
  const code = systemCode(error);
  if (error instanceof UpdaterError || code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return diskFull(directory, error);
  }
  const message = `${directory} cannot be used (${code}). Give the client a directory that this user may write.`;
  return new UpdaterError('cache_unusable', message, { cause: error });
}

export function diskFull(directory: string, cause?: unknown): UpdaterError {
  const message = `No space is left for ${directory}. Free some space, and try again.`;
  return new UpdaterError('disk_full', message, { cause });
}

/** For a file that need not exist. */
export function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}
