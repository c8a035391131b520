/** Runs pieces of work at the same time, within a limit of their memory and of their number. The first comes first. */
export interface ByteLimit {
  /** @param bytes the memory that the work holds; more than the limit counts as the limit */
  run<T>(bytes: number, work: () => Promise<T>): Promise<T>;
}

/**
 * @param bytesMax the memory of all work that is under way
 * @param countMax the number of pieces of work that are under way
 */
export function createByteLimit(bytesMax: number, countMax: number): ByteLimit {
  const waiting: (() => boolean)[] = [];
  let free = bytesMax;
  let count = 0;
  const startNext = (): void => {
    while (waiting[0]?.() === true) waiting.shift();
  };
  return {
    run: async (stated, work) => {
      const bytes = Math.min(stated, bytesMax);
      await new Promise<void>((resolve) => {
        waiting.push(() => {
          if (bytes > free || count === countMax) return false;
          free -= bytes;
          count++;
          resolve();
          return true;
        });
        startNext();
      });
      try {
        return await work();
      } finally {
        free += bytes;
        count--;
        startNext();
      }
    },
  };
}
