import { expect, it, vi } from 'vitest';
import type { OfferJson } from '../../src/catalog/revision-document.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { planRollback } from '../../src/operations/roll-back.ts';
import { createFixedClock } from '../support/clock.ts';
import { offerJson } from './offer-json.ts';

const catalog = vi.hoisted(() => ({ offers: [] as OfferJson[] }));
vi.mock(import('../../src/catalog/read.ts'), async (original) => ({
  ...(await original()),
  readRevision: async () => {
    const channel = { inherits: null, offers: catalog.offers, retired: [] };
    return { signed: { channels: { stable: channel, beta: channel } } } as never;
  },
}));

it('a rollback looks at each release a bounded number of times', async () => {
  const COUNT = 1_000;
  let looked = 0;
  catalog.offers = Array.from({ length: COUNT }, (_, index) => {
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
  const clock = createFixedClock();
  const deps = { store: createMemoryStore({ clock }), clock };
  const request = { application: 'desktop', to: '1.0.0', channel: 'stable', reason: null };
  const { withdrawn } = await planRollback(deps, request);
  expect(withdrawn).toHaveLength(COUNT - 1);
  // A search among all releases for each one looks a million times.
  expect(looked).toBeLessThan(100 * COUNT);
});
