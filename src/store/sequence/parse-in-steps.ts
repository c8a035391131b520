import { isRecord } from '../../core/json-record.ts';
import type { Steps } from '../../core/steps.ts';
import type { LongList } from './json.ts';

/**
 * Like JSON.parse, in steps: it parses the long lists in parts, and the text without them. JSON.parse takes 50 ms for
 * the document of thousands of offers.
 *
 * @param lists from `findLongLists` for the same bytes
 * @throws SyntaxError, TypeError for the same bytes for which the decoder or JSON.parse throws
 */
export function* parseInSteps(bytes: Uint8Array, lists: readonly LongList[]): Steps<unknown> {
  const ends = [0, ...lists.map(({ end }) => end)];
  const starts = [...lists.map(({ start }) => start), bytes.length];
  const outside = starts.map((start, index) => bytes.subarray(ends[index], start));
  const value: unknown = JSON.parse(decode(Buffer.concat(outside)));
  for (const list of lists) {
    const items = yield* parseItems(bytes, list);
    const holder = findHolder(bytes, value, list);
    // The text has a field twice, so the value may have another list in this place.
    if (holder === undefined) return JSON.parse(decode(bytes));
    holder.object[holder.name] = items;
  }
  return value;
}

function* parseItems(bytes: Uint8Array, { start, end, commas }: LongList): Steps<unknown[]> {
  const items: unknown[] = [];
  const begins = [start, ...commas.map((comma) => comma + 1)];
  for (const [index, begin] of begins.entries()) {
    yield;
    const text = decode(bytes.subarray(begin, commas[index] ?? end));
    const part = JSON.parse(`[${text}]`) as unknown[];
    if (part.length === 0) throw new SyntaxError('A comma in a list has no item beside it.');
    for (const item of part) items.push(item);
  }
  return items;
}

/** @returns undefined when an object on the path has a field twice */
function findHolder(bytes: Uint8Array, value: unknown, { path }: LongList) {
  let holder: { object: Record<string, unknown>; name: string } | undefined;
  let object = value;
  for (const { name: position, fieldCount } of path) {
    if (!isRecord(object) || Object.keys(object).length !== fieldCount) return undefined;
    const name = nameFrom(bytes, position);
    holder = { object, name };
    object = object[name];
  }
  return holder;
}

/** The decoded field name whose opening quote has this position. */
function nameFrom(bytes: Uint8Array, position: number): string {
  let end = position + 1;
  while (bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return JSON.parse(decode(bytes.subarray(position, end + 1)));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Keeps a byte order mark, which JSON does not allow: a part of a text could begin with one. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}
