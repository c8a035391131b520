import type { Clock } from '../../src/core/clock.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createSharedClock } from '../../src/store/shared-clock.ts';

/** A process whose clock is off. It learns the store's time from the first answer, as from a bucket. */
export function processOffUntilAnswered(store: ObjectStore, storeClock: Clock, aheadMs: number) {
  const own = { ...storeClock, now: () => storeClock.now() + aheadMs };
  let isAnswered = false;
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    const value = await answer;
    isAnswered = true;
    return value;
  };
  const seen: ObjectStore = {
    ...store,
    clockOffsetMs: () => (isAnswered ? -aheadMs : undefined),
    create: (...call) => answered(store.create(...call)),
    get: (...call) => answered(store.get(...call)),
    head: (...call) => answered(store.head(...call)),
    read: (...call) => answered(store.read(...call)),
    upload: (...call) => answered(store.upload(...call)),
    async *list(...call) {
      yield* store.list(...call);
      isAnswered = true;
    },
  };
  return { store: seen, clock: createSharedClock(own, seen) };
}
