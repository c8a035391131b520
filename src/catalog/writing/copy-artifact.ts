import { createHash } from 'node:crypto';
import { isAppError } from '../../core/errors.ts';
import { createBytesSource } from '../../store/file-source.ts';
import type { ObjectReader, ObjectStore, UploadSource } from '../../store/object-store.ts';
import { isPresent } from '../../store/presence.ts';

/** Copies an artifact from one store to another. */

/**
 * Up to this size, one request reads an artifact into memory. The copy reads larger artifacts in pieces of this size.
 */
const PIECE_BYTES = 8 * 1024 * 1024;
/**
 * Up to this size, the copy writes an artifact with one plain request. Such a request needs no HEAD before it, and its
 * time-out is long enough even on a slow line.
 */
const SMALL_BYTES = 256 * 1024;

/** A stored artifact. */
interface StoredArtifact {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Hex, from the artifact's key. */
  readonly sha256: string;
}

/**
 * `gone`: the source no longer has the artifact. `corrupt`: two reads returned bytes that do not match the hash in the
 * key, and nothing was stored. `exists`: the target had an object under the key.
 */
type CopyOutcome = 'created' | 'exists' | 'gone' | 'corrupt';

/**
 * Copies an artifact, and hashes the bytes before the target stores them. It never stores bytes that do not match the
 * hash in the key.
 *
 * @param onProgress called with the number of bytes that the target has taken so far
 * @throws AppError `store_unavailable`, `store_denied`, `store_full`
 */
export async function copyArtifact(
  from: ObjectStore,
  to: ObjectStore,
  stored: StoredArtifact,
  onProgress: (bytesDone: number) => void,
): Promise<CopyOutcome> {
  const copy = stored.size <= PIECE_BYTES ? copyWhole : copyInPieces;
  const first = await copy(from, to, stored, onProgress, false);
  // One wrong answer does not make a file corrupt: the second read uses a new connection where that is possible.
  return first === 'corrupt' ? copy(from, to, stored, onProgress, true) : first;
}

async function copyWhole(
  from: ObjectStore,
  to: ObjectStore,
  { key, size, sha256 }: StoredArtifact,
  onProgress: (bytesDone: number) => void,
  fresh: boolean,
): Promise<CopyOutcome> {
  const object = await from.get(key, { fresh });
  if (object === undefined) return 'gone';
  const { body } = object;
  const isSound =
    body.length === size && createHash('sha256').update(body).digest('hex') === sha256;
  if (!isSound) return 'corrupt';
  if (size <= SMALL_BYTES) {
    const outcome = await to.create(key, body);
    onProgress(size);
    return outcome;
  }
  return to.upload(key, createBytesSource(body, sha256), { onProgress });
}

async function copyInPieces(
  from: ObjectStore,
  to: ObjectStore,
  { key, size, sha256 }: StoredArtifact,
  onProgress: (bytesDone: number) => void,
): Promise<CopyOutcome> {
  const reader = await from.open(key);
  if (reader === undefined) return 'gone';
  try {
    if (reader.info.size !== size) return 'corrupt';
    return await to.upload(key, createPieces(reader, sha256), { onProgress });
  } catch (error) {
    if (isAppError(error, 'upload_mismatch')) return 'corrupt';
    // A clean-up of the source may have deleted the artifact meanwhile.
    if (isAppError(error, 'store_unavailable') && !(await isPresent(from, key))) return 'gone';
    throw error;
  } finally {
    await reader.close();
  }
}

/** Reads whole pieces even when the target takes fewer bytes at a time, because each read of a bucket is a request. */
function createPieces(reader: ObjectReader, sha256: string): UploadSource {
  const { size } = reader.info;
  return {
    size,
    sha256,
    open: async () => {
      let piece: Uint8Array = new Uint8Array(0);
      let start = 0;
      return {
        read: async (target, position) => {
          const left = size - position;
          if (left <= 0) return 0;
          if (target.length >= PIECE_BYTES) {
            const part = target.subarray(0, Math.min(target.length, left));
            await reader.read(part, position);
            return part.length;
          }
          if (position < start || position >= start + piece.length) {
            piece = new Uint8Array(Math.min(PIECE_BYTES, left));
            start = position;
            await reader.read(piece, start);
          }
          const part = piece.subarray(position - start, position - start + target.length);
          target.set(part);
          return part.length;
        },
        close: async () => {},
      };
    },
  };
}
