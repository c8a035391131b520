import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { isEdPublicKey } from '../../src/core/ed25519-point.ts';
import { WEAK_ED_KEYS } from '../support/weak-ed-keys.ts';

it('a key of small order is no public key, in whatever form', () => {
  expect(new Set(WEAK_ED_KEYS.map((bytes) => bytes.toString('hex'))).size).toBe(14);
  expect(WEAK_ED_KEYS.map(isEdPublicKey)).toEqual(WEAK_ED_KEYS.map(() => false));
});

it('a key that Node makes is one', () => {
  for (let n = 0; n < 10; n++) {
    const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    expect(isEdPublicKey(Buffer.from(x, 'base64url'))).toBe(true);
  }
});
