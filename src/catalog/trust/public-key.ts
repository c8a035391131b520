import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { canonicalize } from '@tufjs/canonical-json';
import { Key } from '@tufjs/models';
import { isEdPublicKey } from '../../core/ed25519-point.ts';
import { AppError } from '../../core/errors.ts';
import { asn1FromJoined } from './signature-encoding.ts';

/** A public key of a person or a machine: Ed25519, or ECDSA on P-256. */
export interface PublicKey {
  /** The TUF key id: the SHA-256 of the key's canonical JSON, in hex. It follows from the key, so one key has one id. */
  readonly id: string;
  readonly algorithm: 'Ed25519' | 'P-256';
  readonly key: KeyObject;
}

/** The first characters of a key id, for people. */
export function shortId(id: string): string {
  return id.slice(0, 12);
}

/** @throws AppError `invalid_configuration` for another kind of key, and for a weak key */
export function publicKeyOf(key: KeyObject): PublicKey {
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) {
    throw new AppError(
      'invalid_configuration',
      'The key is neither Ed25519 nor ECDSA on P-256. Make one with "slipway trust new-key NAME.key".',
    );
  }
  // An attacker who brings a key of small order signs as its owner, and the owner never had a private key.
  if (algorithm === 'Ed25519' && !isEdPublicKey(rawKeyOf(key))) {
    throw new AppError(
      'invalid_configuration',
      'The Ed25519 key is weak: it has a small order, so that an attacker can sign without its private key, or it is no point of the curve. Make another key with "slipway trust new-key NAME.key".',
    );
  }
  return { id: idOf(tufKeyJson({ algorithm, key })), algorithm, key };
}

/** The 32 bytes of an Ed25519 key. */
function rawKeyOf(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function algorithmOf(key: KeyObject): PublicKey['algorithm'] | undefined {
  if (key.asymmetricKeyType === 'ed25519') return 'Ed25519';
  const curve = key.asymmetricKeyDetails?.namedCurve;
  return key.asymmetricKeyType === 'ec' && curve === 'prime256v1' ? 'P-256' : undefined;
}

/**
 * Parses a public key in PEM.
 *
 * @param name the name of the file, for messages
 * @throws AppError `invalid_configuration`
 */
export function parsePublicKey(pem: string, name: string): PublicKey {
  if (pem.includes('PRIVATE KEY')) {
    throw new AppError(
      'invalid_configuration',
      `${name} is a private key. Give the public key, which "slipway trust new-key" wrote beside it: NAME.pub.`,
    );
  }
  return publicKeyOf(readKey(pem, name));
}

function readKey(pem: string, name: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw new AppError('invalid_configuration', `${name} is not a public key in PEM.`, {
      cause: error,
    });
  }
}

/** The key as TUF metadata state it (TUF specification, section 4.2). */
export function tufKeyOf(key: PublicKey): Key {
  return Key.fromJSON(key.id, tufKeyJson(key));
}

function tufKeyJson({ algorithm, key }: Pick<PublicKey, 'algorithm' | 'key'>) {
  if (algorithm === 'P-256') {
    const pem = key.export({ type: 'spki', format: 'pem' }).toString();
    return { keytype: 'ecdsa', scheme: 'ecdsa-sha2-nistp256', keyval: { public: pem } };
  }
  const hex = rawKeyOf(key).toString('hex');
  return { keytype: 'ed25519', scheme: 'ed25519', keyval: { public: hex } };
}

function idOf(json: object): string {
  return createHash('sha256').update(canonicalize(json)).digest('hex');
}

/**
 * Reads a key from TUF metadata.
 *
 * @returns undefined for a key of another kind, for a weak key, and for a key whose id does not follow from it: one
 *   key must not count twice
 */
export function publicKeyFromTuf(key: Key): PublicKey | undefined {
  const value = key.keyVal.public ?? '';
  try {
    const x = Buffer.from(value, 'hex').toString('base64url');
    const found = publicKeyOf(
      createPublicKey(
        key.keyType === 'ed25519'
          ? { key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }
          : value,
      ),
    );
    return found.id === key.keyID && idOf(key.toJSON()) === key.keyID ? found : undefined;
  } catch {
    return undefined;
  }
}

/** @param joined an Ed25519 signature, or the two numbers of an ECDSA signature, one after the other */
export function isSignatureOf(
  { algorithm, key }: PublicKey,
  bytes: Uint8Array,
  joined: Uint8Array,
): boolean {
  if (algorithm === 'Ed25519') return verify(null, bytes, key, joined);
  return verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, joined);
}

/** @param hex the signature as TUF metadata state it */
export function isTufSignatureOf(
  { algorithm, key }: PublicKey,
  bytes: Uint8Array,
  hex: string,
): boolean {
  return verify(algorithm === 'P-256' ? 'sha256' : null, bytes, key, Buffer.from(hex, 'hex'));
}

/** The signature as TUF metadata state it, in hex. */
export function tufSignature({ algorithm }: PublicKey, joined: Uint8Array): string {
  const bytes = algorithm === 'P-256' ? asn1FromJoined(joined) : joined;
  return Buffer.from(bytes).toString('hex');
}
