import { isAppError } from '../errors.ts';
import type { CallOptions, ObjectStore } from './object-store.ts';

/**
 * Whether there is an object under the key: in one request that can also prove that there is none.
 *
 * @throws AppError the store's, also when whatever answered was not the store
 */
export async function isPresent(
  store: Pick<ObjectStore, 'get'>,
  key: string,
  options: CallOptions = {},
): Promise<boolean> {
  try {
    return (await store.get(key, { ...options, range: { start: 0, end: 0 } })) !== undefined;
  } catch (error) {
    // An empty object has no first byte.
    if (isAppError(error, 'invalid_range')) return true;
    throw error;
  }
}
