import type { AppError, ErrorKind } from '../core/errors.ts';

/** The exit codes of commands. */

export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, outcomeUnknown: 4 } as const;

const EXIT_BY_KIND: Readonly<Record<ErrorKind, number>> = {
  invalid: EXIT.usage,
  unauthenticated: EXIT.refused,
  forbidden: EXIT.refused,
  not_found: EXIT.refused,
  gone: EXIT.refused,
  already_exists: EXIT.refused,
  conflict: EXIT.refused,
  rate_limited: EXIT.failed,
  not_configured: EXIT.refused,
  unavailable: EXIT.failed,
  corrupt: EXIT.failed,
  internal: EXIT.failed,
};

export function exitCodeOf(error: AppError): number {
  if (error.code === 'outcome_unknown') return EXIT.outcomeUnknown;
  return error.code === 'store_denied' ? EXIT.failed : EXIT_BY_KIND[error.kind];
}
