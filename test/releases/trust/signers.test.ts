import { generateKeyPairSync } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  parsePublicKey,
  publicKeyFromTuf,
  tufKeyOf,
} from '../../../src/catalog/trust/public-key.ts';
import { isSignedBy, signRevision } from '../../../src/catalog/trust/revision-signature.ts';
import {
  asn1FromJoined,
  isAsn1Signature,
  joinedFromAsn1,
} from '../../../src/catalog/trust/signature-encoding.ts';
import { signWith } from '../../../src/catalog/trust/signer.ts';
import { createKeyFiles } from '../../../src/features/trust/new-key.ts';
import { createCommandSigner } from '../../../src/releases/trust/command-signer.ts';
import { openSigner } from '../../../src/releases/trust/open-signer.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { makeSigner } from '../../support/trust.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const at = (name: string): string => path.join(temporary.path, name);
const nobody = async (): Promise<string> => {
  throw new Error('no passphrase');
};
const bytes = Buffer.from('what is signed');

describe('encodings of ECDSA signatures', () => {
  it('every pair of numbers survives both directions', () => {
    const number = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((all) => {
      // Small numbers have leading zeros, and large ones the highest bit.
      return Uint8Array.from(all, (byte, index) => (index < (all[0] ?? 0) % 33 ? 0 : byte));
    });
    fc.assert(
      fc.property(number, number, (r, s) => {
        const joined = Buffer.concat([r, s]);
        const encoded = asn1FromJoined(joined);
        expect(isAsn1Signature(encoded)).toBe(true);
        expect(Buffer.from(joinedFromAsn1(encoded)).equals(joined)).toBe(true);
      }),
    );
  });

  it('other bytes are no signature', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (any) => {
        try {
          expect(joinedFromAsn1(any)).toHaveLength(64);
        } catch (error) {
          expect(error).toMatchObject({ code: 'signer_failed' });
        }
      }),
    );
  });
});

describe.each(['ed25519', 'p256'] as const)('a key of the kind %s', (kind) => {
  it('signs revisions and TUF metadata, and has one id', async () => {
    const signer = makeSigner('any', kind);
    const signature = await signRevision(signer, 'a'.repeat(64));
    expect(await isSignedBy(signer.key, signature, 'a'.repeat(64))).toBe(true);
    expect(await isSignedBy(signer.key, signature, 'b'.repeat(64))).toBe(false);
    expect(await isSignedBy(makeSigner('other', kind).key, signature, 'a'.repeat(64))).toBe(false);
    const tuf = tufKeyOf(signer.key);
    expect(publicKeyFromTuf(tuf)?.id).toBe(signer.key.id);
    Object.assign(tuf, { keyID: 'f'.repeat(64) });
    expect(publicKeyFromTuf(tuf)).toBeUndefined();
  });

  it('is in two files, and the private one opens with its passphrase only', async () => {
    const file = at(`${kind}.key`);
    const key = await createKeyFiles({ file, passphrase: 'a long one', isP256: kind === 'p256' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(parsePublicKey(await readFile(at(`${kind}.pub`), 'utf8'), 'x').id).toBe(key.id);
    const signer = await openSigner(file, async () => 'a long one');
    expect((await signWith(signer, bytes)).length).toBe(64);
    await expect(openSigner(file, async () => 'another')).rejects.toThrow(
      'the passphrase is wrong',
    );
    await expect(createKeyFiles({ file, passphrase: undefined, isP256: false })).rejects.toThrow(
      'exists',
    );
  });

  it('may be behind a command, in each encoding that key stores print', async () => {
    const file = at(`plain-${kind}.key`);
    await createKeyFiles({ file, passphrase: undefined, isP256: kind === 'p256' });
    const digest = kind === 'p256' ? '-sha256 -sign' : '';
    const raw =
      kind === 'p256'
        ? `openssl dgst ${digest} ${file}`
        : `cat > ${file}.in; openssl pkeyutl -sign -rawin -inkey ${file} -in ${file}.in`;
    for (const command of [
      raw,
      `(${raw}) | base64 -w0`,
      `(${raw}) | od -An -v -tx1 | tr -d ' \\n'`,
    ]) {
      const signer = await openSigner(`command:${at(`plain-${kind}.pub`)}:${command}`, nobody);
      expect((await signWith(signer, bytes)).length).toBe(64);
    }
  });
});

describe('a signer that fails', () => {
  const { key } = makeSigner('any');
  it.each([
    ['hangs', 'sleep 60', /did not answer within 0.2 s/],
    ['hangs in another session', 'setsid sleep 60', /did not answer within 0.2 s/],
    ['prints garbage', 'echo garbage', /returned 8 bytes that are not a signature/],
    ['prints too much', 'yes', /printed more than a signature/],
    ['signs with another key', `head -c 64 /dev/zero`, /not a signature by key/],
    ['fails', 'echo no token >&2; exit 3', /failed with exit code 3: no token/],
    ['does not exist', 'no-such-command-here', /failed with exit code 127/],
  ])('%s: nothing is signed, and the message says why', async (_name, command, message) => {
    const signer = createCommandSigner(key, command, {
      timeoutMs: command.includes('sleep 60') ? 200 : 20_000,
    });
    await expect(signWith(signer, bytes)).rejects.toMatchObject({
      code: 'signer_failed',
      message: expect.stringMatching(message),
    });
  });
});

describe('a wrong key file', () => {
  it.each([
    ['none.key', undefined, 'does not exist'],
    ['text.key', 'hello', 'is not a private key in PKCS #8'],
    ['large.key', 'x'.repeat(20_000), 'is larger than any key'],
  ])('%s', async (name, content, message) => {
    if (content !== undefined) await writeFile(at(name), content);
    await expect(openSigner(at(name), nobody)).rejects.toThrow(message);
  });

  it('an RSA key, a public key, and a private key as a public one', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await expect(openSigner(pem, nobody)).rejects.toThrow('neither Ed25519 nor ECDSA on P-256');
    const open = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    await expect(openSigner(open, nobody)).rejects.toThrow('is a public key');
    expect(() => parsePublicKey(pem, 'k1.key')).toThrow('k1.key is a private key');
    expect(() => parsePublicKey('hello', 'k1.pub')).toThrow('is not a public key in PEM');
  });
});
