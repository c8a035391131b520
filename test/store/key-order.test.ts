import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareKeys } from '../../src/store/key.ts';

it('orders keys by their UTF-8 bytes, also beyond the 65,536 characters of UTF-16 units', () => {
  const unit = fc.constantFrom(
    'a',
    'b',
    '/',
    '\u00e9',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '\u{1f600}',
    '\u{10ffff}',
  );
  const key = fc.string({ unit, maxLength: 5 });
  fc.assert(
    fc.property(key, key, (a, b) => {
      const byBytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(compareKeys(a, b))).toBe(byBytes);
    }),
    { numRuns: 500 },
  );
});
