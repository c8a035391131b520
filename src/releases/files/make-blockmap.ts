import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ByteReader } from '../../builds/build-output.ts';
import {
  BLOCK_BYTES_MAX,
  BLOCK_CHECKSUM_BITS,
  type Blockmap,
  endOfBlock,
  renderBlockmap,
} from '../../domain/blockmap.ts';

/** Makes and checks block maps while a file is read for its hashes. */

/**
 * Makes the block map of the bytes.
 *
 * @param cuts where blocks have to end, ascending, in bytes
 */
export async function createBlockCutter(
  cuts: readonly number[] = [],
): Promise<ByteReader<Blockmap>> {
  const checksum = await createChecksum();
  const sizes: number[] = [];
  const checksums: string[] = [];
  let buffer = Buffer.alloc(0);
  /** The bytes at the beginning of the buffer that are in no block yet. */
  let held = 0;
  /** The bytes before the buffer. */
  let position = 0;
  let next = 0;
  /** @param needed the bytes that must be known from the beginning of a block */
  const cut = (needed: number): void => {
    const bytes = buffer.subarray(0, held);
    let start = 0;
    for (;;) {
      while ((cuts[next] ?? Number.POSITIVE_INFINITY) <= position + start) next++;
      const cutAt = (cuts[next] ?? Number.POSITIVE_INFINITY) - position;
      const isReached = cutAt <= held;
      if (!isReached && held - start < needed) break;
      const end = endOfBlock(isReached ? bytes.subarray(0, cutAt) : bytes, start);
      sizes.push(end - start);
      checksum.add(bytes.subarray(start, end));
      checksums.push(checksum.take());
      start = end;
    }
    buffer.copyWithin(0, start, held);
    held -= start;
    position += start;
  };
  return {
    update: (chunk) => {
      if (buffer.length < held + chunk.length) {
        const larger = Buffer.allocUnsafeSlow(BLOCK_BYTES_MAX + chunk.length);
        larger.set(buffer.subarray(0, held));
        buffer = larger;
      }
      buffer.set(chunk, held);
      held += chunk.length;
      cut(BLOCK_BYTES_MAX);
    },
    finish: () => {
      cut(1);
      return { sizes, checksums };
    },
  };
}

/** Compares the bytes with a block map. The result is true when every block fits; further bytes do not count. */
export async function createBlockCheck(stated: Blockmap): Promise<ByteReader<boolean>> {
  const { sizes, checksums } = stated;
  const checksum = await createChecksum();
  let block = 0;
  let missing = sizes[0] ?? 0;
  let fits = true;
  return {
    update: (chunk) => {
      for (let at = 0; at < chunk.length && block < sizes.length && fits; ) {
        const part = chunk.subarray(at, at + missing);
        checksum.add(part);
        at += part.length;
        missing -= part.length;
        if (missing > 0) continue;
        fits = checksum.take() === checksums[block];
        block++;
        missing = sizes[block] ?? 0;
      }
    },
    finish: () => fits && block === sizes.length,
  };
}

/** A block map as it is published beside its file. */
export function packBlockmap(blockmap: Blockmap): Promise<Uint8Array> {
  return promisify(gzip)(renderBlockmap(blockmap), { level: 9 });
}

/** Loads the library only for files with a block map, because it contains many algorithms. */
async function createChecksum() {
  const { createBLAKE2b } = await import('hash-wasm');
  const hash = (await createBLAKE2b(BLOCK_CHECKSUM_BITS)).init();
  return {
    add: (bytes: Uint8Array): void => {
      hash.update(bytes);
    },
    /** The checksum of the bytes that were added since the last call. */
    take: (): string => {
      const digest = Buffer.from(hash.digest('binary')).toString('base64');
      hash.init();
      return digest;
    },
  };
}
