import { createHash } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { z } from 'zod';
import { AppError } from '../../errors.ts';
import { privateKeySetSchema } from './signing-keys-schema.ts';

/** The keys that sign access tokens: Ed25519, as a private JWKS (RFC 7517, RFC 8037). */
export interface KeySet {
  /** The first one; the others only verify, so that tokens outlive a rotation. */
  readonly signing: { readonly kid: string; readonly key: CryptoKey };
  /** Imported once: checking a token imports nothing. */
  verifying(kid: string): CryptoKey | undefined;
  /** What `/.well-known/jwks.json` answers: nothing private. */
  readonly publicKeys: readonly JWK[];
}

export const SIGNATURE_ALGORITHM = 'EdDSA';

/** @throws AppError `invalid_configuration` */
export async function importKeySet(json: string): Promise<KeySet> {
  const keys = parseKeySet(json);
  try {
    const imported = await Promise.all(
      keys.map(async ({ d, ...publicKey }) => ({
        kid: publicKey.kid,
        publicKey: { ...publicKey, alg: SIGNATURE_ALGORITHM, use: 'sig' },
        verifying: await importKey(publicKey),
        signing: await importKey({ ...publicKey, d }),
      })),
    );
    const byKid = new Map(imported.map(({ kid, verifying }) => [kid, verifying]));
    const [first] = imported;
    if (first === undefined) throw invalid();
    return {
      signing: { kid: first.kid, key: first.signing },
      verifying: (kid) => byKid.get(kid),
      publicKeys: imported.map(({ publicKey }) => publicKey),
    };
  } catch (error) {
    throw invalid(error);
  }
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  return (await importJWK(jwk, SIGNATURE_ALGORITHM)) as CryptoKey;
}

function parseKeySet(json: string): z.output<typeof privateKeySetSchema>['keys'] {
  try {
    return privateKeySetSchema.parse(JSON.parse(json)).keys;
  } catch (error) {
    throw invalid(error);
  }
}

function invalid(cause?: unknown): AppError {
  return new AppError(
    'invalid_configuration',
    'ACCESS_TOKEN_KEYS is not a JWKS of private Ed25519 keys; "slipway keys" makes one.',
    { cause },
  );
}

/** A private JWKS with one new key. */
export async function createKeySet(): Promise<string> {
  return JSON.stringify({ keys: [await createKey()] });
}

/**
 * One step of a rotation. Replicas must know a key before one of them signs with it, and know the old
 * one for as long as its tokens live: `add` a key, deploy; `switch` to it, deploy; `retire` the others.
 *
 * @throws AppError `invalid_configuration`; `status_forbids` for a step that would change nothing
 */
export async function rotateKeySet(
  json: string,
  step: 'add' | 'switch' | 'retire',
): Promise<string> {
  const keys = parseKeySet(json);
  if (step !== 'add' && keys.length === 1) {
    throw new AppError(
      'status_forbids',
      `There is one key only: nothing to ${step}. Begin with --add.`,
    );
  }
  if (step === 'add') return JSON.stringify({ keys: [...keys, await createKey()] });
  if (step === 'retire') return JSON.stringify({ keys: keys.slice(0, 1) });
  return JSON.stringify({ keys: [...keys.slice(-1), ...keys.slice(0, -1)] });
}

async function createKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(SIGNATURE_ALGORITHM, {
    crv: 'Ed25519',
    extractable: true,
  });
  const { x = '', d = '' } = await exportJWK(privateKey);
  // Named by itself; a few letters are enough to tell a few keys apart.
  const kid = createHash('sha256').update(x).digest('base64url').slice(0, 16);
  return { kty: 'OKP', crv: 'Ed25519', kid, x, d };
}
