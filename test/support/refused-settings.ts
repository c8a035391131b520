import { loadConfig } from '../../src/config.ts';
import { AppError } from '../../src/core/errors.ts';

/** The refusal of wrong settings. */
export function refusalOf(env: Record<string, string>): AppError {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

export const pointersOf = (env: Record<string, string>) =>
  refusalOf(env).issues.map(({ pointer }) => pointer);
