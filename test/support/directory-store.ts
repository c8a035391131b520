import {
  type FilesystemStoreDeps,
  openFilesystemStore,
} from '../../src/store/filesystem/filesystem.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';

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
