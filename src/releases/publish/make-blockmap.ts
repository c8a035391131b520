import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import {
  BLOCK_BYTES_MAX,
  BLOCK_CHECKSUM_BITS,
  type Blockmap,
  endOfBlock,
  renderBlockmap,
} from '../../domain/blockmap.ts';

/** Makes and checks block maps while a file is hashed. The checksums take a thread of their own. */

/** Gets the bytes of a file in order. It must not keep a chunk, because the next chunk overwrites it. */
export interface ByteReader {
  update(chunk: Uint8Array): void;
}

interface BlockCutter extends ByteReader {
  /** Called once after the last byte. @throws the system's error when the file cannot be read */
  finish(): Promise<Blockmap>;
  /** Ends the thread, also when the file could not be read to its end. */
  stop(): Promise<unknown>;
}

/** Makes the block map of the file at `path`, whose bytes the caller reads. */
export function createBlockCutter(path: string): BlockCutter {
  const worker = startChecksums(path);
  const sizes: number[] = [];
  let buffer = Buffer.alloc(0);
  /** The bytes at the beginning of the buffer that are in no block yet. */
  let held = 0;
  /** @param needed the bytes that must be known from the beginning of a block */
  const cut = (needed: number): void => {
    const bytes = buffer.subarray(0, held);
    const found: number[] = [];
    let start = 0;
    while (held - start >= needed) {
      const end = endOfBlock(bytes, start);
      found.push(end - start);
      start = end;
    }
    buffer.copyWithin(0, start, held);
    held -= start;
    sizes.push(...found);
    worker.add(found);
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
    finish: async () => {
      cut(1);
      return { sizes, checksums: await worker.finish() };
    },
    stop: worker.stop,
  };
}

/**
 * Compares a file with a block map; true when every block fits. Bytes after the last block do not count.
 *
 * @throws the system's error when the file cannot be read
 */
export async function fitsBlockmap(path: string, { sizes, checksums }: Blockmap): Promise<boolean> {
  const worker = startChecksums(path);
  try {
    worker.add(sizes);
    const actual = await worker.finish();
    return actual.every((checksum, block) => checksum === checksums[block]);
  } finally {
    await worker.stop();
  }
}

/** A block map as it is published beside its file. */
export function packBlockmap(blockmap: Blockmap): Promise<Uint8Array> {
  return promisify(gzip)(renderBlockmap(blockmap), { level: 9 });
}

/**
 * Uses hash-wasm, because Node has no BLAKE2b of this length. Reads a block in pieces, because the map of another tool
 * may have blocks of any size. The worker is CommonJS, because a worker that is given as text cannot be a module.
 */
const WORKER = `
const { closeSync, openSync, readSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const { bits, library, path, pieceBytes } = workerData;
const file = openSync(path, 'r');
const buffer = Buffer.allocUnsafeSlow(pieceBytes);
const checksums = [];
const hashing = require(library).createBLAKE2b(bits);
const add = (hash, size) => {
  hash.init();
  for (let left = size; left > 0; ) {
    const bytes = readSync(file, buffer, 0, Math.min(left, pieceBytes));
    if (bytes === 0) return '';
    hash.update(buffer.subarray(0, bytes));
    left -= bytes;
  }
  return Buffer.from(hash.digest('binary')).toString('base64');
};
let done = hashing;
parentPort.on('message', (sizes) => {
  done = done.then((hash) => {
    if (sizes !== null) for (const size of sizes) checksums.push(add(hash, size));
    else {
      closeSync(file);
      parentPort.postMessage(checksums);
    }
    return hash;
  });
});
`;

/** Computes the checksums of blocks on another thread. An empty checksum means that the file is too short. */
function startChecksums(path: string) {
  const workerData = {
    bits: BLOCK_CHECKSUM_BITS,
    library: createRequire(import.meta.url).resolve('hash-wasm/dist/blake2b.umd.min.js'),
    path,
    pieceBytes: BLOCK_BYTES_MAX,
  };
  const worker = new Worker(WORKER, { eval: true, execArgv: [], workerData });
  const result = new Promise<readonly string[]>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  // The caller awaits the result later. Until then, a failure must not count as an unhandled rejection.
  result.catch(() => undefined);
  return {
    add: (sizes: readonly number[]): void => worker.postMessage(sizes),
    finish: (): Promise<readonly string[]> => {
      worker.postMessage(null);
      return result;
    },
    stop: () => worker.terminate(),
  };
}
