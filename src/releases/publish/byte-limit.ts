/** Runs pieces of work at the same time, in their order, while they fit into the memory and are few. */
export interface ByteLimit {
  /** @param bytes the memory that the work holds; more than the limit counts as the limit */
  run<T>(bytes: number, work: () => Promise<T>): Promise<T>;
}

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
