import { openPlainFile } from '../core/plain-file.ts';
import type { UploadSource } from './object-store.ts';

/** Makes a file an upload source. The caller provides the file's size (bytes) and SHA-256 (hex). */
export function createFileSource(file: {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}): UploadSource {
  return {
    size: file.size,
    sha256: file.sha256,
    open: async () => {
      const handle = await openPlainFile(file.path);
      return {
        read: async (target, position) =>
          (await handle.read(target, 0, target.length, position)).bytesRead,
        close: () => handle.close(),
      };
    },
  };
}

/** Makes bytes in memory an upload source. The caller provides their SHA-256 (hex). */
export function createBytesSource(bytes: Uint8Array, sha256: string): UploadSource {
  return {
    size: bytes.length,
    sha256,
    open: async () => ({
      read: async (target, position) => {
        const part = bytes.subarray(position, position + target.length);
        target.set(part);
        return part.length;
      },
      close: async () => {},
    }),
  };
}
