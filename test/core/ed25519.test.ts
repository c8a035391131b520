import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEdCheck } from '../../src/core/ed25519.ts';
import { rounds } from '../support/rounds.ts';
import { isAcceptedBySparkle, makeSparkleKey } from '../support/sparkle-key.ts';
import { WEAK_ED_KEYS } from '../support/weak-ed-keys.ts';

/** Ed25519 in chunks, held against Node's own and against RFC 8032. */

function isValid(publicKey: Uint8Array, chunks: readonly Uint8Array[], signature: Uint8Array) {
  const check = createEdCheck(publicKey, signature);
  for (const chunk of chunks) check.update(chunk);
  return check.isValid();
}

const hex = (text: string) => Buffer.from(text, 'hex');

describe('createEdCheck', () => {
  // RFC 8032, section 7.1, tests 1 to 3.
  it.each([
    [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
  ])('accepts the example with the key %s', (key, message, signature) => {
    expect(isValid(hex(key), [hex(message)], hex(signature))).toBe(true);
    expect(isValid(hex(key), [hex(message), hex('00')], hex(signature))).toBe(false);
  });

  it('agrees with Node for any file in any chunks, and any changed bit of the signature', () => {
    const key = makeSparkleKey();
    const publicKey = Buffer.from(key.publicKey, 'base64');
    const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 });
    fc.assert(
      fc.property(chunks, fc.nat(64 * 8 - 1), fc.boolean(), (parts, bit, isChanged) => {
        const whole = Buffer.concat(parts);
        const signature = Buffer.from(key.sign(whole), 'base64');
        if (isChanged) signature[bit >> 3] = (signature[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const expected = isAcceptedBySparkle(key.publicKey, whole, signature.toString('base64'));
        expect(isValid(publicKey, parts, signature)).toBe(expected);
        expect(expected).toBe(!isChanged);
      }),
      { numRuns: rounds(20, 40) },
    );
  });

  // Node 22.19 verifies one in eight of these signatures; newer versions of Node refuse them, as Slipway does on each.
  it('says that no file is signed with a key of small order', () => {
    for (const key of WEAK_ED_KEYS) {
      for (const point of WEAK_ED_KEYS) {
        const signature = Buffer.concat([point, Buffer.alloc(32)]);
        for (const file of ['a', 'b', 'c', 'd'].map((text) => Buffer.from(text))) {
          expect(isValid(key, [file], signature)).toBe(false);
        }
      }
    }
  });

  it('refuses the number of a signature with the order of the group added to it', () => {
    const key = makeSparkleKey();
    const signature = Buffer.from(key.sign(Buffer.from('x')), 'base64');
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`);
    const other = hex((s + order).toString(16).padStart(64, '0')).reverse();
    const publicKey = Buffer.from(key.publicKey, 'base64');
    const changed = Buffer.concat([signature.subarray(0, 32), other]);
    expect(isValid(publicKey, [Buffer.from('x')], signature)).toBe(true);
    expect(isValid(publicKey, [Buffer.from('x')], changed)).toBe(false);
  });

  it.each([0, 1, 63, 65, 96])('refuses a signature of %s bytes', (length) => {
    const key = makeSparkleKey();
    const signature = Buffer.concat([
      Buffer.from(key.sign(Buffer.from('x')), 'base64'),
      Buffer.alloc(32),
    ]).subarray(0, length);
    const publicKey = Buffer.from(key.publicKey, 'base64');
    expect(isValid(publicKey, [Buffer.from('x')], signature)).toBe(false);
  });

  it('takes no random bytes for a key or a signature', () => {
    for (let n = 0; n < 10; n++) {
      expect(isValid(randomBytes(32), [Buffer.from('x')], randomBytes(64))).toBe(false);
    }
  });
});
