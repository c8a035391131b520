import type { FileHandle } from 'node:fs/promises';
import type { UploadOptions, UploadSource } from '../object-store.ts';
import { readChunks } from '../source-chunks.ts';
import { createProgress, createUploadCheck } from '../upload-check.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Flushes after this many bytes, so that the final fsync does not have to write the whole file. */
const FLUSH_BYTES = 64 * 1024 * 1024;

/** Copies the source into the file, and hashes each chunk while it is written; see `ObjectStore.upload`. */
export async function copyToFile(
  file: FileHandle,
  key: string,
  source: UploadSource,
  options: UploadOptions,
): Promise<void> {
  const check = createUploadCheck(key, source);
  const progress = createProgress(source.size, options.onProgress);
  // For a small source, the buffers have one byte more, so that the check notices a source that is too long.
  const bufferBytes = Math.min(CHUNK_BYTES, source.size + 1);
  const buffers = [Buffer.allocUnsafeSlow(bufferBytes), Buffer.allocUnsafeSlow(bufferBytes)];
  let writing: Promise<void> = Promise.resolve();
  let flushing: Promise<void> = Promise.resolve();
  let unflushed = 0;
  let turn = 0;
  // Returns the two buffers in turn. The write of the chunk before the last chunk has ended, so its buffer is free.
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
    // Waits even after a failure, because the caller then closes the file, and must not close it during a write.
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
