import { artifactKey } from '../../catalog/keys.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectReader, ObjectStore } from '../../store/object-store.ts';

/**
 * Opens a file that a verified manifest names. The caller closes the reader.
 *
 * @param file `size`: bytes, as the manifest states
 * @throws AppError `unknown_file` when it was deleted from the store; `artifact_mismatch` when the stored file has
 *   another size; `store_unavailable`
 */
export async function openFile(
  store: Pick<ObjectStore, 'open'>,
  application: string,
  file: { readonly object: string; readonly filename: string; readonly size: number },
): Promise<ObjectReader> {
  const key = artifactKey(application, file.object);
  const reader = await store.open(key);
  if (reader === undefined) {
    throw new AppError('unknown_file', `${file.filename} was deleted from the store.`);
  }
  if (reader.info.size === file.size) return reader;
  await reader.close();
  throw new AppError(
    'artifact_mismatch',
    `${key} has ${reader.info.size} bytes, and its manifest states ${file.size}. Restore it from a backup, or yank the release.`,
  );
}
