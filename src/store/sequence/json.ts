import { ITEMS_PER_STEP, type Steps } from '../../core/steps.ts';

/**
 * Parses as JSON.parse does, in steps: megabytes at once would delay every request.
 *
 * The limits bound the memory and the time that a hostile document takes: JSON.parse needs 1.6 GB for 20 MB of `[`, and
 * a schema reports every wrong item of a list, however many there are.
 *
 * @throws SyntaxError for text that JSON.parse refuses; {@link LimitError} for text above a limit; errors of converters
 */
export function* parseJsonInSteps(
  text: string,
  { converters = NO_CONVERTERS, isLong = isNever }: ParseOptions = {},
): Steps<unknown> {
  const parse: Parse = { text, converters, isLong, valueCount: 0 };
  const [value, end] = yield* parseValue(parse, 0, 0, '', WHOLE_ITEM_MAX);
  if (skipSpace(text, end) !== text.length) throw unexpected(text, end);
  return value;
}

/** Refuses a text above a limit. The message continues a sentence that begins with the name of the document. */
export class LimitError extends SyntaxError {}

interface ParseOptions {
  /**
   * By the name of a field. Each item of a list in this field is converted as soon as it is parsed, so that the parsed
   * items of a long list are not all in memory at once.
   */
  readonly converters?: ItemConverters | undefined;
  /** Whether a field may have more than {@link ITEMS_MAX} items. A field with a converter may. */
  readonly isLong?: ((name: string) => boolean) | undefined;
}

type ItemConverter = (item: unknown) => unknown;
/** See {@link parseJsonInSteps}. */
export type ItemConverters = ReadonlyMap<string, ItemConverter>;

const NO_CONVERTERS: ItemConverters = new Map();
const isNever = (): boolean => false;

/** Twice the depth of the deepest document. */
const DEPTH_MAX = 20;
/** The largest catalog revision has about a million values. */
const VALUES_MAX = 2_000_000;
/** For one list or object. Documents that may have more items in a field name it: see {@link ParseOptions.isLong}. */
export const ITEMS_MAX = 4_096;
/** For a string or a number, in characters. No document may have longer notes. */
const SCALAR_MAX = 1024 * 1024;
/** In characters. A longer item of a list is itself parsed in steps. */
const WHOLE_ITEM_MAX = 16 * 1024;

interface Parse extends Required<ParseOptions> {
  readonly text: string;
  readonly converters: ItemConverters;
  readonly isLong: (name: string) => boolean;
  /** How many values were seen so far. */
  valueCount: number;
}

/** A value, and the position after it. */
type Parsed = readonly [value: unknown, end: number];

/**
 * @param name the name of the field that has the value
 * @param wholeMax in characters: a list in the value parses longer items in steps
 */
function* parseValue(
  parse: Parse,
  start: number,
  depth: number,
  name: string,
  wholeMax: number,
): Steps<Parsed> {
  const { text } = parse;
  const at = skipSpace(text, start);
  if (text[at] === '{') return yield* parseObject(parse, at, depth + 1, name, wholeMax);
  if (text[at] === '[') return yield* parseArray(parse, at, depth + 1, name, wholeMax);
  const end = endOfValue(parse, at, depth, at + SCALAR_MAX);
  if (end === undefined) throw tooLong();
  return [JSON.parse(text.slice(at, end)), end];
}

function* parseObject(
  parse: Parse,
  start: number,
  depth: number,
  of: string,
  wholeMax: number,
): Steps<Parsed> {
  const { text } = parse;
  const object: Record<string, unknown> = {};
  let at = skipSpace(text, start + 1);
  if (text[at] === '}') return [object, at + 1];
  for (let count = 1; ; count++) {
    refuseTooMuch(parse, depth, of, count);
    if (text[at] !== '"') throw unexpected(text, at);
    const nameEnd = endOfString(text, at);
    const name = String(JSON.parse(text.slice(at, nameEnd)));
    const colon = skipSpace(text, nameEnd);
    if (text[colon] !== ':') throw unexpected(text, colon);
    const [value, end] = yield* parseValue(parse, colon + 1, depth, name, wholeMax);
    setOwn(object, name, value);
    if (count % ITEMS_PER_STEP === 0 || end - at > WHOLE_ITEM_MAX) yield;
    at = skipSpace(text, end);
    if (text[at] !== ',') break;
    at = skipSpace(text, at + 1);
  }
  if (text[at] !== '}') throw unexpected(text, at);
  return [object, at + 1];
}

/** As with JSON.parse, the last of two equal names counts, and `__proto__` is an ordinary name. */
function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else {
    const field = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, name, field);
  }
}

/** Parses each short item in one step. */
function* parseArray(
  parse: Parse,
  start: number,
  depth: number,
  of: string,
  wholeMax: number,
): Steps<Parsed> {
  const { text } = parse;
  const convert = parse.converters.get(of);
  const items: unknown[] = [];
  let at = skipSpace(text, start + 1);
  if (text[at] === ']') return [items, at + 1];
  for (at = start; ; ) {
    const first = at + 1;
    refuseTooMuch(parse, depth, of, items.length + 1);
    const whole = endOfValue(parse, first, depth, first + wholeMax);
    const [item, end] =
      whole === undefined
        ? // Half of the limit, so that lists within lists do not read the same text again and again.
          yield* parseValue(parse, first, depth, '', wholeMax / 2)
        : [JSON.parse(text.slice(first, whole)), whole];
    items.push(convert === undefined ? item : convert(item));
    if (whole === undefined || items.length % ITEMS_PER_STEP === 0) yield;
    at = skipSpace(text, end);
    if (text[at] !== ',') break;
  }
  if (text[at] !== ']') throw unexpected(text, at);
  return [items, at + 1];
}

/** Enforces the limits. Called for each item of a list or an object that is parsed in steps. */
function refuseTooMuch(parse: Parse, depth: number, of: string, count: number): void {
  if (depth > DEPTH_MAX) throw tooDeep();
  if (count > ITEMS_MAX && !parse.isLong(of) && !parse.converters.has(of)) {
    throw new LimitError(`has a list or an object of more than ${ITEMS_MAX} items`);
  }
  addValues(parse, 1);
}

function addValues(parse: Parse, count: number): void {
  parse.valueCount += count;
  if (parse.valueCount > VALUES_MAX) throw new LimitError(`has more than ${VALUES_MAX} values`);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: readonly [number, number] = [0x5b, 0x7b];
const CLOSING: readonly [number, number] = [0x5d, 0x7d];

/**
 * The position of the comma or bracket after the value, or of the end of the text; undefined when the value does not
 * end before `stop`.
 */
function endOfValue(parse: Parse, start: number, depth: number, stop: number): number | undefined {
  const { text } = parse;
  const last = Math.min(stop, text.length);
  let inner = 0;
  let count = 0;
  let at = start;
  for (; at < last; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at, last) - 1;
    else if (code === OPENING[0] || code === OPENING[1]) {
      count++;
      inner++;
      if (depth + inner > DEPTH_MAX) throw tooDeep();
    } else if (code === CLOSING[0] || code === CLOSING[1]) {
      if (inner === 0) break;
      inner--;
    } else if (code === COMMA) {
      if (inner === 0) break;
      count++;
    }
  }
  if (at >= last && last < text.length) return undefined;
  addValues(parse, count);
  return at;
}

/** The position after the closing quote, or `stop` when that comes first. */
function endOfString(text: string, start: number, stop = text.length): number {
  for (let at = start + 1; at < stop; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
    if (at - start > SCALAR_MAX) throw tooLong();
  }
  return stop;
}

/** Finds the end of megabytes of white space in milliseconds: a loop takes ten times as long. */
const NOT_SPACE = /[^ \n\r\t]/g;

/** The position of the first character that is not white space, as JSON defines it. */
function skipSpace(text: string, start: number): number {
  NOT_SPACE.lastIndex = start;
  return NOT_SPACE.test(text) ? NOT_SPACE.lastIndex - 1 : text.length;
}

function tooLong(): SyntaxError {
  return new LimitError(`has a string or a number of more than ${SCALAR_MAX} characters`);
}

function tooDeep(): SyntaxError {
  return new LimitError(`is nested deeper than ${DEPTH_MAX} levels`);
}

function unexpected(text: string, at: number): SyntaxError {
  return new SyntaxError(`Unexpected ${JSON.stringify(text[at] ?? 'end')} at position ${at}`);
}
