import type { FileHandle } from 'node:fs/promises';
import type { UploadOptions, UploadSource } from './object-store.ts';
import { readChunks } from './source-chunks.ts';
import { createProgress, createUploadCheck } from './upload-check.ts';

const CHUNK_BYTES = 1024 * 1024;
/** How much may be waiting for the disk: spreads the cost of the last fsync over the copy. */
const FLUSH_BYTES = 64 * 1024 * 1024;

/** Copies the source into the file, hashing while the same chunk is written; see `ObjectStore.upload`. */
export async function copyToFile(
  file: FileHandle,
  key: string,
  source: UploadSource,
  options: UploadOptions,
): Promise<void> {
  const check = createUploadCheck(key, source);
  const progress = createProgress(source.size, options.onProgress);
  const buffers = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
  let writing: Promise<void> = Promise.resolve();
  let flushing: Promise<void> = Promise.resolve();
  let unflushed = 0;
  let turn = 0;
  // The buffer of two chunks ago: its write was waited for before the last one began.
  const take = (): Buffer => buffers[turn++ % 2] ?? Buffer.alloc(0);
  try {
    for await (const chunk of readChunks(source, take, options.signal)) {
      await writing;
      writing = writeWhole(file, chunk);
      writing.catch(() => undefined);
      check.update(chunk);
      progress(chunk.length);
      unflushed += chunk.length;
      if (unflushed >= FLUSH_BYTES) {
        unflushed = 0;
        await flushing;
        flushing = file.datasync();
        flushing.catch(() => undefined);
      }
    }
  } finally {
    // The file must not be closed under a write, also after a failure.
    await Promise.allSettled([writing, flushing]);
  }
  await writing;
  await flushing;
  check.verify();
}

async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let rest = chunk;
  while (rest.length > 0) {
    const { bytesWritten } = await file.write(rest);
    rest = rest.subarray(bytesWritten);
  }
}
