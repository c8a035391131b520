import { join } from 'node:path';
import { TEMPORARY_PREFIX } from './key.ts';

/**
 * File names for keys, which every volume with hard links keeps apart: also one that folds case or
 * composes accents (macOS, Windows), or that refuses the names Windows reserves.
 *
 * - Lower-case letters, digits, `.`, `_` and `-` stand for themselves.
 * - `!` and a letter is that letter in upper case, as in Go's module cache: `2.0.0-RC.1` is `2.0.0-!r!c.1`.
 * - `%` and two hex digits is a byte of UTF-8, for everything else, for a dot at the end, and for the
 *   first character of a name that is reserved: `con.txt` is `%63on.txt`.
 * - A name that would be longer than {@link PART_LENGTH_MAX}, before a reserved name or a dot at the end is
 *   escaped, continues in a directory: every part but the last ends in a `%` of its own.
 */

/** File systems hold 255 characters at most; eCryptfs 143. */
const PART_LENGTH_MAX = 128;
const CONTINUED = '%';

/** Device names of Windows, with any extension; and what unfinished files are called, for later parts. */
const RESERVED = new RegExp(
  `^(?:(?:con|prn|aux|nul|com\\d|lpt\\d)(?:\\.|$)|${TEMPORARY_PREFIX.replace('.', '\\.')})`,
);

/** The path of the key's file below `root`. */
export function pathOf(root: string, key: string): string {
  return join(root, ...key.split('/').flatMap(partsOf));
}

/** What one directory entry says of a segment: its text, and whether that goes on in the directory. */
export interface NamePart {
  readonly text: string;
  readonly isContinued: boolean;
}

/** Reads a file name. For a name that {@link partsOf} did not make, the text is arbitrary: compare. */
export function parsePart(name: string): NamePart {
  const isContinued = name.endsWith(CONTINUED);
  const escaped = isContinued ? name.slice(0, -1) : name;
  const bytes = escaped.replace(/!([a-z])|%([0-9a-f]{2})/g, (_all, upper, hex) =>
    upper === undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : upper.toUpperCase(),
  );
  return { text: Buffer.from(bytes, 'latin1').toString(), isContinued };
}

/** The file name of a segment, or the directories and the file name that it is too long for. */
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
  // Windows drops a dot at the end of a name.
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
