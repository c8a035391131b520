import { isAppError } from '../../core/errors.ts';

/** The last answers, by their names: bounded, because names come from addresses. */
export interface Recent<T> {
  get(name: string): T | undefined;
  /** @returns the value */
  set(name: string, value: T): T;
}

export function createRecent<T>(valuesMax: number): Recent<T> {
  const values = new Map<string, T>();
  return {
    get: (name) => values.get(name),
    set: (name, value) => {
      values.delete(name);
      values.set(name, value);
      for (const oldest of values.keys()) {
        if (values.size <= valuesMax) break;
        values.delete(oldest);
      }
      return value;
    },
  };
}

/** Whether an error says that the store cannot be read, and not that the question is wrong. */
export function isStoreFailure(error: unknown): boolean {
  return isAppError(error) && (error.kind === 'unavailable' || error.code === 'store_denied');
}
