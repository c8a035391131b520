import { setImmediate } from 'node:timers/promises';

/**
 * Long work, cut into steps of a few milliseconds: a process that answers requests answers those between
 * two steps that came meanwhile. Run in one go, it is an ordinary function.
 */
export type Steps<T> = Generator<void, T>;

/** After so many items of a long list a step ends. */
export const ITEMS_PER_STEP = 250;

/** In one go: for what is small, and where nothing else waits. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Lets everything else that is due have its turn after each step. */
export async function runInTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

/** As `items.map(convert)`, in steps. */
export function* mapInSteps<T, R>(items: readonly T[], convert: (item: T) => R): Steps<R[]> {
  const results: R[] = [];
  for (const item of items) {
    results.push(convert(item));
    if (results.length % ITEMS_PER_STEP === 0) yield;
  }
  return results;
}
