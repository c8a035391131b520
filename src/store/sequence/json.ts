import { runAtOnce, type Steps } from '../../core/steps.ts';

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
const LIST = 0x5b;

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

/** A long list of a document. The parts of the list can be parsed one after another. All positions are in bytes. */
export interface LongList {
  /** The position after the opening bracket. */
  readonly start: number;
  /** The position of the closing bracket. */
  readonly end: number;
  /** The positions of the commas between the parts. */
  readonly commas: readonly number[];
  /** The objects that contain the list, the outermost first, each with the field that leads to the list. */
  readonly path: readonly PathStep[];
}

interface PathStep {
  /** The position of the field name. */
  readonly name: number;
  /** The number of fields of the object. A repeated field counts each time. */
  readonly fieldCount: number;
}

const PART_BYTES = 64 * 1024;

/**
 * Refuses JSON above a limit, before it is parsed. Looks only at brackets, commas and quotes; JSON.parse checks later
 * whether the text is JSON at all.
 *
 * @throws LimitError
 */
export function refuseExcess(bytes: Uint8Array, isLong?: IsLong): void {
  runAtOnce(findLongLists(bytes, isLong));
}

/**
 * Like {@link refuseExcess}, in steps.
 *
 * @param partBytes the size of the parts of long lists
 * @returns the lists that are longer than a part. When the text is not JSON, the positions may be wrong, and
 *   `parseInSteps` throws
 */
export function* findLongLists(
  bytes: Uint8Array,
  isLong: IsLong = () => false,
  partBytes = PART_BYTES,
): Steps<readonly LongList[]> {
  const lists: (Omit<LongList, 'path'> & { readonly objects: readonly Open[] })[] = [];
  let list: { start: number; commas: number[]; depth: number } | undefined;
  let stepEnd = partBytes;
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
    if (at > stepEnd) {
      stepEnd = at + partBytes;
      yield;
    }
    if (kind === CLOSING) {
      if (list?.depth === outer.length) {
        const { start, commas } = list;
        // Skips the first entry of `outer`, which stands for the whole text.
        const objects = [...outer.slice(1), open];
        if (commas.length > 0) lists.push({ start, end: at, commas, objects });
        list = undefined;
      }
      open = outer.pop() ?? open;
      continue;
    }
    if (kind === OPENING) {
      outer.push(open);
      open = { name, itemCount: 1 };
      if (outer.length > DEPTH_MAX) {
        throw new LimitError(`is nested deeper than ${DEPTH_MAX} levels`);
      }
      if (list === undefined && character === LIST && isLong(nameAt(bytes, name))) {
        list = { start: at + 1, commas: [], depth: outer.length };
      }
    } else {
      open.itemCount++;
      if (list?.depth === outer.length && at - (list.commas.at(-1) ?? list.start) > partBytes) {
        list.commas.push(at);
      }
      if (open.itemCount === ITEMS_MAX + 1 && !isLong(nameAt(bytes, open.name))) {
        throw new LimitError(`has a list or an object of more than ${ITEMS_MAX} items`);
      }
    }
    name = undefined;
    valueCount++;
    if (valueCount > VALUES_MAX) throw new LimitError(`has more than ${VALUES_MAX} values`);
  }
  return lists.flatMap(({ objects, ...rest }) => {
    const path = objects.slice(1).map(({ name }, index) => {
      return name === undefined ? undefined : { name, fieldCount: objects[index]?.itemCount ?? 0 };
    });
    // A list inside another list stays whole.
    return path.includes(undefined) ? [] : [{ ...rest, path: path as PathStep[] }];
  });
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
