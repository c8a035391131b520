/**
 * Uses a value at once when it is known, else when its promise resolves.
 *
 * The service uses this function to answer clients: most values are in memory, and a promise for each of them would
 * cost as much as the answer.
 *
 * @throws what `use` throws; as a rejection when the value is a promise
 */
export function whenKnown<T, R>(
  value: T | Promise<T>,
  use: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}
