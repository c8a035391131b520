import type { ObjectStore } from '../../../../src/store/object-store.ts';
import { createFaultyStore, type StoreCall } from '../../../support/faulty-store.ts';

/**
 * Runs processes that share a store in an order that the test chooses: each store call waits for its turn. The
 * run is repeated with the next order, until every order was tried.
 */
export interface Turns {
  /** The store of one process. @param isGate chooses the calls that wait for their turn; default all */
  process(store: ObjectStore, isGate?: (call: StoreCall) => boolean): ObjectStore;
  /** Lets the waiting calls proceed one by one until the work is done. */
  play(work: readonly Promise<unknown>[]): Promise<void>;
}

interface Waiting {
  readonly process: number;
  go(): void;
}

/** Chooses one of the waiting calls: an index below `width`. */
type Choice = (width: number) => number;

function createTurns(choose: Choice, order: 'any' | 'first' | 'last'): Turns {
  const waiting: Waiting[] = [];
  let processes = 0;
  return {
    process: (store, isGate = () => true) => {
      const process = processes++;
      return createFaultyStore(store, (call) =>
        isGate(call)
          ? new Promise((resolve) => waiting.push({ process, go: () => resolve(undefined) }))
          : undefined,
      );
    },
    play: async (work) => {
      let isDone = false;
      const all = Promise.allSettled(work).then(() => {
        isDone = true;
      });
      for (;;) {
        // The store is in memory: by now, every process waits for a turn or has ended.
        await new Promise(setImmediate);
        if (isDone) return all;
        const offered = order === 'any' ? waiting : oneOfEach(waiting, order);
        const chosen = offered[choose(offered.length)];
        if (chosen === undefined) continue;
        waiting.splice(waiting.indexOf(chosen), 1);
        chosen.go();
      }
    },
  };
}

/** Offers only the first, or the last, of the calls that one process makes concurrently. */
function oneOfEach(waiting: readonly Waiting[], order: 'first' | 'last'): Waiting[] {
  const sorted = order === 'first' ? waiting : [...waiting].reverse();
  return sorted.filter(
    (call, index) => sorted.findIndex(({ process }) => process === call.process) === index,
  );
}

/**
 * Runs once for every order.
 *
 * @param order `any`: the concurrent calls of one process are ordered, too
 * @returns how many orders there were
 */
export async function inEveryOrder(
  run: (turns: Turns, name: string) => Promise<void>,
  order: 'any' | 'first' | 'last' = 'any',
): Promise<number> {
  let path: { taken: number; width: number }[] = [];
  for (let count = 1; ; count++) {
    let step = 0;
    const choose: Choice = (width) => {
      if (width === 0) return 0;
      const known = path[step];
      if (known === undefined) path.push({ taken: 0, width });
      else if (known.width !== width) throw new Error('A run took another way the second time.');
      return path[step++]?.taken ?? 0;
    };
    await run(createTurns(choose, order), `order ${path.map(({ taken }) => taken).join('')}`);
    while (path.length > 0 && (path.at(-1)?.taken ?? 0) + 1 >= (path.at(-1)?.width ?? 0)) {
      path.pop();
    }
    const last = path.at(-1);
    if (last === undefined) return count;
    path = [...path.slice(0, -1), { ...last, taken: last.taken + 1 }];
  }
}

/** Runs in `times` random orders. */
export async function inSomeOrders(
  times: number,
  fraction: () => number,
  run: (turns: Turns, name: string) => Promise<void>,
): Promise<number> {
  for (let time = 1; time <= times; time++) {
    const choose: Choice = (width) => Math.floor(fraction() * width);
    await run(createTurns(choose, 'any'), `draw ${time}`);
  }
  return times;
}
