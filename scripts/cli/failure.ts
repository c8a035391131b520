import path from 'node:path';
import { isAppError, systemCode } from '../../src/errors.ts';

/** Failures in plain sentences: what a person reads instead of a stack trace. */

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
  EACCES: 'Let this user read it, or run the command as a user who may.',
  EPERM: 'Let this user read it, or run the command as a user who may.',
  ENOENT: 'Check the path; it may have been removed meanwhile.',
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

/** `permission denied, EACCES` */
function reasonOf({ code }: SystemError): string {
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason}, ${code}`;
}

/**
 * What to print about a failure.
 *
 * @param version of this program, for a report of a failure that it does not know
 * @param argv what was typed, for a hint
 */
export function sentenceOf(error: unknown, version: string, argv: readonly string[] = []): string {
  if (isAppError(error, 'invalid_version')) return `${error.message}${orderHint(argv)}`;
  if (isAppError(error)) {
    const { cause, message } = error;
    // Build output names the file that it cannot read, and leaves the reason to the system's error.
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
  return `This is a mistake in slipway ${version}, not in what you typed. Nothing was printed about the outcome: look with "slipway releases" before you run the command again, and report it with these lines:\n${details}`;
}

/** For `publish dist 1.4.0`: the version is there, and not where it belongs. */
function orderHint([command, ...words]: readonly string[]): string {
  const [first = ''] = words;
  // `01.4.0` is where a version belongs, and is none.
  if (/^v?\d+(\.\d+)*([-+]|$)/.test(first)) return '';
  const version = words.find((word) => /^v?\d+\.\d+\.\d+([-+][\w.+-]+)?$/.test(word));
  return version === undefined ? '' : ` The version comes first: slipway ${command} ${version} …`;
}
