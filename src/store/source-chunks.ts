import type { UploadSource } from './object-store.ts';

/**
 * Reads a source from start to end in chunks that fill their buffers; the last chunk may be shorter.
 *
 * @param take returns a free buffer for the next chunk
 */
export async function* readChunks(
  source: UploadSource,
  take: () => Uint8Array | Promise<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const reader = await source.open();
  try {
    for (let position = 0; ; ) {
      signal?.throwIfAborted();
      const buffer = await take();
      let filled = 0;
      while (filled < buffer.length) {
        const bytes = await reader.read(buffer.subarray(filled), position + filled);
        if (bytes === 0) break;
        filled += bytes;
      }
      if (filled > 0) yield buffer.subarray(0, filled);
      if (filled < buffer.length) return;
      position += filled;
    }
  } finally {
    await reader.close();
  }
}
