import { join } from 'node:path';
import { TEMPORARY_PREFIX } from '../key.ts';

/**
 * File names for keys. Every volume with hard links keeps these names distinct, even a volume that folds case or
 * composes accents (macOS, Windows), or that refuses the names that Windows reserves.
 *
 * - Lower-case letters, digits, `.`, `_` and `-` are not escaped.
 * - `!` and a letter is that letter in upper case, as in Go's module cache: `2.0.0-RC.1` is `2.0.0-!r!c.1`.
 * - `%` and two hex digits are one byte of UTF-8. This form is for all other characters, for a dot at the end, and for
 *   the first character of a reserved name: `con.txt` is `%63on.txt`.
 * - A name longer than {@link PART_LENGTH_MAX} is split into directories and a file: every part but the last ends in an
 *   additional `%`. The length is measured before reserved names and final dots are escaped.
 */

/** File systems allow 255 characters in a name at most; eCryptfs allows 143. */
const PART_LENGTH_MAX = 128;
const CONTINUED = '%';

/**
 * Device names of Windows, with any extension; and the prefix of unfinished files, with which a later part of a split
 * name could begin.
 */
const RESERVED = new RegExp(
  `^(?:(?:con|prn|aux|nul|com\\d|lpt\\d)(?:\\.|$)|${TEMPORARY_PREFIX.replace('.', '\\.')})`,
);

const PLAIN = new RegExp(`^[a-z0-9._-]{0,${PART_LENGTH_MAX - 1}}[a-z0-9_-]$`);

/** True when the file has the name of the segment, without escapes or splits. Most names are so. */
export function isPlain(name: string): boolean {
  return PLAIN.test(name) && !RESERVED.test(name);
}

/** The path of the key's file below `root`. */
export function pathOf(root: string, key: string): string {
  return join(root, ...key.split('/').flatMap(partsOf));
}

/** The part of a segment in one directory entry: its text, and whether the segment continues in the directory. */
interface NamePart {
  readonly text: string;
  readonly isContinued: boolean;
}

/**
 * Parses a file name. For a name that {@link partsOf} did not make, the result may be any text: the caller checks it.
 */
export function parsePart(name: string): NamePart {
  const isContinued = name.endsWith(CONTINUED);
  const escaped = isContinued ? name.slice(0, -1) : name;
  const bytes = escaped.replace(/!([a-z])|%([0-9a-f]{2})/g, (_all, upper, hex) =>
    upper === undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : upper.toUpperCase(),
  );
  return { text: Buffer.from(bytes, 'latin1').toString(), isContinued };
}

/** The file name of a segment. For a long segment, the names of the directories and then the file name. */
export function partsOf(segment: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (const character of segment) {
    const escaped = /[a-z0-9._-]/.test(character) ? character : escapeCharacter(character);
    if (part.length + escaped.length > PART_LENGTH_MAX) {
      parts.push(`${escapeReserved(part)}${CONTINUED}`);
      part = '';
    }
    part += escaped;
  }
  // Windows removes a dot at the end of a name.
  return [...parts, escapeReserved(part.replace(/\.$/, '%2e'))];
}

function escapeReserved(part: string): string {
  return RESERVED.test(part) ? `${escapeBytes(part.slice(0, 1))}${part.slice(1)}` : part;
}

function escapeCharacter(character: string): string {
  return /[A-Z]/.test(character) ? `!${character.toLowerCase()}` : escapeBytes(character);
}

function escapeBytes(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '%$&');
}
