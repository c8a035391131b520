import { isAppError } from '../core/errors.ts';
import type { GetOptions, ObjectStore } from './object-store.ts';

/** True when there is an object under the key; see {@link readSize}. */
export async function isPresent(
  store: Pick<ObjectStore, 'get'>,
  key: string,
  options?: Pick<GetOptions, 'fresh'>,
): Promise<boolean> {
  return (await readSize(store, key, options)) !== undefined;
}

/**
 * The object's size in bytes; undefined when the object is missing. Unlike a HEAD, this request also proves that the
 * object is missing.
 *
 * @throws AppError `store_denied`; `store_unavailable`, also when another server than the store answered
 */
export async function readSize(
  store: Pick<ObjectStore, 'get'>,
  key: string,
  options: Pick<GetOptions, 'fresh'> = {},
): Promise<number | undefined> {
  try {
    return (await store.get(key, { ...options, range: { start: 0, end: 0 } }))?.size;
  } catch (error) {
    // An empty object has no first byte.
    if (isAppError(error, 'invalid_range')) return 0;
    throw error;
  }
}
