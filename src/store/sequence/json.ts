/**
 * The limits of a stored document, in addition to the limit of its size. They bound the memory and the time that a
 * hostile document takes: JSON.parse needs 600 MB for 8 MB of brackets, and a schema reports every wrong item of a
 * list, however many there are.
 */

/** The deepest nesting that a document may have, in levels. The deepest kind of document has half as many levels. */
const DEPTH_MAX = 20;
/** The most values that a document may have. The largest catalog revision has 400,000. */
const VALUES_MAX = 1_000_000;
/** The most items that one list or object may have. */
const ITEMS_MAX = 4_096;

/**
 * The error for a document above a limit. Its message continues a sentence that begins with the name of the document.
 */
export class LimitError extends SyntaxError {}

/** Says whether the list or the object in the field with this name may have more than {@link ITEMS_MAX} items. */
export type IsLong = (name: string) => boolean;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = 1;
const CLOSING = 2;

/** The kind of each character; 0 for a character that does not matter. */
const KINDS = new Uint8Array(256);
KINDS[QUOTE] = QUOTE;
KINDS[COMMA] = COMMA;
for (const bracket of '[{') KINDS[bracket.charCodeAt(0)] = OPENING;
for (const bracket of ']}') KINDS[bracket.charCodeAt(0)] = CLOSING;

/** A list or an object that is open at the present position. */
interface Open {
  /** The position of the field name before the list or object; undefined for an item of a list. */
  readonly name: number | undefined;
  itemCount: number;
}

/**
 * Refuses JSON above a limit, before it is parsed. Looks only at brackets, commas and quotes; JSON.parse checks later
 * whether the text is JSON at all.
 *
 * @throws LimitError
 */
export function refuseExcess(bytes: Uint8Array, isLong: IsLong = () => false): void {
  const outer: Open[] = [];
  let open: Open = { name: undefined, itemCount: 1 };
  let name: number | undefined;
  let valueCount = 0;
  for (let at = 0; at < bytes.length; at++) {
    const character = bytes[at] ?? 0;
    // A document may be megabytes of white space, which JSON.parse skips in milliseconds.
    if (character <= SPACE) continue;
    const kind = KINDS[character];
    if (kind === 0) continue;
    if (kind === QUOTE) {
      name = at;
      at = endOfString(bytes, at);
      continue;
    }
    if (kind === CLOSING) {
      open = outer.pop() ?? open;
      continue;
    }
    if (kind === OPENING) {
      outer.push(open);
      open = { name, itemCount: 1 };
      if (outer.length > DEPTH_MAX) {
        throw new LimitError(`is nested deeper than ${DEPTH_MAX} levels`);
      }
    } else {
      open.itemCount++;
      if (open.itemCount === ITEMS_MAX + 1 && !isLong(nameAt(bytes, open.name))) {
        throw new LimitError(`has a list or an object of more than ${ITEMS_MAX} items`);
      }
    }
    name = undefined;
    valueCount++;
    if (valueCount > VALUES_MAX) throw new LimitError(`has more than ${VALUES_MAX} values`);
  }
}

/** The position of the closing quote, or of the end of the document. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

/** The name without its quotes. It needs no decoding: the names of long lists contain no escapes. */
function nameAt(bytes: Uint8Array, start: number | undefined): string {
  if (start === undefined) return '';
  return Buffer.from(bytes.subarray(start + 1, endOfString(bytes, start))).toString();
}
