import { AppError, systemCode } from '../../core/errors.ts';

/** True when the file does not exist. A parent may be a file (ENOTDIR), or the path may be too long for any file. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(systemCode(error) ?? '');
}

/** Translates the error of a file operation. Returns an AppError, and the reason of an abort, unchanged. */
export function storeError(error: unknown, action: string, path: string): unknown {
  const code = systemCode(error);
  if (code === undefined) {
    return error;
  }
  const failed = `Could not ${action} ${path} (${code})`;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError(
        'store_full',
        `${failed}: no space is left on the volume. Nothing was stored. Free space, or move the directory to a larger volume.`,
        { cause: error },
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new AppError(
        'store_denied',
        `${failed}: this process lacks the permission. Check the owner and mode of the directory and how its volume is mounted, or set DATA_DIR to another one.`,
        { cause: error },
      );
    case 'ENAMETOOLONG':
      return new AppError(
        'invalid_key',
        `${failed}: the path is too long for this system. Set DATA_DIR to a directory with a shorter path.`,
        { cause: error },
      );
    case 'ELOOP':
      return symbolicLink(path);
    default:
      return new AppError('store_unavailable', `${failed}.`, { cause: error });
  }
}

/** Runs a file operation; translates its error with {@link storeError}. */
export async function translate<T>(
  action: string,
  path: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw storeError(error, action, path);
  }
}

/** The store does not follow symbolic links, because they could lead out of its directory. */
export function symbolicLink(path: string): AppError {
  return new AppError(
    'document_corrupt',
    `${path} is a symbolic link or is reached through one, which the store does not follow. Replace the link with the files themselves.`,
  );
}

/** The error of a file that became shorter while it was read. */
export function becameShorter(path: string): AppError {
  return new AppError('store_unavailable', `${path} became shorter while it was read.`);
}
