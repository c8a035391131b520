import { open } from 'node:fs/promises';
import type { UploadSource } from './object-store.ts';

/** A file as an upload source; the caller has measured its size (bytes) and SHA-256 (hex) before. */
export function createFileSource(file: {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}): UploadSource {
  return {
    size: file.size,
    sha256: file.sha256,
    open: async () => {
      const handle = await open(file.path);
      return {
        read: async (target, position) =>
          (await handle.read(target, 0, target.length, position)).bytesRead,
        close: () => handle.close(),
      };
    },
  };
}
