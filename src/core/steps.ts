/**
 * Long work in steps, so that a process can answer requests in between. A step takes a millisecond or less: many short
 * steps cost nothing, because `run-in-turns.ts` runs several of them before it lets the process answer.
 */
export type Steps<T> = Generator<void, T>;

/** The number of items of a long list that one step handles. */
export const ITEMS_PER_STEP = 50;

/** Runs all steps at once, for small work or a process that answers no requests. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Like `items.map(convert)`, but in steps. */
export function* mapInSteps<T, R>(items: readonly T[], convert: (item: T) => R): Steps<R[]> {
  const results: R[] = [];
  for (const item of items) {
    results.push(convert(item));
    if (results.length % ITEMS_PER_STEP === 0) yield;
  }
  return results;
}
