import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { BuiltFile } from '../build-output/build-output.ts';
import type { DigestAlgorithm } from '../domain/release.ts';
import { AppError } from '../errors.ts';

/** Large enough that hashing, not reading, is what takes the time. */
const CHUNK_BYTES = 1024 * 1024;

/** Hex. */
export interface FileDigests {
  readonly sha256: string;
  readonly sha512: string;
}

/**
 * Hashes a built file once, and holds what its sidecars state against its bytes.
 *
 * @throws AppError `invalid_artifact` when a sidecar states another digest, or the file changed meanwhile
 */
export async function hashFile(
  file: BuiltFile,
  onProgress: (bytesDone: number) => void,
): Promise<FileDigests> {
  const algorithms = new Set<DigestAlgorithm>(['sha256', 'sha512']);
  for (const { algorithm } of file.stated) algorithms.add(algorithm);
  const hashes = new Map<DigestAlgorithm, Hash>(
    [...algorithms].map((algorithm) => [algorithm, createHash(algorithm)]),
  );
  const size = await readThrough(file.path, (chunk, bytesDone) => {
    for (const hash of hashes.values()) hash.update(chunk);
    onProgress(bytesDone);
  });
  if (size !== file.size) {
    throw new AppError(
      'invalid_artifact',
      `${file.path} changed while it was read (${file.size} bytes, then ${size}). Publish once the build has finished.`,
    );
  }
  const digests = new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest('hex')]));
  for (const { algorithm, hex, statedIn } of file.stated) {
    const actual = digests.get(algorithm);
    if (actual === hex.toLowerCase()) continue;
    throw new AppError(
      'invalid_artifact',
      `${file.path} is not the file that ${statedIn} describes: its ${algorithm} is ${actual}, stated is ${hex}. It was changed after the build wrote ${statedIn}; build again, or publish it without that file.`,
    );
  }
  return { sha256: digests.get('sha256') ?? '', sha512: digests.get('sha512') ?? '' };
}

/** Reads a file to its end through one buffer: a stream would leave every chunk for the collector. */
async function readThrough(
  path: string,
  use: (chunk: Uint8Array, bytesDone: number) => void,
): Promise<number> {
  const handle = await open(path);
  try {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let size = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, size);
      if (bytesRead === 0) return size;
      size += bytesRead;
      use(buffer.subarray(0, bytesRead), size);
    }
  } finally {
    await handle.close();
  }
}
