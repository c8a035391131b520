import { describe, expect, it } from 'vitest';
import {
  decideProof,
  decideStanding,
  isRenewalDue,
  type SavedProof,
} from '../../../src/catalog/live/decide-freshness.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FRESH = 7 * DAY;
const NOW = 1_000 * DAY;

describe('decideProof', () => {
  const saved = { revision: 5, expiresAt: undefined, confirmation: undefined };
  const confirmed = (agoMs: number, revision = 5) => ({
    ...saved,
    confirmation: { at: NOW - agoMs, revision },
  });

  it.each<[string, number | undefined, SavedProof | undefined, boolean]>([
    ['nothing is known', undefined, undefined, false],
    ['the timestamp of the store is valid', NOW + 1, undefined, true],
    ['it has expired', NOW, undefined, false],
    ['the saved timestamp is valid', undefined, { ...saved, expiresAt: NOW + 1 }, true],
    ['it has expired', undefined, { ...saved, expiresAt: NOW }, false],
    ['a state is saved, and nothing else', undefined, saved, false],
    ['the store confirmed it a moment ago', NOW - DAY, confirmed(0), true],
    ['the store confirmed it just before TRUST_FRESH', undefined, confirmed(FRESH - 1), true],
    ['the store confirmed it TRUST_FRESH ago', undefined, confirmed(FRESH), false],
    ['the disk is an image of last year', NOW - 358 * DAY, confirmed(365 * DAY), false],
    ['the clocks differ a little', undefined, confirmed(-5 * 60_000), true],
    ['the confirmation is from the future', undefined, confirmed(-5 * 60_000 - 1), false],
    ['the confirmation is from next year', undefined, confirmed(-365 * DAY), false],
    ['the store confirmed a later state than the saved one', undefined, confirmed(0, 6), false],
    ['a later state was saved than the store confirmed', undefined, confirmed(0, 4), true],
  ])('when %s (%#)', (_name, expiresAt, state, expected) => {
    expect(decideProof({ now: NOW, freshMs: FRESH, expiresAt, saved: state })).toBe(expected);
  });
});

describe('decideStanding', () => {
  it.each([
    [false, FRESH, NOW + DAY, 'unproven'],
    [true, FRESH, undefined, 'expired'],
    [true, FRESH, NOW, 'expired'],
    [true, FRESH, NOW + 1, 'expiring'],
    [true, FRESH, NOW + 2 * DAY - 1, 'expiring'],
    [true, FRESH, NOW + 2 * DAY, 'new'],
    [true, 90 * DAY, NOW + 2 * DAY, 'new'],
    [true, 3 * HOUR, NOW + HOUR - 1, 'expiring'],
    [true, 3 * HOUR, NOW + HOUR, 'new'],
  ] as const)('proven %s, valid for %i, until %s: %s', (isProven, freshMs, expiresAt, expected) => {
    expect(decideStanding({ isProven, now: NOW, freshMs, expiresAt })).toBe(expected);
  });
});

describe('isRenewalDue', () => {
  it.each([
    ['signed a moment ago', { signedAt: NOW }, false],
    ['signed an hour ago', { signedAt: NOW - HOUR }, true],
    ['the signer failed a moment ago', { signedAt: NOW - HOUR, triedAt: NOW - 299_999 }, false],
    ['the signer failed minutes ago', { signedAt: NOW - HOUR, triedAt: NOW - 300_000 }, true],
    ['the publisher is still signing', { signedAt: NOW, behindSince: NOW - 9_999 }, false],
    ['the publisher has died', { signedAt: NOW, behindSince: NOW - 10_000 }, true],
    ['and the signer fails', { signedAt: NOW, behindSince: NOW - DAY, triedAt: NOW - 1 }, false],
  ] as const)('when %s', (_name, facts, expected) => {
    const none = { behindSince: undefined, triedAt: undefined };
    expect(isRenewalDue({ now: NOW, ...none, ...facts })).toBe(expected);
  });
});
