/** Large buffers that the answers with the quickest clients use in turn. */
export interface SharedBuffers {
  /** Undefined while other answers use all buffers. */
  take(): Buffer | undefined;
  give(buffer: Buffer): void;
  /** Replaces buffers that an answer could not give back, because a read or a write may still use them. */
  replace(count: number): void;
}

export function createSharedBuffers(bytesEach: number, countMax: number): SharedBuffers {
  const free: Buffer[] = [];
  let count = 0;
  return {
    take: () => {
      const buffer = free.pop();
      if (buffer !== undefined || count === countMax) return buffer;
      count += 1;
      return Buffer.allocUnsafeSlow(bytesEach);
    },
    // The last buffer is the first to be used again: the processor may still have it in its cache.
    give: (buffer) => void free.push(buffer),
    replace: (lost) => {
      count -= lost;
    },
  };
}
