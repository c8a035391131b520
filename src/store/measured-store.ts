import { isAppError } from '../core/errors.ts';
import type { CallOptions, ObjectReader, ObjectStore } from './object-store.ts';

/** `read_range`: a read of a range of an opened object. */
export type StoreOperation =
  | 'create'
  | 'get'
  | 'read'
  | 'open'
  | 'read_range'
  | 'head'
  | 'list'
  | 'delete'
  | 'upload';

/**
 * `ok`: the store answered, even if the object is missing or exists already. `unavailable`, `denied` and
 * `full`: failures of the store. `aborted`: the caller stopped waiting. `other`: any other error, such as a
 * document that is too large.
 */
type StoreOutcome = 'ok' | 'unavailable' | 'denied' | 'full' | 'aborted' | 'other';

/** The store calls this function when a request begins, and calls its result once, when the request ends. */
export type StartRequest = (operation: StoreOperation) => (outcome: StoreOutcome) => void;

/**
 * Creates a store that measures its requests. It measures a stream until the stream is open, and a listing until its
 * first object, because the reader decides how long the rest takes. Presigning sends no request, so the store does not
 * measure it.
 */
export function createMeasuredStore({
  store,
  start,
}: {
  readonly store: ObjectStore;
  readonly start: StartRequest;
}): ObjectStore {
  const measure = async <T>(
    operation: StoreOperation,
    { signal }: CallOptions = {},
    request: () => Promise<T>,
  ): Promise<T> => {
    const end = start(operation);
    try {
      const result = await request();
      end('ok');
      return result;
    } catch (error) {
      end(outcomeOf(error, signal));
      throw error;
    }
  };
  return {
    ...store,
    create: (key, body, options) =>
      measure('create', options, () => store.create(key, body, options)),
    get: (key, options) => measure('get', options, () => store.get(key, options)),
    read: (key, options) => measure('read', options, () => store.read(key, options)),
    open: async (key, options) => {
      const reader = await measure('open', options, () => store.open(key, options));
      if (reader === undefined) return undefined;
      const read: ObjectReader['read'] = (target, from, call) =>
        measure('read_range', call, () => reader.read(target, from, call));
      return { info: reader.info, read, close: () => reader.close() };
    },
    head: (key, options) => measure('head', options, () => store.head(key, options)),
    delete: (key, options) => measure('delete', options, () => store.delete(key, options)),
    upload: (key, source, options) =>
      measure('upload', options, () => store.upload(key, source, options)),
    async *list(prefix, options) {
      let end: ReturnType<StartRequest> | undefined = start('list');
      try {
        for await (const info of store.list(prefix, options)) {
          end?.('ok');
          end = undefined;
          yield info;
        }
        end?.('ok');
      } catch (error) {
        // When a later page fails, the first measurement has already ended with `ok`. The failure counts as another
        // listing.
        (end ?? start('list'))(outcomeOf(error, options?.signal));
        throw error;
      }
    },
  };
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): StoreOutcome {
  if (signal?.aborted === true) return 'aborted';
  if (isAppError(error, 'store_unavailable')) return 'unavailable';
  if (isAppError(error, 'store_denied')) return 'denied';
  return isAppError(error, 'store_full') ? 'full' : 'other';
}
