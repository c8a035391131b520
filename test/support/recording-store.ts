import { setTimeout } from 'node:timers/promises';
import type { ObjectInfo, ObjectStore } from '../../src/store/object-store.ts';

/** One request, with its position in the order in which all requests began and ended. */
interface RecordedRequest {
  readonly operation: string;
  readonly key: string;
  readonly began: number;
  ended: number;
}

interface RecordingStore {
  readonly store: ObjectStore;
  readonly requests: readonly RecordedRequest[];
}

/** Long enough that requests overlap when they do not wait for each other. */
const LATENCY_MS = 3;
/** The keys that one request lists. */
const PAGE_KEYS = 1_000;

/**
 * Records each request that a bucket would get. A HEAD of a missing object counts twice, because a GET must prove that
 * the object is missing, and a listing counts once for each page. Every answer takes a few milliseconds.
 */
export function createRecordingStore(inner: ObjectStore): RecordingStore {
  const requests: RecordedRequest[] = [];
  let events = 0;
  const send = async <T>(operation: string, key: string, answer: () => Promise<T>): Promise<T> => {
    const request = { operation, key, began: events++, ended: Number.POSITIVE_INFINITY };
    requests.push(request);
    try {
      const answered = await answer();
      await setTimeout(LATENCY_MS);
      return answered;
    } finally {
      request.ended = events++;
    }
  };
  const store: ObjectStore = {
    ...inner,
    create: (key, ...rest) => send('create', key, () => inner.create(key, ...rest)),
    get: (key, ...rest) => send('get', key, () => inner.get(key, ...rest)),
    read: (key, ...rest) => send('read', key, () => inner.read(key, ...rest)),
    open: (key, ...rest) => send('open', key, () => inner.open(key, ...rest)),
    head: async (key, ...rest) => {
      const info = await send('head', key, () => inner.head(key, ...rest));
      return info ?? (await send('get', key, async () => undefined));
    },
    delete: (key, ...rest) => send('delete', key, () => inner.delete(key, ...rest)),
    upload: (key, ...rest) => send('upload', key, () => inner.upload(key, ...rest)),
    async *list(prefix, ...rest) {
      const infos: ObjectInfo[] = [];
      for await (const info of inner.list(prefix, ...rest)) infos.push(info);
      for (let from = 0; from === 0 || from < infos.length; from += PAGE_KEYS) {
        yield* await send('list', prefix, async () => infos.slice(from, from + PAGE_KEYS));
      }
    },
  };
  return { store, requests };
}

/**
 * The longest chain of requests in which each request began after the one before it had ended: the number of times that
 * a publisher waits for the store, one after the other, when its requests take equally long.
 */
export function longestChain(requests: readonly RecordedRequest[]): readonly RecordedRequest[] {
  const chain: RecordedRequest[] = [];
  // Of all requests that began after the chain, the one that ends first leaves the most time for others.
  for (const request of [...requests].sort((a, b) => a.ended - b.ended)) {
    if (request.began > (chain.at(-1)?.ended ?? -1)) chain.push(request);
  }
  return chain;
}
