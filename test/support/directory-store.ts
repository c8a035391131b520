import {
  type FilesystemStoreDeps,
  openFilesystemStore,
} from '../../src/object-store/filesystem.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';

/** Opens a directory store for tests that need no links: presigning fails. */
export function openDirectoryStore(
  directory: string,
  options: Pick<FilesystemStoreDeps, 'operations'> = {},
): Promise<ObjectStore> {
  const signUrl = () => {
    throw new Error('This store makes no links.');
  };
  return openFilesystemStore({ directory, signUrl, ...options });
}
