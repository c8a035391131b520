import { ITEMS_PER_STEP, type Steps } from '../steps.ts';

/**
 * Parses as JSON.parse does, in steps: megabytes at once would delay every request.
 *
 * For text without white space between its tokens, as canonical JSON (RFC 8785) is. It refuses white space
 * in some places.
 *
 * @param converters by the name of a field: convert each item of a list with this name as soon as it is parsed, so
 *   that the parsed items of a long list are not all in memory at once
 * @throws SyntaxError for all text that JSON.parse refuses; what a converter throws
 */
export function* parseJsonInSteps(
  text: string,
  converters: ItemConverters = NO_CONVERTERS,
): Steps<unknown> {
  const [value, end] = yield* parseValue(text, 0, converters, keepItem);
  if (end !== text.length) throw unexpected(text, end);
  return value;
}

type ItemConverter = (item: unknown) => unknown;
/** See {@link parseJsonInSteps}. */
export type ItemConverters = ReadonlyMap<string, ItemConverter>;

const NO_CONVERTERS: ItemConverters = new Map();
const keepItem: ItemConverter = (item) => item;

/** A value, and the position after it. */
type Parsed = readonly [value: unknown, end: number];

function* parseValue(
  text: string,
  start: number,
  converters: ItemConverters,
  convert: ItemConverter,
): Steps<Parsed> {
  if (text[start] === '{') return yield* parseObject(text, start, converters);
  if (text[start] === '[') return yield* parseArray(text, start, convert);
  return parseWhole(text, start);
}

function* parseObject(text: string, start: number, converters: ItemConverters): Steps<Parsed> {
  if (text[start + 1] === '}') return [{}, start + 2];
  const entries: [string, unknown][] = [];
  let at = start;
  do {
    if (text[at + 1] !== '"') throw unexpected(text, at + 1);
    const nameEnd = endOfString(text, at + 1);
    const name = String(JSON.parse(text.slice(at + 1, nameEnd)));
    if (text[nameEnd] !== ':') throw unexpected(text, nameEnd);
    const convert = converters.get(name) ?? keepItem;
    const [value, end] = yield* parseValue(text, nameEnd + 1, converters, convert);
    entries.push([name, value]);
    at = end;
  } while (text[at] === ',');
  if (text[at] !== '}') throw unexpected(text, at);
  // As with JSON.parse, the last of two equal names counts, and `__proto__` is an ordinary name.
  return [Object.fromEntries(entries), at + 1];
}

/** Parses each item in one step: items are small, and only their number is large. */
function* parseArray(text: string, start: number, convert: ItemConverter): Steps<Parsed> {
  if (text[start + 1] === ']') return [[], start + 2];
  const items: unknown[] = [];
  let at = start;
  do {
    const [item, end] = parseWhole(text, at + 1);
    items.push(convert(item));
    at = end;
    if (items.length % ITEMS_PER_STEP === 0) yield;
  } while (text[at] === ',');
  if (text[at] !== ']') throw unexpected(text, at);
  return [items, at + 1];
}

function parseWhole(text: string, start: number): Parsed {
  const end = endOfValue(text, start);
  return [JSON.parse(text.slice(start, end)), end];
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: readonly [number, number] = [0x5b, 0x7b];
const CLOSING: readonly [number, number] = [0x5d, 0x7d];

/** The position of the comma or bracket after the value, or of the end of the text. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPENING[0] || code === OPENING[1]) depth++;
    else if (code === CLOSING[0] || code === CLOSING[1]) {
      if (depth === 0) return at;
      depth--;
    } else if (code === COMMA && depth === 0) return at;
  }
  return text.length;
}

/** The position after the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

function unexpected(text: string, at: number): SyntaxError {
  return new SyntaxError(`Unexpected ${JSON.stringify(text[at] ?? 'end')} at position ${at}`);
}
