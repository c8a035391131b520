import { base64url, flattenedVerify } from 'jose';
import type { DocumentSignature } from '../../store/sequence/envelope.ts';
import type { PublicKey } from './public-key.ts';
import { type Signer, signWith } from './signer.ts';

/**
 * The signature of a catalog revision: a detached JWS (RFC 7515, appendix F) whose payload is the digest of the
 * revision. The same keys sign TUF metadata. No signature of one kind is valid as the other: what a JWS signs begins
 * with the base64 of its header, and TUF metadata begin with a brace.
 */

const TYPE = 'slipway-catalog-revision';
const ALGORITHMS = { Ed25519: 'EdDSA', 'P-256': 'ES256' } as const;

/** @throws AppError `signer_failed` */
export async function signRevision(signer: Signer, digest: string): Promise<DocumentSignature> {
  const { id, algorithm } = signer.key;
  const header = base64url.encode(
    JSON.stringify({ alg: ALGORITHMS[algorithm], kid: id, typ: TYPE }),
  );
  const input = Buffer.from(`${header}.${base64url.encode(digest)}`);
  const signature = base64url.encode(await signWith(signer, input));
  return { key_id: id, jws: `${header}..${signature}` };
}

/** True when the key made the signature for a revision with this digest. */
export async function isSignedBy(
  { id, algorithm, key }: PublicKey,
  { key_id: keyId, jws }: DocumentSignature,
  digest: string,
): Promise<boolean> {
  const [header = '', payload, signature = ''] = jws.split('.');
  if (keyId !== id || payload !== '') return false;
  try {
    const { protectedHeader } = await flattenedVerify(
      { protected: header, payload: base64url.encode(digest), signature },
      key,
      { algorithms: [ALGORITHMS[algorithm]] },
    );
    return protectedHeader?.typ === TYPE && protectedHeader.kid === id;
  } catch {
    return false;
  }
}
