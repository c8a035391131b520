import type { RevisionJson } from '../../catalog/documents/revision-document.ts';
import type { ReaderDeps } from '../../catalog/reading/read.ts';

/** An offer that no client sees, because too few keys of its channel signed it. */
export interface UncoveredOffer {
  readonly channel: string;
  readonly version: string;
}

/**
 * Finds the active offers that the roles of a revision do not cover. Loads the code that verifies only for a signed
 * catalog.
 *
 * @throws AppError `document_corrupt`, `store_unavailable`, `store_denied`
 */
export async function findUncovered(
  { trust: given }: Pick<ReaderDeps, 'trust'>,
  revision: RevisionJson,
): Promise<readonly UncoveredOffer[]> {
  const { application, channels } = revision;
  const trust = given?.of(application);
  const roles = await trust?.rolesOf(revision);
  if (roles === undefined) return [];
  const { coverageOf } = await import('../../catalog/trust/application-trust.ts');
  const { covers } = coverageOf(application, roles);
  return Object.entries(channels).flatMap(([channel, { offers }]) =>
    offers
      .filter((offer) => offer.status === 'active' && !covers(channel, offer))
      .map(({ version }) => ({ channel, version })),
  );
}
