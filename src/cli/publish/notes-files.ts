import { AppError, isAppError } from '../../core/errors.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import { findLocale, type ReleaseNotes } from '../../domain/release.ts';

/** The files with release notes that a publisher names. */

/** The limit for the notes of one locale. The limit for a whole manifest is 1 MiB. */
const NOTES_BYTES_MAX = 64 * 1024;

/**
 * Reads files that the publisher names in the form `notes.md`, or `de=notes.de.md` for one locale.
 *
 * @param option the option that names the files, for errors
 * @throws AppError `invalid_request`
 */
export async function readNotesFiles(
  files: readonly string[],
  option: string,
): Promise<ReleaseNotes> {
  const notes: Record<string, string> = {};
  for (const argument of files) {
    const match = /^([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)=(.+)$/s.exec(argument);
    if (match === null) refuseUnderscore(argument, option);
    const [locale, file] = match ? [match[1] ?? 'und', match[2] ?? ''] : ['und', argument];
    if (findLocale(Object.keys(notes), locale) !== undefined) {
      const what = locale === 'und' ? 'without a locale' : `for ${locale}`;
      throw new AppError('invalid_request', `${option} ${what} is given twice; give it once.`);
    }
    notes[locale] = await readText(file);
  }
  return notes;
}

/**
 * @throws AppError `invalid_request` for `de_DE=notes.md`, which the command would otherwise read as the name of a file
 */
function refuseUnderscore(argument: string, option: string): void {
  const [, locale, file] = /^([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})+)=(.+)$/s.exec(argument) ?? [];
  if (locale === undefined) return;
  const right = locale.replaceAll('_', '-');
  const why = `${option} ${argument}: write the locale with a hyphen, ${right}=${file}.`;
  throw new AppError('invalid_request', why);
}

async function readText(file: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new AppError('invalid_request', `The notes file ${file} ${why}.`, { cause });
  let bytes: Buffer | undefined;
  try {
    bytes = await readPlainFile(file, NOTES_BYTES_MAX);
  } catch (error) {
    if (isAppError(error)) throw error;
    throw refuse('cannot be read', error);
  }
  if (bytes === undefined) {
    throw refuse(
      `has more than ${NOTES_BYTES_MAX} bytes. Shorten it: every client downloads the notes`,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse('is not UTF-8 text', error);
  }
}
