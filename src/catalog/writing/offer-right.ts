import type { TrustJson } from '../documents/trust-document.ts';
import type { OfferRight, SigningDeps } from '../trust/trust.ts';

/**
 * Opens the right to offer releases on the state of a catalog. Loads the code that signs only for a signed catalog,
 * because loading it takes longer than the rest of many commands.
 *
 * @param number the number of the next revision
 * @returns undefined when operators alone decide what channels offer
 * @throws AppError `invalid_configuration`, `key_required`
 */
export async function openOfferRight(
  deps: SigningDeps,
  application: string,
  number: number,
  present: TrustJson | undefined,
): Promise<OfferRight | undefined> {
  if (deps.trust?.of(application) === undefined) return undefined;
  const { openSignedRight } = await import('./signing.ts');
  return openSignedRight(deps, application, number, present);
}
