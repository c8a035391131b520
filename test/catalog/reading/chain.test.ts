import { describe, expect, it } from 'vitest';
import { type Chained, provesHistory, refuseRollback } from '../../../src/catalog/reading/chain.ts';

/** The decision whether a store without the saved revision 5 still continues it. */

const SAVED: Chained = {
  digest: 'five',
  signed: { revision: 5, previous: { revision: 4, digest: 'four' }, skipped: [] },
};
const skip = (number: number) => ({ number, reason: 'lost', sha256: null });

const CASES: readonly {
  readonly name: string;
  readonly next: Chained['signed'] | undefined;
  readonly isProof: boolean;
}[] = [
  { name: 'there is no later revision', next: undefined, isProof: false },
  {
    name: 'the next revision names its digest',
    next: { revision: 6, previous: { revision: 5, digest: 'five' }, skipped: [] },
    isProof: true,
  },
  {
    name: 'the next revision names another digest',
    next: { revision: 6, previous: { revision: 5, digest: 'other' }, skipped: [] },
    isProof: false,
  },
  {
    name: 'a later revision steps over a corrupt one, and names its digest',
    next: { revision: 7, previous: { revision: 5, digest: 'five' }, skipped: [skip(6)] },
    isProof: true,
  },
  {
    name: 'a later revision was made from one that is gone as well',
    next: { revision: 7, previous: { revision: 6, digest: 'six' }, skipped: [] },
    isProof: false,
  },
  {
    name: 'a revision made from a later one says that it skipped the saved one',
    next: { revision: 7, previous: { revision: 6, digest: 'six' }, skipped: [skip(5)] },
    isProof: false,
  },
  {
    name: 'an operator allowed the next revision to skip it',
    next: { revision: 6, previous: { revision: 4, digest: 'four' }, skipped: [skip(5)] },
    isProof: true,
  },
  {
    name: 'the next revision was made from an earlier one, and skips nothing',
    next: { revision: 6, previous: { revision: 4, digest: 'four' }, skipped: [] },
    isProof: false,
  },
  {
    name: 'the next revision begins again',
    next: { revision: 6, previous: null, skipped: [] },
    isProof: false,
  },
];

describe.each(CASES)('a store without the saved revision, where $name', ({ next, isProof }) => {
  it(isProof ? 'continues it' : 'went back', () => {
    const later = next && { digest: 'later', signed: next };
    const decide = () =>
      refuseRollback('desktop', { number: 5, document: SAVED }, undefined, later);
    if (isProof) decide();
    else expect(decide).toThrow('went backwards');
    if (next !== undefined) {
      const saved = { digest: 'five', ...SAVED.signed };
      expect(provesHistory(saved, { digest: 'later', ...next })).toBe(isProof);
    }
  });
});

it('another revision under the saved number is never proof, whatever comes after it', () => {
  const next = { revision: 6, previous: { revision: 5, digest: 'five' }, skipped: [] };
  expect(() =>
    refuseRollback(
      'desktop',
      { number: 5, document: SAVED },
      { ...SAVED, digest: 'other' },
      { digest: 'six', signed: next },
    ),
  ).toThrow('another one now');
});
