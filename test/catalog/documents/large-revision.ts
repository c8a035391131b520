import type { OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';

/** Catalog revisions with thousands of offers. */

const ARTIFACTS: OfferJson['artifacts'] = (['windows', 'macos', 'linux'] as const).flatMap((os) =>
  (['x64', 'arm64'] as const).flatMap((arch) =>
    (['zip', 'tar.gz'] as const).map((format) => ({
      os,
      arch,
      format,
      minimum_os_version: '10.0.19045',
      signature_schemes: ['minisign' as const],
    })),
  ),
);

/** A dozen artifacts, both ranges, a version of some length: more than most releases have. */
export const offerOf = (number: number): OfferJson => ({
  version: `${number}.0.0-nightly.20261121`,
  status: 'active',
  reason: null,
  manifest: { number: 1, digest: '0'.repeat(64) },
  released_at: '2026-11-21T09:00:00.000Z',
  requires: '>=1.0.0 <999999.0.0',
  mandatory_for: '<0.9.0',
  artifacts: ARTIFACTS,
});

/** The revision is in a new store in memory unless another store is given. */
export function setUpLarge(given?: ObjectStore) {
  const clock = createFixedClock();
  const store = given ?? createMemoryStore({ clock });
  const deps = { store, clock, randomness: createSeededRandomness(1), actor: 'test' };
  const offer = (count: number) => {
    const offers = Array.from({ length: count }, (_, index) => offerOf(index + 1));
    return changeCatalog(deps, 'desktop', () => ({
      plan: undefined,
      edit: {
        change: { kind: 'publish', version: '1.0.0', channels: ['stable'], reason: null },
        channels: { stable: { inherits: null, offers, retired: [] } },
      },
    }));
  };
  return { deps, store, offer };
}
