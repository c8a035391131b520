import type { ObjectStore } from '../../src/store/object-store.ts';

interface RequestCount {
  readonly requests: number;
  /** Requests sent before any of them was answered count as one round trip. */
  readonly trips: number;
}

interface CountingStore {
  readonly store: ObjectStore;
  /** The counts since the last `take`. */
  take(): RequestCount;
}

/** Counts requests and round trips. Delays each request until no further one is sent in the same tick. */
export function createCountingStore(inner: ObjectStore): CountingStore {
  let requests = 0;
  let trips = 0;
  let open: Promise<void> | undefined;
  const trip = (): Promise<void> => {
    requests++;
    open ??= new Promise((resolve) => {
      trips++;
      setImmediate(() => {
        open = undefined;
        resolve();
      });
    });
    return open;
  };
  const store: ObjectStore = {
    ...inner,
    create: (...call) => trip().then(() => inner.create(...call)),
    get: (...call) => trip().then(() => inner.get(...call)),
    read: (...call) => trip().then(() => inner.read(...call)),
    open: (...call) => trip().then(() => inner.open(...call)),
    head: (...call) => trip().then(() => inner.head(...call)),
    delete: (...call) => trip().then(() => inner.delete(...call)),
    upload: (...call) => trip().then(() => inner.upload(...call)),
    async *list(...call) {
      // Counts one page: a listing in these benchmarks has no more.
      await trip();
      yield* inner.list(...call);
    },
  };
  return {
    store,
    take: () => {
      const taken = { requests, trips };
      requests = 0;
      trips = 0;
      return taken;
    },
  };
}
