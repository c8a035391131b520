import path from 'node:path';
import { isAppError, systemCode } from '../core/errors.ts';

/** Failures as sentences instead of stack traces. */

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
  ENOSPC: 'no space is left on the volume',
  EROFS: 'the volume is read-only',
  EIO: 'the device failed',
};

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: 'Give this user access, or run the command as a user who has it.',
  EPERM: 'Give this user access, or run the command as a user who has it.',
  ENOENT: 'Check the path. The file may have been removed meanwhile.',
  EMFILE: 'Raise the limit of open files (ulimit -n).',
  ENOSPC: 'Free some space and run the command again.',
};

interface SystemError extends Error {
  readonly code: string;
  readonly path?: string;
  readonly syscall?: string;
}

function isSystemError(error: unknown): error is SystemError {
  return systemCode(error) !== undefined;
}

/** The reason of an error of the system: `permission denied, EACCES`. */
function reasonOf({ code }: SystemError): string {
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason}, ${code}`;
}

/**
 * The message of a failure.
 *
 * @param version of this program, for the report of an unexpected error
 * @param argv the command line, for a hint
 */
export function sentenceOf(error: unknown, version: string, argv: readonly string[] = []): string {
  if (isAppError(error, 'invalid_version')) return `${error.message}${orderHint(argv)}`;
  if (isAppError(error)) {
    const { cause, message } = error;
    // The message of a failure to read build output names the file, and the system's error has the reason.
    return isSystemError(cause)
      ? message.replace(/cannot be read\.?$/, `cannot be read (${reasonOf(cause)}).`)
      : message;
  }
  if (isSystemError(error)) {
    const what = error.path === undefined ? 'A system call' : path.resolve(error.path);
    const call = error.syscall === undefined ? '' : ` on ${error.syscall}`;
    return `${what} failed${call}: ${reasonOf(error)}. ${REMEDIES[error.code] ?? 'Check it and run the command again.'}`;
  }
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `This is a bug in slipway ${version}, not a mistake in the command. The outcome is unknown: run "slipway releases" before you run the command again. Please report the bug with these lines:\n${details}`;
}

/** A hint for `publish dist 1.4.0`, where the version is in the wrong place. */
function orderHint([command, ...words]: readonly string[]): string {
  const [first = ''] = words;
  // No hint for `01.4.0`: it is not a version, but it is in the right place.
  if (/^v?\d+(\.\d+)*([-+]|$)/.test(first)) return '';
  const version = words.find((word) => /^v?\d+\.\d+\.\d+([-+][\w.+-]+)?$/.test(word));
  if (version !== undefined) return ` The version comes first: slipway ${command} ${version} …`;
  return command === 'publish' && first !== ''
    ? ` The version comes first, and then the files: slipway publish VERSION ${first}`
    : '';
}
