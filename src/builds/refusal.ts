import { basename } from 'node:path';
import { AppError } from '../core/errors.ts';

/** An `invalid_artifact` error that begins with the file's path. The reason has one or more sentences. */
export function refusal(path: string, reason: string, cause?: unknown): AppError {
  return new AppError('invalid_artifact', sentence(path, reason), { cause });
}

/**
 * An `invalid_artifact` error for a file that is not as its build wrote it. The error tells a publisher to build again.
 * In an import, the error tells the publisher to copy the file again from the other server.
 *
 * @param reason without a full stop
 * @param otherwise another step that helps, such as `remove it`
 */
export function brokenFile(path: string, reason: string, otherwise?: string): AppError {
  const or = otherwise === undefined ? '' : `, or ${otherwise}`;
  return new AppError('invalid_artifact', `${path}: ${reason}. Build again${or}.`, {
    importDetail: `${path}: ${reason}. Copy it again from the other server${or}.`,
  });
}

/**
 * An `invalid_artifact` error for a file that differs from the statement of its feed. A publisher may have changed the
 * file on purpose, so the error also names the option that accepts its bytes.
 *
 * @param reason without a full stop
 * @param file the path of the file
 */
export function changedFile(path: string, reason: string, file: string): AppError {
  return new AppError(
    'invalid_artifact',
    `${path}: ${reason}. Build again, or add --rehash ${JSON.stringify(basename(file))} to publish its present bytes.`,
    { importDetail: `${path}: ${reason}. Copy it again from the other server.` },
  );
}

/** An `invalid_request` error for an argument that cannot be understood: no such file, no such key. */
export function misuse(path: string, reason: string, cause?: unknown): AppError {
  return new AppError('invalid_request', sentence(path, reason), { cause });
}

/** True when an error is a system error with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function sentence(path: string, reason: string): string {
  return `${path}: ${reason}${reason.endsWith('.') ? '' : '.'}`;
}
