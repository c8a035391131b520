import { AppError } from '../../core/errors.ts';
import { isSignatureOf, type PublicKey, shortId } from './public-key.ts';
import { isAsn1Signature, joinedFromAsn1 } from './signature-encoding.ts';

/** Signs with one private key, which may be outside this process: in a file, or behind a command. */
export interface Signer {
  readonly key: PublicKey;
  /** The private key as messages name it: its file or its command. */
  readonly name: string;
  /**
   * Signs the bytes. Both encodings of ECDSA signatures are allowed.
   *
   * @throws AppError `signer_failed`
   */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

/**
 * Signs, and verifies the signature: a wrong key behind a command must not make a document that every reader refuses.
 *
 * @returns an Ed25519 signature, or the two numbers of an ECDSA signature, one after the other
 * @throws AppError `signer_failed`
 */
export async function signWith(signer: Signer, bytes: Uint8Array): Promise<Uint8Array> {
  const { key, name } = signer;
  const given = await signer.sign(bytes);
  const isAsn1 = key.algorithm === 'P-256' && isAsn1Signature(given);
  const candidates = isAsn1 ? [given, joinedFromAsn1(given)] : [given];
  const joined = candidates.find((each) => each.length === 64 && isSignatureOf(key, bytes, each));
  if (joined !== undefined) return joined;
  throw new AppError(
    'signer_failed',
    `${name} returned ${given.length} bytes that are not a signature by key ${shortId(key.id)}. Check that the command signs with the private key of that public key, and that it prints nothing but the signature.`,
  );
}
