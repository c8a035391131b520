import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareSparkleVersions } from '../../src/domain/sparkle-version.ts';

/** Sparkle's order of versions: its own tests of SUStandardVersionComparator have these pairs. */

const sign = (a: string, b: string) => Math.sign(compareSparkleVersions(a, b));

describe('compareSparkleVersions', () => {
  it.each([
    ['1.0', '1.1'],
    ['1.0', '1.0.1'],
    ['1.2b1', '1.2'],
    ['1.5b3', '1.5'],
    ['0.1.0b5', '0.1.0'],
    ['0.9', '0.10'],
    ['1.0a1', '1.0b1'],
    ['1.0b9', '1.0b10'],
    ['1.0b10', '1.0rc'],
    ['421', '1000'],
    ['9007199254740993', '9007199254740995'],
    ['1.1', '1.1.1'],
  ])('%s is older than %s', (older, newer) => {
    expect(sign(older, newer)).toBe(-1);
    expect(sign(newer, older)).toBe(1);
  });

  it.each([
    ['1.0', '1.0.0'],
    ['1.0.0', '1.0'],
    ['1.0.0-beta.1', '1.0.0'],
    ['1.0.0-beta.2', '1.0.0-beta.1'],
    ['007', '7'],
    ['', ''],
  ])('takes %s and %s for equal', (a, b) => {
    expect(sign(a, b)).toBe(0);
  });

  it('is an antisymmetric comparison of any texts', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(sign(a, b) + sign(b, a)).toBe(0);
        expect(sign(a, a)).toBe(0);
      }),
    );
  });

  it('agrees with semantic versioning for versions without a pre-release', () => {
    const triple = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99));
    fc.assert(
      fc.property(triple, triple, (a, b) => {
        const [difference = 0] = a.map((n, i) => n - (b[i] ?? 0)).filter((n) => n !== 0);
        expect(sign(a.join('.'), b.join('.'))).toBe(Math.sign(difference));
      }),
    );
  });
});
