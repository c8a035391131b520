import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../src/core/steps.ts';
import { findLongLists } from '../../../src/store/sequence/json.ts';
import { parseInSteps } from '../../../src/store/sequence/parse-in-steps.ts';
import { rounds } from '../../support/rounds.ts';

const PART_BYTES = 8;
const isLong = (name: string): boolean => name === 'offers';
const listsIn = (bytes: Uint8Array) => runAtOnce(findLongLists(bytes, isLong, PART_BYTES));
const parse = (text: string | Uint8Array): unknown => {
  const bytes = Buffer.from(text);
  return runAtOnce(parseInSteps(bytes, listsIn(bytes)));
};
const outcomeOf = (run: () => unknown): unknown => {
  try {
    return { value: run() };
  } catch (error) {
    return error instanceof SyntaxError || error instanceof TypeError ? 'not JSON' : error;
  }
};

const name = fc.constantFrom('offers', 'a', '__proto__', 'ü"\\', 'constructor', '');
const plain = fc.oneof(fc.integer(), fc.string({ maxLength: 12 }), fc.constantFrom(null, true));
const { document } = fc.letrec<{ document: unknown; list: unknown; value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, { arbitrary: plain, weight: 6 }, tie('document'), tie('list')),
  list: fc.array(tie('value'), { maxLength: 8 }),
  document: fc
    .array(fc.tuple(name, fc.oneof(tie('list'), tie('value'))), { minLength: 1, maxLength: 4 })
    .map((fields) => ({ fields })),
}));
/** Like JSON.stringify, but an object may have a field several times, and a name may be escaped. */
const render = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(render).join(', ')}]`;
  if (typeof value !== 'object' || value === null || !('fields' in value)) {
    return JSON.stringify(value);
  }
  const fields = value.fields as readonly (readonly [string, unknown])[];
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${render(each)}`).join(',')}}`;
};

describe('parsing in steps', () => {
  const runs = { numRuns: rounds(2_000, 50_000) };

  it('gives what JSON.parse gives, also when fields occur several times', () => {
    let parts = 0;
    fc.assert(
      fc.property(document, (value) => {
        const text = render(value);
        parts += listsIn(Buffer.from(text)).length;
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      runs,
    );
    expect(parts).toBeGreaterThan(100);
  });

  it('fails when JSON.parse fails, wherever a character is inserted or missing', () => {
    const inserted = fc.constantFrom(...'{}[],:"\\0a-.ntrue \ufeff', '');
    fc.assert(
      fc.property(document, fc.nat(), inserted, fc.nat({ max: 2 }), (value, seed, more, less) => {
        const whole = render(value);
        const at = seed % (whole.length + 1);
        const text = whole.slice(0, at) + more + whole.slice(at + less);
        expect(outcomeOf(() => parse(text))).toEqual(outcomeOf(() => JSON.parse(text)));
      }),
      runs,
    );
  });

  it.each([
    ['the later of two lists', '{"offers":[1,2,3,4,5,6,7],"offers":[]}'],
    ['the later of two objects', '{"a":{"offers":[1,2,3,4,5,6,7]},"a":{"offers":3}}'],
    ['a list below a name with escapes', '{"\\u0061\\"":{"offers":[1,2,3,4,5,6,7]}}'],
    ['a list in a list', '[{"offers":[1,2,3,4,5,6,7]},{"offers":[[1,2,3],[4,5,6,7]]}]'],
    ['a list below __proto__', '{"__proto__":{"offers":[1,2,3,4,5,6,7]}}'],
  ])('gives what JSON.parse gives: %s', (_name, text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
    expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)));
  });

  it.each([
    '["a long item",]',
    '["a long item",,"b"]',
    '[,"a long item","b"]',
    '["a long item",\ufeff6]',
  ])('fails for %j, although a comma ends a part', (list) => {
    expect(() => parse(`{"offers":${list}}`)).toThrow(SyntaxError);
  });

  it('takes a step for each part', () => {
    const bytes = Buffer.from(
      JSON.stringify({ offers: Array.from({ length: 100 }, () => 'offer') }),
    );
    let steps = 0;
    const parsing = parseInSteps(bytes, listsIn(bytes));
    while (parsing.next().done !== true) steps++;
    expect(steps).toBeGreaterThan(40);
  });
});
