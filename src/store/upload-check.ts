import { createHash } from 'node:crypto';
import { AppError } from '../core/errors.ts';
import type { UploadSource } from './object-store.ts';

/** Checks the size and SHA-256 of a source while its bytes are sent. */
interface UploadCheck {
  update(chunk: Uint8Array): void;
  /** Throws `upload_mismatch` unless exactly the expected bytes were sent. */
  verify(): void;
}

export function createUploadCheck(key: string, source: UploadSource): UploadCheck {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    update(chunk) {
      bytes += chunk.length;
      // This check also stops a source that never ends.
      if (bytes > source.size) {
        throw mismatch(key, `it has more than the expected ${source.size} bytes`);
      }
      hash.update(chunk);
    },
    verify() {
      if (bytes !== source.size) {
        throw mismatch(key, `it has ${bytes} bytes instead of ${source.size}`);
      }
      const actual = hash.digest('hex');
      if (actual !== source.sha256.toLowerCase()) {
        throw mismatch(key, `its SHA-256 is ${actual} instead of ${source.sha256}`);
      }
    },
  };
}

/** Limits calls of `report` to about 200, and always reports the last byte. */
export function createProgress(
  size: number,
  report: ((bytesDone: number) => void) | undefined,
): (bytes: number) => void {
  const step = Math.max(1024 * 1024, size / 200);
  let done = 0;
  let reported = 0;
  return (bytes) => {
    done += bytes;
    if (report !== undefined && (done - reported >= step || done === size) && done > reported) {
      reported = done;
      report(done);
    }
  };
}

function mismatch(key: string, reason: string): AppError {
  return new AppError(
    'upload_mismatch',
    `The file for ${key} changed or was read wrongly while it was uploaded: ${reason}. Nothing was stored.`,
  );
}
