import { constants, createHash, type KeyObject, verify, type X509Certificate } from 'node:crypto';
import { type BaseBlock, OctetString, Sequence } from 'asn1js';
import { bytesOf, childrenOf, contentBytesOf, oidOf, tagOf } from './asn1-block.ts';

/**
 * Verifies that the key of a certificate made an Authenticode signature. Without this, an attacker copies the public
 * certificate of a publisher into a program of another origin, and the program seems to be signed by that publisher.
 *
 * Whether the certificate itself is genuine is for the system to decide: only Windows has the list of authorities.
 */

/** The names that `createHash` knows, by object identifier. */
export const HASHES: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

interface SignatureAlgorithm {
  /** The types of keys that make such a signature, as Node names them. */
  readonly keys: readonly string[];
  readonly padding?: number;
}

const RSA: SignatureAlgorithm = { keys: ['rsa'], padding: constants.RSA_PKCS1_PADDING };
const RSA_PSS: SignatureAlgorithm = {
  keys: ['rsa', 'rsa-pss'],
  padding: constants.RSA_PKCS1_PSS_PADDING,
};
const ECDSA: SignatureAlgorithm = { keys: ['ec'] };

/** Some of these names stand for a hash too. Only the digest algorithm of the `SignerInfo` decides about the hash. */
const SIGNATURE_ALGORITHMS: Readonly<Record<string, SignatureAlgorithm>> = {
  '1.2.840.113549.1.1.1': RSA,
  '1.2.840.113549.1.1.5': RSA,
  '1.2.840.113549.1.1.11': RSA,
  '1.2.840.113549.1.1.12': RSA,
  '1.2.840.113549.1.1.13': RSA,
  '1.2.840.113549.1.1.10': RSA_PSS,
  '1.2.840.10045.2.1': ECDSA,
  '1.2.840.10045.4.1': ECDSA,
  '1.2.840.10045.4.3.2': ECDSA,
  '1.2.840.10045.4.3.3': ECDSA,
  '1.2.840.10045.4.3.4': ECDSA,
};

const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
/** The tag of a SET, which stands in the signed bytes in place of the tag of the field. RFC 5652, section 5.4. */
const SET_TAG = 0x31;

export interface SignedContent {
  /** Undefined when the signature does not contain the certificate of its signer. */
  readonly certificate: X509Certificate | undefined;
  readonly signerInfo: BaseBlock | undefined;
  /** The object identifier of the content's type. */
  readonly contentType: string;
  readonly content: BaseBlock | undefined;
}

/** @returns why the signature cannot be verified, as a part of a sentence; undefined: the certificate's key made it */
export function findSignerProblem(signed: SignedContent): string | undefined {
  const { certificate, signerInfo, content } = signed;
  const [, , digestAlgorithm, ...fields] = childrenOf(signerInfo);
  const attributes = fields.find((each) => tagOf(each) === 0);
  const [algorithm, value] = fields.filter((each) => tagOf(each) === undefined);
  if (certificate === undefined) return 'it does not contain the certificate of its signer';
  if (!(content instanceof Sequence) || !(value instanceof OctetString)) {
    return 'it does not have the structure of an Authenticode signature';
  }
  const hash = HASHES[oidOf(childrenOf(digestAlgorithm)[0]) ?? ''];
  const scheme = SIGNATURE_ALGORITHMS[oidOf(childrenOf(algorithm)[0]) ?? ''];
  if (hash === undefined) return unknownAlgorithm(digestAlgorithm);
  if (scheme === undefined) return unknownAlgorithm(algorithm);
  const bytes = contentBytesOf(content);
  const problem = attributes && findAttributeProblem(attributes, signed.contentType, bytes, hash);
  if (problem !== undefined) return problem;
  const made = Buffer.from(value.valueBlock.valueHexView);
  const covered = attributes === undefined ? bytes : signedAttributes(attributes);
  return isMadeBy(certificate, scheme, { hash, covered, made })
    ? undefined
    : 'the key of its certificate did not make it';
}

function unknownAlgorithm(block: BaseBlock | undefined): string {
  const name = oidOf(childrenOf(block)[0]) ?? 'without a name';
  return `it uses the algorithm ${name}, which Slipway does not know`;
}

/** The signature covers the attributes, and the attributes state the digest of the content: RFC 5652, section 5.3. */
function findAttributeProblem(
  attributes: BaseBlock,
  contentType: string,
  content: Buffer,
  hash: string,
): string | undefined {
  const attributeOf = (type: string): BaseBlock | undefined => {
    const found = childrenOf(attributes).filter((each) => oidOf(childrenOf(each)[0]) === type);
    const values = found.flatMap((each) => childrenOf(childrenOf(each)[1]));
    // With two values, another program may read the other one.
    return values.length === 1 ? values[0] : undefined;
  };
  if (oidOf(attributeOf(CONTENT_TYPE)) !== contentType) {
    return 'its attributes do not state the type of its content';
  }
  const stated = attributeOf(MESSAGE_DIGEST);
  const digest = createHash(hash).update(content).digest();
  const isStated =
    stated instanceof OctetString && digest.equals(Buffer.from(stated.valueBlock.valueHexView));
  return isStated ? undefined : 'its attributes do not state the digest of its content';
}

function signedAttributes(attributes: BaseBlock): Buffer {
  const bytes = bytesOf(attributes);
  bytes[0] = SET_TAG;
  return bytes;
}

function isMadeBy(
  certificate: X509Certificate,
  { keys, padding }: SignatureAlgorithm,
  {
    hash,
    covered,
    made,
  }: { readonly hash: string; readonly covered: Buffer; readonly made: Buffer },
): boolean {
  try {
    const key: KeyObject = certificate.publicKey;
    if (!keys.includes(key.asymmetricKeyType ?? '')) return false;
    return verify(hash, covered, padding === undefined ? { key } : { key, padding }, made);
  } catch {
    // OpenSSL does not read the key, or the key is too short for the hash.
    return false;
  }
}
