import type { OfferJson } from '../../src/catalog/documents/revision-document.ts';

/** An active offer as a revision states it. */
export function offerJson(
  version: string,
  artifacts: OfferJson['artifacts'],
  over: Partial<OfferJson> = {},
): OfferJson {
  return {
    version,
    status: 'active',
    reason: null,
    manifest: { number: 1, digest: `sha256:${'0'.repeat(64)}` },
    released_at: '2026-11-21T09:00:00Z',
    requires: null,
    mandatory_for: null,
    artifacts,
    ...over,
  };
}
