import { createReadStream } from 'node:fs';
import type { UploadSource } from './object-store.ts';

/** A file as an upload source; its size and hash are what the caller measured beforehand. */
export function createFileSource(file: {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}): UploadSource {
  return {
    size: file.size,
    sha256: file.sha256,
    // Large reads: at the default of 64 KiB a copy of a gigabyte spends most of its time between reads.
    open: (start, end) => createReadStream(file.path, { start, end, highWaterMark: 1024 * 1024 }),
  };
}
