import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { BuiltFile } from '../build-output/build-output.ts';
import type { DigestAlgorithm } from '../domain/release.ts';
import { AppError } from '../errors.ts';

/** Large enough that hashing, not reading, is what takes the time. */
const CHUNK_BYTES = 4 * 1024 * 1024;

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
  let size = 0;
  for await (const chunk of createReadStream(file.path, { highWaterMark: CHUNK_BYTES })) {
    for (const hash of hashes.values()) hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
    onProgress(size);
  }
  if (size !== file.size || (await stat(file.path)).size !== size) {
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
