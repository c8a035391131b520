import { createHash, type Hash } from 'node:crypto';
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BuiltFile, ByteReader } from '../../builds/build-output.ts';
import { AppError, systemCode } from '../../core/errors.ts';
import { openPlainFile } from '../../core/plain-file.ts';
import type { DigestAlgorithm } from '../../domain/release.ts';
import { SIGNED_HASH } from '../../domain/signature.ts';

/** Large enough that hashing takes longer than reading. */
const CHUNK_BYTES = 1024 * 1024;
/** For smaller files, the start of a thread takes longer than the time that the thread saves. */
const WORKER_BYTES_MIN = 64 * 1024 * 1024;

/** The digests in hex. */
interface FileDigests {
  readonly sha256: string;
  readonly sha512: string;
  /** Present when the caller asked for them. */
  readonly sha1?: string;
  readonly blake2b512?: string;
  /** True when the file differs from a statement, and the publisher accepts that. */
  readonly isRehashed: boolean;
}

/** Clients of some formats compare SHA-1, and some signatures are over BLAKE2b. */
export type FurtherAlgorithm = 'sha1' | typeof SIGNED_HASH;
type Algorithm = DigestAlgorithm | FurtherAlgorithm;

/** They get the same bytes. */
interface FileReaders {
  /** Compares or makes a block map. */
  readonly mapped?: ByteReader | undefined;
  /** Checks a code signature. */
  readonly check?: ByteReader | undefined;
}

/**
 * Hashes a built file, and compares it with the digests that feeds state.
 *
 * @param further the algorithms beside SHA-256 and SHA-512
 * @throws AppError `invalid_artifact` when a feed states another digest, the file changed meanwhile, or it cannot be
 *   read
 */
export async function hashFile(
  file: BuiltFile,
  onProgress: (bytesDone: number) => void,
  further: readonly FurtherAlgorithm[] = [],
  { mapped, check }: FileReaders = {},
): Promise<FileDigests> {
  const algorithms = new Set<Algorithm>(['sha256', 'sha512', ...further]);
  for (const { algorithm } of file.stated) algorithms.add(algorithm);
  // Reads a large file with two threads. A block map takes longer than the two digests that are always needed.
  const isLarge = file.size >= WORKER_BYTES_MIN;
  const inWorker: readonly Algorithm[] = mapped === undefined ? ['sha256'] : ['sha256', 'sha512'];
  const apart = isLarge ? hashInWorker(file, inWorker) : undefined;
  const hashes = new Map<Algorithm, Hash>();
  for (const algorithm of algorithms) {
    if (!isLarge || !inWorker.includes(algorithm)) hashes.set(algorithm, createHash(algorithm));
  }
  const size = await readThrough(file, (chunk, bytesDone) => {
    for (const hash of hashes.values()) hash.update(chunk);
    mapped?.update(chunk);
    check?.update(chunk);
    onProgress(bytesDone);
  }).catch(async (error: unknown) => {
    await apart?.stop();
    throw unreadable(file, error);
  });
  if (size !== file.size) {
    await apart?.stop();
    throw new AppError(
      'invalid_artifact',
      `${file.path} changed while it was read (${file.size} bytes, then ${size}). Publish once the build has finished.`,
    );
  }
  const digests = new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest('hex')]));
  for (const [algorithm, digest] of (await apart?.digests) ?? []) digests.set(algorithm, digest);
  const differing = file.stated.filter(
    ({ algorithm, hex }) => digests.get(algorithm) !== hex.toLowerCase(),
  );
  const refused = differing.find(({ isAccepted }) => !isAccepted);
  if (refused !== undefined) {
    const { algorithm, hex, statedIn, isSigned } = refused;
    const actual = digests.get(algorithm);
    const differs = `${file.path} is not the file that ${statedIn} describes: its ${algorithm} is ${actual}, and ${statedIn} states ${hex}.`;
    const otherwise = isSigned
      ? `sign ${statedIn} again for the present files`
      : `add --rehash ${JSON.stringify(basename(file.path))} to publish its present bytes`;
    throw new AppError('invalid_artifact', `${differs} Build again, or ${otherwise}.`, {
      importDetail: `${differs} Copy it again from the other server.`,
    });
  }
  const sha1 = digests.get('sha1');
  const blake2b512 = digests.get(SIGNED_HASH);
  return {
    sha256: digests.get('sha256') ?? '',
    sha512: digests.get('sha512') ?? '',
    ...(sha1 === undefined ? {} : { sha1 }),
    ...(blake2b512 === undefined ? {} : { blake2b512 }),
    isRehashed: differing.length > 0,
  };
}

/** Translates system errors; any other error is a bug. */
function unreadable({ path }: BuiltFile, error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined) return error;
  const why = `${path} cannot be read (${code}). Give this user access, or`;
  return new AppError('invalid_artifact', `${why} build again.`, {
    cause: error,
    importDetail: `${why} copy it again from the other server.`,
  });
}

/** The worker is CommonJS, because a worker that is given as text cannot be a module. */
const WORKER = `
const { createHash } = require('node:crypto');
const { closeSync, openSync, readSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const { algorithms, chunkBytes, path, size } = workerData;
const hashes = algorithms.map((algorithm) => createHash(algorithm));
const file = openSync(path, 'r');
const buffer = Buffer.allocUnsafeSlow(chunkBytes);
for (let bytes, left = size; left >= 0 && (bytes = readSync(file, buffer)) > 0; left -= bytes) {
  for (const hash of hashes) hash.update(buffer.subarray(0, bytes));
}
closeSync(file);
parentPort.postMessage(hashes.map((hash, index) => [algorithms[index], hash.digest('hex')]));
`;

/** Hashes a whole file on another thread. */
function hashInWorker({ path, size }: BuiltFile, algorithms: readonly Algorithm[]) {
  const workerData = { algorithms, chunkBytes: CHUNK_BYTES, path, size };
  const worker = new Worker(WORKER, { eval: true, execArgv: [], workerData });
  const digests = new Promise<readonly (readonly [Algorithm, string])[]>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  // The caller awaits the digests later. Until then, a failure must not count as an unhandled rejection.
  digests.catch(() => undefined);
  return { digests, stop: () => worker.terminate() };
}

/**
 * Reads a file through one buffer, because a stream would allocate a buffer for every chunk. Stops when the file has
 * grown, because another process may write to it without an end.
 */
async function readThrough(
  { path, size: expected }: BuiltFile,
  use: (chunk: Uint8Array, bytesDone: number) => void,
): Promise<number> {
  const handle = await openPlainFile(path);
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, expected + 1));
    for (let size = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, size);
      if (bytesRead === 0) return size;
      size += bytesRead;
      use(buffer.subarray(0, bytesRead), size);
      if (size > expected) return size;
    }
  } finally {
    await handle.close();
  }
}
