import { base64url, flattenedVerify } from 'jose';
import type { DocumentSignature } from '../../store/sequence/envelope.ts';
import type { PublicKey } from './public-key.ts';
import { type Signer, signWith } from './signer.ts';

/**
 * The signatures of documents: detached JWS (RFC 7515, appendix F), with the keys that also sign TUF metadata. No
 * signature of one kind is valid as another one: the header states the type, what a JWS signs begins with the base64 of
 * its header, and TUF metadata begin with a brace.
 */

const ALGORITHMS = { Ed25519: 'EdDSA', 'P-256': 'ES256' } as const;

/** What a signature is about: its type, and its payload, which the reader knows. */
export interface Signed {
  readonly type: string;
  readonly payload: string;
}

/** @throws AppError `signer_failed` */
export async function signDetached(
  signer: Signer,
  { type, payload }: Signed,
): Promise<DocumentSignature> {
  const { id, algorithm } = signer.key;
  const header = base64url.encode(
    JSON.stringify({ alg: ALGORITHMS[algorithm], kid: id, typ: type }),
  );
  const input = Buffer.from(`${header}.${base64url.encode(payload)}`);
  const signature = base64url.encode(await signWith(signer, input));
  return { key_id: id, jws: `${header}..${signature}` };
}

/** True when the key made the signature for this payload. */
export async function isDetachedBy(
  { id, algorithm, key }: PublicKey,
  { key_id: keyId, jws }: DocumentSignature,
  { type, payload }: Signed,
): Promise<boolean> {
  const [header = '', detached, signature = ''] = jws.split('.');
  if (keyId !== id || detached !== '') return false;
  try {
    const { protectedHeader } = await flattenedVerify(
      { protected: header, payload: base64url.encode(payload), signature },
      key,
      { algorithms: [ALGORITHMS[algorithm]] },
    );
    return protectedHeader?.typ === type && protectedHeader.kid === id;
  } catch {
    return false;
  }
}

/** The signature of a catalog revision by an operator. Its payload is the digest of the revision. */
const revision = (digest: string): Signed => ({
  type: 'slipway-catalog-revision',
  payload: digest,
});

/** @throws AppError `signer_failed` */
export function signRevision(signer: Signer, digest: string): Promise<DocumentSignature> {
  return signDetached(signer, revision(digest));
}

/** True when the key made the signature for a revision with this digest. */
export function isSignedBy(
  key: PublicKey,
  signature: DocumentSignature,
  digest: string,
): Promise<boolean> {
  return isDetachedBy(key, signature, revision(digest));
}
