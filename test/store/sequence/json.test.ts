import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LimitError, refuseExcess } from '../../../src/store/sequence/json.ts';
import { rounds } from '../../support/rounds.ts';

const refuse = (text: string, isLong?: (name: string) => boolean): void =>
  refuseExcess(Buffer.from(text), isLong);

describe('the limits of JSON', () => {
  it('leave ordinary values alone, and text that is not JSON to the parser', () => {
    const corrupt = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[],:"\\0a-.ntrue'), fc.nat({ max: 2 }))
      .map(([json, seed, insert, removed]) => {
        const at = seed % (json.length + 1);
        return json.slice(0, at) + insert + json.slice(at + removed);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json({ depthSize: 'medium' }), corrupt), (text) => {
        expect(() => refuse(text)).not.toThrow();
      }),
      { numRuns: rounds(200, 5_000) },
    );
  });

  it.each(['', '{', '[', '"', '"\\', '}}}}', ',,,,', '{"a', '[1,', '{}}'])('%j', (text) => {
    expect(() => refuse(text)).not.toThrow();
  });

  it.each(['[', ']', '{', '}', ',', '\\"', 'ü'])('do not count %s in a string', (character) => {
    const text = JSON.stringify({ a: character.repeat(5_000), b: [character] });
    expect(() => refuse(text)).not.toThrow();
  });

  it.each(['before', 'between', 'after'])(
    'read each byte of white space once, as JSON.parse does: %s',
    (place) => {
      const space = ' \n\r\t'.repeat(5_000);
      const text = { before: `${space}[]`, between: `[[]${space}]`, after: `[]${space}` }[place];
      let count = 0;
      const bytes = new Proxy(Buffer.from(text ?? ''), {
        get: (target, name) => {
          if (typeof name === 'string' && /^\d+$/.test(name)) count++;
          return Reflect.get(target, name, target);
        },
      });
      refuseExcess(bytes);
      expect(count).toBe(bytes.length);
    },
  );

  it.each([
    ['deeper', '['.repeat(512 * 1024)],
    ['deeper', '{"a":'.repeat(21)],
    ['deeper', `${'['.repeat(21)}${']'.repeat(21)}`],
    ['items', `[${'0,'.repeat(4_096)}0]`],
    ['items', `{${Array.from({ length: 4_097 }, (_, name) => `"${name}":0`).join(',')}}`],
    ['values', `[[${'[],'.repeat(2_000_000)}0]]`],
  ])('refuse text with too many %s, in a bounded time', (limit, text) => {
    const check = () => refuse(text, () => limit !== 'items');
    expect(check).toThrow(LimitError);
    expect(check).toThrow(limit);
  });

  it('allow exactly as much as they say', () => {
    expect(() => refuse(`${'['.repeat(20)}${']'.repeat(20)}`)).not.toThrow();
    expect(() => refuse(`[${'0,'.repeat(4_095)}0]`)).not.toThrow();
    expect(() => refuse(`[[0],${'[0],'.repeat(4_094)}[0]]`)).not.toThrow();
  });

  it('allow a long list where a document may have one', () => {
    const list = Array.from({ length: 5_000 }, (_, index) => ({ index }));
    const isLong = (name: string): boolean => name === 'offers';
    expect(() => refuse(JSON.stringify({ offers: list }), isLong)).not.toThrow();
    expect(() => refuse(JSON.stringify({ offers: list }))).toThrow(LimitError);
    expect(() => refuse(JSON.stringify({ others: list }), isLong)).toThrow(LimitError);
    expect(() => refuse(JSON.stringify({ offers: [list] }), isLong)).toThrow(LimitError);
    expect(() => refuse(JSON.stringify(['offers', list]), isLong)).toThrow(LimitError);
  });
});
