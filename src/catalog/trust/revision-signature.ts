import type { DocumentSignature } from '../../store/sequence/envelope.ts';
import { isDetachedBy, type Signed, signDetached } from './detached-jws.ts';
import type { PublicKey } from './public-key.ts';
import type { Signer } from './signer.ts';

/** The signature of a catalog revision by an operator. Its payload is the digest of the revision. */

const signed = (digest: string): Signed => ({ type: 'slipway-catalog-revision', payload: digest });

/** @throws AppError `signer_failed` */
export function signRevision(signer: Signer, digest: string): Promise<DocumentSignature> {
  return signDetached(signer, signed(digest));
}

/** True when the key made the signature for a revision with this digest. */
export function isSignedBy(
  key: PublicKey,
  signature: DocumentSignature,
  digest: string,
): Promise<boolean> {
  return isDetachedBy(key, signature, signed(digest));
}
