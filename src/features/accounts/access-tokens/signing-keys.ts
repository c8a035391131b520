import { createHash } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { z } from 'zod';
import { AppError } from '../../../core/errors.ts';
import { signingKeysSchema } from './signing-keys-schema.ts';

/** The keys that sign access tokens: Ed25519, configured as a private JWKS (RFC 7517, RFC 8037). */
export interface SigningKeys {
  /**
   * The first key of the set, which signs new tokens. The other keys only verify tokens, so that tokens stay valid
   * during a rotation.
   */
  readonly signing: { readonly kid: string; readonly key: CryptoKey };
  /** The imported public key with this id; undefined for an unknown id. */
  verifying(kid: string): CryptoKey | undefined;
  /** The public parts of the keys, for the answer of `/.well-known/jwks.json`. */
  readonly publicKeys: readonly JWK[];
}

export const SIGNATURE_ALGORITHM = 'EdDSA';

/** @throws AppError `invalid_configuration` */
export async function importSigningKeys(json: string): Promise<SigningKeys> {
  const keys = parseSigningKeys(json);
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
  const key = await importJWK(jwk, SIGNATURE_ALGORITHM);
  // When jose returns bytes, the key is symmetric.
  if (key instanceof Uint8Array) throw invalid();
  return key;
}

function parseSigningKeys(json: string): z.output<typeof signingKeysSchema>['keys'] {
  try {
    return signingKeysSchema.parse(JSON.parse(json)).keys;
  } catch (error) {
    throw invalid(error);
  }
}

function invalid(cause?: unknown): AppError {
  return new AppError(
    'invalid_configuration',
    'ACCESS_TOKEN_KEYS is not a JWKS of private Ed25519 keys. "slipway keys" prints one.',
    { cause },
  );
}

/** A private JWKS with one new key, as JSON. */
export async function createSigningKeys(): Promise<string> {
  return JSON.stringify({ keys: [await createKey()] });
}

/**
 * One step of a rotation. The steps are: `add` a key and deploy; `switch` to it and deploy; `retire` the other keys and
 * deploy. So every replica knows a new key before a replica signs with it, and knows the old key while tokens of the
 * old key are valid.
 *
 * @param json the present private JWKS
 * @returns the next private JWKS
 * @throws AppError `invalid_configuration`; `status_forbids` for a step that would change nothing
 */
export async function rotateSigningKeys(
  json: string,
  step: 'add' | 'switch' | 'retire',
): Promise<string> {
  const keys = parseSigningKeys(json);
  if (step !== 'add' && keys.length === 1) {
    throw new AppError(
      'status_forbids',
      `Cannot ${step}: ACCESS_TOKEN_KEYS has only one key. Begin with --add.`,
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
  // The id is derived from the key, so it is the same in every place that computes it.
  const kid = createHash('sha256').update(x).digest('base64url').slice(0, 16);
  return { kty: 'OKP', crv: 'Ed25519', kid, x, d };
}
