import type { FileHandle } from 'node:fs/promises';
import type { UploadOptions, UploadSource } from './object-store.ts';
import { createProgress, createUploadCheck } from './upload-check.ts';

/** Small chunks are written together in batches of this size. */
const BATCH_BYTES = 1024 * 1024;
/** How much may be waiting for the disk: spreads the cost of the last fsync over the copy. */
const FLUSH_BYTES = 64 * 1024 * 1024;

/** Copies the source into the file, hashing while the previous batch is written; see `ObjectStore.upload`. */
export async function copyToFile(
  file: FileHandle,
  key: string,
  source: UploadSource,
  options: UploadOptions,
): Promise<void> {
  const check = createUploadCheck(key, source);
  const progress = createProgress(source.size, options.onProgress);
  const writer = createBatchWriter(file, progress);
  try {
    if (source.size > 0) {
      for await (const chunk of source.open(0, source.size - 1)) {
        options.signal?.throwIfAborted();
        const room = writer.add(chunk);
        check.update(chunk);
        await room;
      }
    }
  } finally {
    // The file must not be closed under a write, also after a failure.
    await writer.settle();
  }
  check.verify();
}

function createBatchWriter(file: FileHandle, progress: (bytes: number) => void) {
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let unflushed = 0;
  let writing: Promise<void> = Promise.resolve();
  let flushing: Promise<void> = Promise.resolve();

  async function write(chunks: Uint8Array[], bytes: number): Promise<void> {
    const [first, second] = chunks;
    let rest = first !== undefined && second === undefined ? first : Buffer.concat(chunks);
    while (rest.length > 0) {
      const { bytesWritten } = await file.write(rest);
      rest = rest.subarray(bytesWritten);
    }
    progress(bytes);
    unflushed += bytes;
    if (unflushed >= FLUSH_BYTES) {
      unflushed = 0;
      await flushing;
      flushing = file.datasync();
      flushing.catch(() => undefined);
    }
  }

  function start(): Promise<void> {
    const before = writing;
    const [chunks, bytes] = [batch, batchBytes];
    [batch, batchBytes] = [[], 0];
    writing = before.then(() => write(chunks, bytes));
    writing.catch(() => undefined);
    // One batch is written while the next is read and hashed.
    return before;
  }

  return {
    add(chunk: Uint8Array): Promise<void> | undefined {
      batch.push(chunk);
      batchBytes += chunk.length;
      return batchBytes >= BATCH_BYTES ? start() : undefined;
    },
    async settle(): Promise<void> {
      if (batchBytes > 0) {
        start();
      }
      await writing;
      await flushing;
    },
  };
}
