import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRangeHeader } from '../../../src/answers/files/range-header.ts';
import { rounds } from '../../support/rounds.ts';

describe('a Range header', () => {
  it.each([
    [undefined, 10],
    ['', 10],
    ['bytes', 10],
    ['bytes=', 10],
    ['bytes=,', 10],
    ['bytes=-', 10],
    ['bytes=a-b', 10],
    ['bytes=0x1-5', 10],
    ['bytes=1-2-3', 10],
    ['bytes=7-3', 10],
    ['bytes=0-1, 7-3', 10],
    ['bytes=0-1, x', 10],
    ['bytes 0-1', 10],
    ['items=0-1', 10],
    ['bytes=-1,-1,0-9,0-', 10],
    ['bytes=0-,0-,0-', 1],
    [`bytes=${'0-0,'.repeat(5_000)}`, 1e9],
  ])('%j does not count', (header, size) => {
    expect(parseRangeHeader(header, size)).toEqual({ kind: 'all' });
  });

  it.each([
    ['bytes=10-', 10],
    ['bytes=-0', 10],
    ['bytes=10-, -0, 99-100', 10],
    ['bytes=0-', 0],
    ['bytes=-5', 0],
    [`bytes=${'9'.repeat(400)}-`, 10],
  ])('%j selects nothing of %i bytes', (header, size) => {
    expect(parseRangeHeader(header, size)).toEqual({ kind: 'none' });
  });

  it.each([
    ['bytes=0-0', { start: 0, length: 1 }],
    ['bytes=2-', { start: 2, length: 8 }],
    ['bytes=-3', { start: 7, length: 3 }],
    ['bytes=-300', { start: 0, length: 10 }],
    ['bytes=9-9999999999999999999999', { start: 9, length: 1 }],
    ['Bytes= 2-4 ', { start: 2, length: 3 }],
    ['bytes=,2-4,,', { start: 2, length: 3 }],
  ])('%j is one range', (header, span) => {
    expect(parseRangeHeader(header, 10)).toEqual({ kind: 'one', span });
  });

  it('keeps the order, joins nothing, and leaves out what the file does not have', () => {
    expect(parseRangeHeader('bytes=4-5, 0-1,\t2-3, 50-, -1', 10)).toEqual({
      kind: 'several',
      spans: [
        { start: 4, length: 2 },
        { start: 0, length: 2 },
        { start: 2, length: 2 },
        { start: 9, length: 1 },
      ],
    });
    expect(parseRangeHeader('bytes=0-1, 50-', 10)).toEqual({
      kind: 'several',
      spans: [{ start: 0, length: 2 }],
    });
  });

  it('may name 1,024 ranges, and is ignored with more', () => {
    const of = (count: number) =>
      `bytes=${Array.from({ length: count }, (_, n) => `${2 * n}-${2 * n}`)}`;
    expect(parseRangeHeader(of(1_024), 10_000)).toMatchObject({ kind: 'several' });
    expect(parseRangeHeader(of(1_025), 10_000)).toEqual({ kind: 'all' });
  });

  it('may overlap up to twice the file', () => {
    expect(parseRangeHeader('bytes=0-9, 0-9', 10)).toMatchObject({ kind: 'several' });
    expect(parseRangeHeader('bytes=0-9, 0-9, 0-0', 10)).toEqual({ kind: 'all' });
  });

  it('of any text never selects a byte that the file does not have', () => {
    const element = fc.stringMatching(/^ ?[0-9]{0,3}-?[0-9]{0,3} ?$/);
    const header = fc.array(element, { maxLength: 6 }).map((all) => `bytes=${all.join(',')}`);
    fc.assert(
      fc.property(fc.oneof(header, fc.string()), fc.nat(500), (text, size) => {
        const selected = parseRangeHeader(text, size);
        const spans =
          selected.kind === 'one' ? [selected.span] : 'spans' in selected ? selected.spans : [];
        for (const { start, length } of spans) {
          expect(start).toBeGreaterThanOrEqual(0);
          expect(length).toBeGreaterThan(0);
          expect(start + length).toBeLessThanOrEqual(size);
        }
        expect(spans.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(2 * size);
      }),
      { numRuns: rounds(200, 2_000) },
    );
  });
});
