import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkReason, REASON_BYTES_MAX, REASON_JSON_BYTES_MAX } from '../../src/domain/reason.ts';

/** Characters that JSON or UTF-8 writes with more than one byte, and plain letters. */
const CHARACTERS = ['x', '"', '\\', '\n', '\r', '\t', 'é', '€', '🚀', '\ud800', '\u2028', '\u007f'];
const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Texts of about the longest length. */
const reasons = fc
  .array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 8 })
  .chain((words) => {
    const unit = words.join('');
    const count = Math.floor(REASON_BYTES_MAX / bytesOf(unit));
    return fc.integer({ min: -1, max: 1 }).map((more) => unit.repeat(Math.max(0, count + more)));
  });

describe('a reason', () => {
  it('has at most 300 bytes of UTF-8, whatever JSON makes of them; the message states the same count', () => {
    fc.assert(
      fc.property(reasons, (reason) => {
        const check = () => checkReason(reason);
        const bytes = bytesOf(reason);
        if (bytes > REASON_BYTES_MAX) expect(check).toThrow(`The reason has ${bytes} bytes`);
        else if (reason.includes('\u007f')) expect(check).toThrow('U+007F. Remove it');
        else {
          check();
          expect(bytesOf(JSON.stringify(reason))).toBeLessThanOrEqual(REASON_JSON_BYTES_MAX);
        }
      }),
    );
  });

  it.each(CHARACTERS.slice(0, -1))('may be full of %j, up to its limit', (character) => {
    const full = character.repeat(REASON_BYTES_MAX / bytesOf(character));
    expect(bytesOf(full)).toBe(REASON_BYTES_MAX);
    expect(() => checkReason(full)).not.toThrow();
    expect(() => checkReason(`${full}x`)).toThrow('The reason has 301 bytes in UTF-8');
  });

  it('is one text without control characters, which JSON would write with six bytes', () => {
    expect(() => checkReason(null)).not.toThrow();
    for (const character of ['\0', '\u0001', '\b', '\u001b', '\u0085']) {
      expect(() => checkReason(`crash${character}`)).toThrow('control character U+00');
    }
  });
});
