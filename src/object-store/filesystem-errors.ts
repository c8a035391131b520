import { AppError, systemCode } from '../errors.ts';

/** No such file: a parent that is a file (ENOTDIR) or too long a path cannot hold it either. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(systemCode(error) ?? '');
}

/** Translates a failed file operation; an AppError, and the reason of an abort, pass through. */
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
        `${failed}: no space is left on the volume. Nothing was stored; free space or move the directory.`,
        { cause: error },
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new AppError(
        'store_denied',
        `${failed}: this process may not. Check the owner and mode of the directory and how its volume is mounted, or set DATA_DIR to another one.`,
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

/** Runs a file operation and throws what {@link storeError} makes of its failure. */
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

/** A link could lead out of the directory. */
export function symbolicLink(path: string): AppError {
  return new AppError(
    'document_corrupt',
    `${path} is a symbolic link or is reached through one, and the store does not follow them. Put the files themselves there.`,
  );
}
