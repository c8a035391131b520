import { isRecord, type JsonRecord } from '../../../core/json-record.ts';
import { readIndex } from './files.ts';

/** Reads an index in JSON. */

/** In bytes. An index with the notes of thousands of releases is smaller. */
const JSON_BYTES_MAX = 64 * 1024 * 1024;

/** The text of a field; null for any other value. */
export function textIn(record: JsonRecord, ...names: readonly string[]): string | null {
  const value = names.map((name) => record[name]).find((each) => each !== undefined);
  return typeof value === 'string' ? value : null;
}

/** The number of bytes in a field; undefined for any other value. */
export function sizeIn(record: JsonRecord, name: string): number | undefined {
  const value = record[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function listIn(record: JsonRecord, name: string): readonly JsonRecord[] {
  const value = record[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/**
 * Reads the values of a JSON file, which stand one after the other: `gh api --paginate` writes a value for each page.
 * Undefined when the text is not JSON, or nests too deep.
 *
 * @throws AppError `invalid_request` for a file that cannot be read or is too large
 */
export async function readJsonValues(path: string): Promise<readonly unknown[] | undefined> {
  return parseJsonValues(await readIndex(path, JSON_BYTES_MAX));
}

export function parseJsonValues(text: string): readonly unknown[] | undefined {
  try {
    return splitValues(text).map((value): unknown => JSON.parse(value));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** No index nests deeper. The JSON parser needs many bytes of memory for each level. */
const DEPTH_MAX = 64;

/** No list of releases has more pages. */
const VALUES_MAX = 100_000;

/**
 * Cuts a text between values of the outermost level.
 *
 * @throws SyntaxError for a text that nests too deep, or has too many values
 */
function splitValues(text: string): readonly string[] {
  const values: string[] = [];
  let depth = 0;
  let from = 0;
  let isInText = false;
  for (const { 0: token, index } of text.matchAll(/\\.|["[\]{}]/gs)) {
    if (token === '"') isInText = !isInText;
    if (isInText) continue;
    if (token === '[' || token === '{') depth += 1;
    if (depth > DEPTH_MAX) throw new SyntaxError('It nests too deep.');
    if (token !== ']' && token !== '}') continue;
    depth -= 1;
    if (depth > 0) continue;
    if (values.length === VALUES_MAX) throw new SyntaxError('It has too many values.');
    values.push(text.slice(from, index + 1));
    from = index + 1;
  }
  const rest = text.slice(from).trim();
  return rest === '' && values.length > 0 ? values : [...values, rest];
}

/** Pages within an array, and items within a page. */
const PAGES_DEPTH_MAX = 4;

/**
 * The items of the pages of an index: arrays, arrays of arrays, or objects with `items`. At the deepest level, every
 * value counts as an item: a file could nest arrays so deep that this process has no more stack.
 */
export function itemsOf(values: readonly unknown[], depth = PAGES_DEPTH_MAX): readonly unknown[] {
  if (depth === 0) return values;
  return values.flatMap((value) => {
    if (Array.isArray(value)) return itemsOf(value, depth - 1);
    if (isRecord(value) && Array.isArray(value.items)) return itemsOf(value.items, depth - 1);
    return [value];
  });
}
