import type { ObjectStore } from '../../../src/object-store/object-store.ts';
import { createFaultyStore, type StoreCall } from '../../support/faulty-store.ts';

/**
 * Processes that take turns at one store, in an order that the test decides: every call waits at a gate.
 * A run is repeated with the next order until there is no other.
 */
export interface Turns {
  /** One process's view of the store; `isGate` picks the calls whose place in the order matters. */
  process(store: ObjectStore, isGate?: (call: StoreCall) => boolean): ObjectStore;
  /** Lets the waiting calls go one by one until all the work is done. */
  play(work: readonly Promise<unknown>[]): Promise<void>;
}

interface Waiting {
  readonly process: number;
  go(): void;
}

/** Picks one of so many waiting calls. */
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
        // Everything that can go on without a turn has done so by then: the store is in memory.
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

/** Of calls that a process makes at once, only the first, or the last, may go next. */
function oneOfEach(waiting: readonly Waiting[], order: 'first' | 'last'): Waiting[] {
  const sorted = order === 'first' ? waiting : [...waiting].reverse();
  return sorted.filter(
    (call, index) => sorted.findIndex(({ process }) => process === call.process) === index,
  );
}

/**
 * Runs once for every order there is.
 *
 * @param order `any`: of calls that one process makes at once, too
 * @returns how many there were
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

/** Runs in so many orders, drawn by lot. */
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
