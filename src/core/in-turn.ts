import pLimit from 'p-limit';
import { AppError } from './errors.ts';

/** Runs one task after another. Each task parses whole revisions, and so takes time and memory that clients need. */
export type InTurn = <T>(task: () => Promise<T>) => Promise<T>;

const WAITING_MAX = 8;
export const RETRY_AFTER_SECONDS = 5;

/**
 * @param tooMany the sentence of the error
 * @returns a function that runs a task in its turn; it throws AppError `overloaded` when too many tasks wait
 */
export function createTurns(tooMany: string): InTurn {
  const limit = pLimit(1);
  return async (task) => {
    if (limit.pendingCount < WAITING_MAX) return limit(task);
    throw new AppError('overloaded', tooMany, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  };
}
