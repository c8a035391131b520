import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalForm } from '../../../src/store/sequence/canonical.ts';
import { rounds } from '../../support/rounds.ts';

const outcomeOf = (work: () => string | undefined): string => {
  try {
    return work() ?? '';
  } catch (error) {
    return String(error);
  }
};

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('10', '9', '01', '__proto__', 'toJSON', 'a', 'B', '\ud800', '\u2028', '"\\'),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.double(),
    fc.integer(),
    fc.constantFrom(null, undefined, true, -0, 1e21, 1e-7),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));

it('the canonical form is the one of the package, for every value', () => {
  fc.assert(
    fc.property(value, (each) => {
      expect(outcomeOf(() => canonicalForm(each))).toBe(outcomeOf(() => canonicalize(each)));
    }),
    { numRuns: rounds(1_000, 50_000) },
  );
});
