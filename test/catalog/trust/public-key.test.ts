import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { canonicalize } from '@tufjs/canonical-json';
import { Key } from '@tufjs/models';
import { describe, expect, it } from 'vitest';
import {
  parsePublicKey,
  publicKeyFromTuf,
  publicKeyOf,
  tufKeyOf,
} from '../../../src/catalog/trust/public-key.ts';
import { makeSigner } from '../../support/trust.ts';
import { WEAK_ED_KEYS } from '../../support/weak-ed-keys.ts';

/** A weak key of a person would count towards a threshold, and an attacker can sign for it without a private key. */

const nodeKeyOf = (bytes: Uint8Array): KeyObject => {
  const x = Buffer.from(bytes).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
};

function tufKeyWith(hex: string): Key {
  const json = { keytype: 'ed25519', scheme: 'ed25519', keyval: { public: hex } };
  return Key.fromJSON(createHash('sha256').update(canonicalize(json)).digest('hex'), json);
}

describe('a weak Ed25519 key', () => {
  it.each(WEAK_ED_KEYS.map((bytes) => bytes.toString('hex')))('%s is refused', (hex) => {
    const key = nodeKeyOf(Buffer.from(hex, 'hex'));
    const weak = expect.objectContaining({
      code: 'invalid_configuration',
      message: expect.stringMatching(/^The Ed25519 key is weak: .* "slipway trust new-key/),
    });
    expect(() => publicKeyOf(key)).toThrow(weak);
    const pem = key.export({ type: 'spki', format: 'pem' }).toString();
    expect(() => parsePublicKey(pem, 'k1.pub')).toThrow(weak);
    expect(publicKeyFromTuf(tufKeyWith(hex))).toBeUndefined();
  });

  it('is refused as it is among good keys: they have the same form', () => {
    const { key } = makeSigner('good');
    expect(publicKeyFromTuf(tufKeyWith(tufKeyOf(key).keyVal.public ?? ''))?.id).toBe(key.id);
  });
});
