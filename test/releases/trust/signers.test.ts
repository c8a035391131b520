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

  it.each(['latin1', 'base64', 'hex'])(
    'may be behind a command that prints %s',
    async (encoding) => {
      const file = at(`${encoding}-${kind}.key`);
      await createKeyFiles({ file, passphrase: undefined, isP256: kind === 'p256' });
      const command = await nodeCommand(
        `${encoding}-${kind}`,
        `
      const { readFileSync } = require('node:fs');
      const key = readFileSync(${JSON.stringify(file)});
      const hash = ${kind === 'p256' ? "'sha256'" : 'null'};
      const signature = require('node:crypto').sign(hash, readFileSync(0), key);
      process.stdout.write(signature.toString('${encoding}'), '${encoding === 'latin1' ? encoding : 'utf8'}');`,
      );
      const signer = await openSigner(
        `command:${at(`${encoding}-${kind}.pub`)}:${command}`,
        nobody,
      );
      expect((await signWith(signer, bytes)).length).toBe(64);
    },
  );
});

/** A command that runs a program of Node. */
async function nodeCommand(name: string, program: string): Promise<string> {
  const file = at(`${name}.cjs`);
  await writeFile(file, program);
  return `"${process.execPath}" "${file}"`;
}

const WAIT = 'setTimeout(() => {}, 10_000);';
/** In a session of its own, so that no signal to the group of the command ends it. */
const WAIT_ELSEWHERE = `require('node:child_process').spawn(process.execPath, ['--eval', ${JSON.stringify(WAIT)}], { detached: true, stdio: 'inherit' });`;

describe('a signer that fails', () => {
  const { key } = makeSigner('any');
  it.each([
    ['hangs', WAIT, /did not answer within 0.2 s/],
    ['hangs in another session', WAIT_ELSEWHERE, /did not answer within 0.2 s/],
    ['prints garbage', "console.log('garbage')", /returned 8 bytes that are not a signature/],
    [
      'prints too much',
      "for (;;) require('node:fs').writeSync(1, 'y');",
      /printed more than a signature/,
    ],
    ['signs with another key', 'process.stdout.write(Buffer.alloc(64))', /not a signature by key/],
    ['fails', "console.error('no token'); process.exit(3)", /failed with exit code 3: no token/],
  ])('%s: nothing is signed, and the message says why', async (name, program, message) => {
    const signer = createCommandSigner(key, await nodeCommand(name.replaceAll(' ', '-'), program), {
      timeoutMs: name.startsWith('hangs') ? 200 : 20_000,
    });
    await expect(signWith(signer, bytes)).rejects.toMatchObject({
      code: 'signer_failed',
      message: expect.stringMatching(message),
    });
  });

  it('does not exist: nothing is signed, and the message has its exit code', async () => {
    // The shell of Windows exits with 1, and other shells with 127.
    const message = process.platform === 'win32' ? /with exit code 1/ : /with exit code 127/;
    await expect(
      signWith(createCommandSigner(key, 'no-such-command-here'), bytes),
    ).rejects.toMatchObject({
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
