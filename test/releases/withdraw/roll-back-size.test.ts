import { expect, it } from 'vitest';
import type { OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { foreseeRollback } from '../../../src/releases/withdraw/roll-back.ts';
import { offerJson } from '../offer-json.ts';

it('a rollback looks at each release a bounded number of times', () => {
  const COUNT = 1_000;
  let looked = 0;
  const offers = Array.from({ length: COUNT }, (_, index) => {
    const { version, ...offer } = offerJson(`${index + 1}.0.0`, [
      { os: 'linux', arch: 'x64', format: 'deb' },
    ]);
    return Object.defineProperty(offer as OfferJson, 'version', {
      enumerable: true,
      get: () => {
        looked++;
        return version;
      },
    });
  });
  const channel = { inherits: null, offers, retired: [] };
  const request = { application: 'desktop', to: '1.0.0', channel: 'stable', reason: null };
  const { withdrawn } = foreseeRollback({ stable: channel, beta: channel }, request, 0);
  expect(withdrawn).toHaveLength(COUNT - 1);
  // A search among all releases for each one looks a million times.
  expect(looked).toBeLessThan(100 * COUNT);
});
