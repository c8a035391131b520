/** Long work in steps of a few milliseconds, so that a process can answer requests between two steps. */
export type Steps<T> = Generator<void, T>;

/** Items of a long list in one step. */
export const ITEMS_PER_STEP = 250;

/** Runs all steps at once, for small work or a process that answers no requests. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Like `items.map(convert)`, in steps. */
export function* mapInSteps<T, R>(items: readonly T[], convert: (item: T) => R): Steps<R[]> {
  const results: R[] = [];
  for (const item of items) {
    results.push(convert(item));
    if (results.length % ITEMS_PER_STEP === 0) yield;
  }
  return results;
}

/** Like `items.toSorted(compare)`, in steps: sorts short runs, and merges them pair by pair. */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += ITEMS_PER_STEP) {
    runs.push(items.slice(start, start + ITEMS_PER_STEP).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* mergeInSteps(runs[index] ?? [], runs[index + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Merges two sorted lists. Of equal items, those of `first` come first. */
function* mergeInSteps<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const rest = second.values();
  let next = rest.next();
  const merged: T[] = [];
  const add = (item: T): boolean => merged.push(item) % ITEMS_PER_STEP === 0;
  for (const item of first) {
    while (next.done !== true && compare(next.value, item) < 0) {
      if (add(next.value)) yield;
      next = rest.next();
    }
    if (add(item)) yield;
  }
  for (; next.done !== true; next = rest.next()) if (add(next.value)) yield;
  return merged;
}
