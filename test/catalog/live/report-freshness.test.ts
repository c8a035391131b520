import { expect, it } from 'vitest';
import {
  createFreshnessReport,
  expirySentence,
  refusalSentence,
} from '../../../src/catalog/live/report-freshness.ts';
import type { Freshness } from '../../../src/catalog/trust/freshness.ts';

/** The log and the sentences about how new a signed state is. */

const TIMESTAMP: Freshness = {
  version: 1,
  expiresAt: Date.parse('2026-11-28T09:00:00Z'),
  signedAt: Date.parse('2026-11-21T09:00:00Z'),
  revision: { revision: 3, digest: 'd' },
  rootVersion: 2,
  signer: 'k',
};

it('logs each change once, and the end of a refusal', () => {
  const lines: string[] = [];
  const write = (level: string) => (_facts: object, message: string) =>
    void lines.push(`${level} ${message}`);
  const log = { info: write('info'), warn: write('warn'), error: write('error') };
  let now = 1_000;
  const report = createFreshnessReport({ application: 'desktop', clock: { now: () => now }, log });
  const standings = ['new', 'unproven', 'unproven', 'expiring', 'expired', 'new'] as const;
  const since = standings.map((standing) => {
    now += 1;
    report.note(standing, 'why');
    return report.refusedSince();
  });
  expect(lines).toEqual([
    'error clients get no answer: the signed state is not known to be new',
    'info the signed state is known to be new: clients get answers',
    'warn the signed timestamp is about to expire',
    'warn the signed timestamp has expired',
  ]);
  expect(since).toEqual([undefined, 1_002, 1_002, undefined, undefined, undefined]);
});

it.each([
  [undefined, false, 'the store has no valid timestamp of the last days'],
  [TIMESTAMP, false, 'its timestamp expired at 2026-11-28T09:00:00.000Z'],
  [TIMESTAMP, true, 'its timestamp names root 2, which is missing'],
] as const)('says why clients get no answer (%#)', (newest, isRootMissing, why) => {
  expect(refusalSentence('desktop', newest, isRootMissing)).toBe(
    `The signed state of desktop is not known to be new: ${why}. An operator who knows that it is the newest state runs "slipway trust renew".`,
  );
});

it.each([
  ['new', TIMESTAMP, /^$/],
  ['unproven', undefined, /^$/],
  ['expiring', TIMESTAMP, /expires at 2026-11-28.* answers 503: run "slipway trust renew"/],
  ['expired', TIMESTAMP, /expired at 2026-11-28.*: run "slipway trust renew"/],
  ['expired', undefined, /desktop has no valid signed timestamp: run "slipway trust renew"/],
] as const)('says what to do about a timestamp that is %s (%#)', (standing, newest, expected) => {
  expect(expirySentence('desktop', standing, newest) ?? '').toMatch(expected);
});
