import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { ObjectInfo, ObjectReader } from '../object-store.ts';
import { checkWithin } from '../range.ts';
import { becameShorter, storeError } from './errors.ts';

/**
 * Reads an open file at any position. The reader closes the file.
 *
 * @param path for error messages
 */
export function createFileReader(file: FileHandle, info: ObjectInfo, path: string): ObjectReader {
  const underWay = new Set<Promise<void>>();
  return {
    info,
    async read(target, start, options) {
      options?.signal?.throwIfAborted();
      checkWithin(start, target.length, info.size);
      const reading = fill(file.fd, target, start, path);
      const settled = reading.then(forget, forget);
      function forget(): void {
        underWay.delete(settled);
      }
      underWay.add(settled);
      await reading;
    },
    async close() {
      // Waits for the reads: if the file were closed during a read, another file could get its descriptor.
      await Promise.all(underWay);
      await file.close();
    },
  };
}

/** Uses a callback, because a promise of `FileHandle.read` costs as much as a quarter of the copying. */
function fill(fd: number, target: Uint8Array, start: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const readOn = (done: number): void => {
      if (done === target.length) {
        resolve();
        return;
      }
      read(fd, target, done, target.length - done, start + done, (error, bytesRead) => {
        if (error) reject(storeError(error, 'read', path));
        else if (bytesRead === 0) reject(becameShorter(path));
        else readOn(done + bytesRead);
      });
    };
    readOn(0);
  });
}
