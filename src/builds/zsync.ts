import { readPlainFile } from '../core/plain-file.ts';
import { ZSYNC } from '../domain/companion.ts';
import { parseZsync, ZSYNC_BYTES_MAX } from '../domain/zsync.ts';
import type { SkippedFile } from './build-output.ts';
import { checkFilename } from './filename.ts';
import { brokenFile } from './refusal.ts';
import type { SourceFile } from './source-file.ts';
import type { Unfinished } from './unfinished.ts';

/**
 * Adds `FILE.AppImage.zsync`, as appimagetool writes it, to its AppImage. Publishing compares the SHA-1 in
 * the zsync file with the AppImage.
 *
 * @param isRehashed true when the publisher accepts the present bytes of the AppImage
 * @returns why the zsync file was not used; undefined when it was used
 * @throws AppError `invalid_artifact` for a zsync file of other bytes: clients would download the whole AppImage, and
 *   then refuse it
 */
export async function attachZsync(
  unfinished: Unfinished,
  sidecar: SourceFile,
  isRehashed: boolean,
): Promise<SkippedFile | undefined> {
  const { path, size } = sidecar;
  const { file, filename, format } = unfinished.package;
  if (format !== 'appimage') return { path, reason: 'zsync files are served for AppImages only' };
  if (isRehashed) {
    return { path, reason: `publish makes its own, because of --rehash ${file.name}` };
  }
  const bytes = await readPlainFile(path, ZSYNC_BYTES_MAX);
  if (bytes === undefined) {
    return { path, reason: `it has ${size} bytes, and at most ${ZSYNC_BYTES_MAX} can be served` };
  }
  const zsync = parseZsync(bytes);
  if (typeof zsync === 'string') {
    return { path, reason: `it cannot be served, and publish makes its own: ${zsync}` };
  }
  if (zsync.length !== file.size) {
    throw brokenFile(
      path,
      `it is from another build: it describes ${zsync.length} bytes, and ${file.name} has ${file.size}`,
      'remove it',
    );
  }
  unfinished.stated.push({ algorithm: 'sha1', hex: zsync.sha1, statedIn: path });
  unfinished.companions.push({
    kind: ZSYNC,
    path,
    filename: checkFilename(path, `${filename}.zsync`),
    size,
    stated: [],
    facts: {},
  });
  return undefined;
}
