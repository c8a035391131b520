import { lstat } from 'node:fs/promises';
import { readPlainFile } from '../../core/plain-file.ts';
import { refusal } from '../refusal.ts';
import { beside, type SourceFile } from '../source-file.ts';
import { type AppcastItem, fileNameOf } from './appcast.ts';

/** The notes that an appcast has for a version. */

/** The same limit as for a file of `--notes-file`: every client downloads the notes. */
const NOTES_BYTES_MAX = 64 * 1024;

/**
 * The notes of a version: the text in the appcast, else the text of a notes file that the appcast links and that is
 * beside the appcast. `generate_appcast` writes such links.
 *
 * @throws AppError `invalid_artifact` for notes in the appcast that are too long
 */
export async function readAppcastNotes(
  source: SourceFile,
  own: readonly AppcastItem[],
): Promise<string | undefined> {
  const embedded = own.find(({ description }) => description !== undefined)?.description;
  if (embedded !== undefined) return checkedNotes(source.path, 'description', embedded);
  const name = own.map(linkedName).find((each) => each !== undefined);
  if (name === undefined || !source.siblings.includes(name)) return undefined;
  const path = beside(source, name);
  if (!(await lstat(path)).isFile()) return undefined;
  return (await readPlainFile(path, NOTES_BYTES_MAX))?.toString().trim() || undefined;
}

/** The name of the notes file that an item links; undefined when clients cannot show such a file. */
function linkedName({ releaseNotesLink }: AppcastItem): string | undefined {
  const name = fileNameOf(releaseNotesLink ?? '');
  return /\.(html?|md|markdown|txt)$/i.test(name) ? name : undefined;
}

function checkedNotes(path: string, name: string, notes: string): string {
  const bytes = Buffer.byteLength(notes);
  if (bytes <= NOTES_BYTES_MAX) return notes;
  throw refusal(
    path,
    `its ${name} has ${bytes} bytes; at most ${NOTES_BYTES_MAX} are allowed, because every client downloads it. Shorten it, and write the appcast again.`,
  );
}
