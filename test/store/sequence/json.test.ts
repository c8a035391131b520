import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ITEMS_PER_STEP, runAtOnce } from '../../../src/core/steps.ts';
import { LimitError, parseJsonInSteps } from '../../../src/store/sequence/json.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';
import { rounds } from '../../support/rounds.ts';

const outcomeOf = (parse: () => unknown): unknown => {
  try {
    return { value: parse() };
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return 'refused';
  }
};

/**
 * JSON.parse of Node 24 (V8 13.6) misreads names with an escape after an object of the same shape with a
 * backslash in a name: `{"a\\\\":1}`, then `{"a\\n":1}`, gives the name `a\` twice.
 */
const MISREAD = /\\\\/;
/** Without backslashes: a test that makes such an object changes what JSON.parse reads in later ones. */
const stringUnit = fc
  .integer({ min: 0x20, max: 0x7e })
  .filter((code) => code !== 0x5c)
  .map((code) => String.fromCharCode(code));

describe('JSON in steps', () => {
  it('parses every value as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'medium', stringUnit }), (json) => {
        const text = JSON.stringify(JSON.parse(json));
        expect(runAtOnce(parseJsonInSteps(text))).toStrictEqual(JSON.parse(text));
      }),
      { numRuns: rounds(200, 2_000) },
    );
  });

  it('refuses and accepts what JSON.parse does, also of corrupt text', () => {
    const corrupt = fc
      .tuple(
        fc.json({ stringUnit }),
        fc.nat(),
        fc.constantFrom(...'{}[],:"\\0a-.ntrue'),
        fc.nat({ max: 2 }),
      )
      .map(([json, seed, insert, removed]) => {
        const text = JSON.stringify(JSON.parse(json));
        const at = seed % (text.length + 1);
        return text.slice(0, at) + insert + text.slice(at + removed);
      })
      .filter((text) => !MISREAD.test(text));
    fc.assert(
      fc.property(corrupt, (text) => {
        const own = outcomeOf(() => runAtOnce(parseJsonInSteps(text)));
        expect(own).toStrictEqual(outcomeOf(() => JSON.parse(text)));
      }),
      { numRuns: rounds(200, 5_000) },
    );
  });

  it.each([
    '{"__proto__":{"a":1},"b":[{"__proto__":2}]}',
    '{"a":1,"a":2}',
    '{"a\\"}":"]}\\\\"}',
    '[[],{},"",0,null,true]',
    ' {"a" : [ 1 , { } , "b" ] ,\n\t"c":{ } }\r\n',
  ])('%s', (text) => {
    expect(runAtOnce(parseJsonInSteps(text))).toStrictEqual(JSON.parse(text));
  });

  it.each(['', '{', '[', '"', '{"a"', '{"a":', '[1', '[1,', '{"a":1,', '[1,]', '{"a":1,}', '{}}'])(
    'refuses %j',
    (text) => {
      expect(() => runAtOnce(parseJsonInSteps(text))).toThrow(SyntaxError);
    },
  );

  it('pauses within a long list', () => {
    const text = JSON.stringify({ offers: Array.from({ length: ITEMS_PER_STEP * 4 }, () => ({})) });
    expect([...parseJsonInSteps(text)]).toHaveLength(4);
  });

  it('pauses after each long text in an object', () => {
    const text = JSON.stringify({ a: 'x'.repeat(100_000), b: 'x'.repeat(100_000), c: 0 });
    expect([...parseJsonInSteps(text)]).toHaveLength(2);
  });

  it.each(['before', 'between', 'after'])(
    'takes little more time than JSON.parse for white space: %s',
    (place) => {
      const space = ' \n\r\t'.repeat(2_000_000);
      const text = { before: `${space}[]`, between: `{"a":[]${space}}`, after: `[]${space}` }[
        place
      ];
      const base = cpuTimeOf(() => JSON.parse(text ?? ''));
      const own = cpuTimeOf(() => runAtOnce(parseJsonInSteps(text ?? '')));
      expect(own).toBeLessThan(10 * base);
    },
  );

  it.each([
    ['deeper', `${'['.repeat(21)}${']'.repeat(21)}`],
    ['items', `[${'0,'.repeat(4_096)}0]`],
    ['items', `{${Array.from({ length: 4_097 }, (_, name) => `"${name}":0`).join(',')}}`],
    ['characters', JSON.stringify('x'.repeat(1024 * 1024 + 1))],
    ['characters', '9'.repeat(1024 * 1024 + 1)],
    ['values', `[[${'[],'.repeat(2_000_000)}0]]`],
  ])('refuses text with too many %s, in a bounded time', (limit, text) => {
    const parse = () => runAtOnce(parseJsonInSteps(text, { isLong: () => limit !== 'items' }));
    expect(parse).toThrow(LimitError);
    expect(parse).toThrow(limit);
  });

  it('parses a long list where a document may have one', () => {
    const json = { offers: Array.from({ length: 5_000 }, (_, index) => ({ index })) };
    const text = JSON.stringify(json);
    expect(runAtOnce(parseJsonInSteps(text, { isLong: (of) => of === 'offers' }))).toEqual(json);
    expect(() => runAtOnce(parseJsonInSteps(text))).toThrow(LimitError);
  });
});
