import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProgramFacts } from '../../../src/builds/authenticode/program-facts.ts';
import { type Identity, makeIdentity, makeKey, signProgram } from '../../support/authenticode.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Who signed a Windows program: forged signatures name no publisher. */

const NAME = 'CN=Acme GmbH, O=Acme GmbH';
const NOT_MADE = 'the key of its certificate did not make it';
const NOT_STATED = 'its attributes do not state the digest of its content';

const authority = makeIdentity('Example Authority', { serial: 1 });
const acme = makeIdentity('Acme GmbH', { issuer: authority });
let withRsa: Identity;
let withPss: Identity;

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  withRsa = makeIdentity('Acme GmbH', { issuer: authority, key: makeKey('rsa') });
  withPss = makeIdentity('Acme GmbH', { issuer: authority, key: makeKey('rsa-pss') });
});

afterAll(() => directory.remove());

async function factsOf(program: Buffer) {
  const file = path.join(directory.path, 'App.exe');
  await writeFile(file, program);
  const { publisher, issuer, signatureProblem, createSignatureCheck } =
    await readProgramFacts(file);
  const check = createSignatureCheck?.();
  check?.update(program);
  return { publisher, issuer, problem: signatureProblem, fits: check?.finish() };
}

const flip = (bytes: Buffer, at: number): void => {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
};
/** Flips the last byte. */
const alter = (bytes: Buffer): void => flip(bytes, bytes.length - 1);

type Options = Parameters<typeof signProgram>[1];

describe('a signature that the key of the certificate made', () => {
  const facts = {
    publisher: NAME,
    issuer: 'CN=Example Authority, O=Example Authority',
    problem: undefined,
    fits: true,
  };

  it.each<[string, Options]>([
    ['SHA-1', { hash: 'sha1' }],
    ['SHA-256', {}],
    ['SHA-384', { hash: 'sha384' }],
    ['SHA-512', { hash: 'sha512' }],
    ['SHA-256, without signed attributes', { withoutAttributes: true }],
    ['SHA-256, as sha256WithRSAEncryption', { algorithm: '1.2.840.113549.1.1.11' }],
    ['SHA-256, as RSASSA-PSS with a key for RSA', { algorithm: '1.2.840.113549.1.1.10' }],
  ])('is verified with RSA and %s', async (_what, options) => {
    expect(await factsOf(signProgram(withRsa, options))).toEqual(facts);
  });

  it.each<[string, Options]>([
    ['SHA-1', { hash: 'sha1', algorithm: '1.2.840.10045.4.1' }],
    ['SHA-256', {}],
    ['SHA-384', { hash: 'sha384', algorithm: '1.2.840.10045.2.1' }],
    ['SHA-256, without signed attributes', { withoutAttributes: true }],
    ['SHA-256, among other certificates', { certificates: [authority, acme] }],
  ])('is verified with ECDSA and %s', async (_what, options) => {
    expect(await factsOf(signProgram(acme, options))).toEqual(facts);
  });

  it('is verified with a key for RSASSA-PSS alone', async () => {
    expect(await factsOf(signProgram(withPss))).toEqual(facts);
  });

  it('states no issuer when the certificate is signed with its own key, whatever issuer it names', async () => {
    const selfMade = makeIdentity('Acme GmbH');
    expect(await factsOf(signProgram(selfMade))).toEqual({ ...facts, issuer: null });
    const key = makeKey();
    const namesAuthority = makeIdentity('Acme GmbH', { key, issuer: { ...authority, key } });
    expect(await factsOf(signProgram(namesAuthority))).toEqual({ ...facts, issuer: null });
  });
});

it('is verified in a program that Microsoft signed', async () => {
  const package_ = createRequire(import.meta.url).resolve('electron-winstaller/package.json');
  const program = await readFile(path.join(path.dirname(package_), 'vendor/signtool.exe'));
  expect(await factsOf(program)).toMatchObject({
    publisher: expect.stringMatching(/^CN=Microsoft Corporation, /),
    issuer: expect.stringMatching(/^CN=Microsoft Code Signing PCA, /),
    problem: undefined,
    fits: true,
  });
});

describe('a forged signature names no publisher', () => {
  const impostor = makeIdentity('Acme GmbH');

  it.each<[string, Options, string]>([
    ['another value', { editValue: alter }, NOT_MADE],
    ['another value, over the content', { editValue: alter, withoutAttributes: true }, NOT_MADE],
    [
      'attributes that were changed later',
      { editAttributes: (der) => flip(der, der.indexOf('\0A\0p') + 1) },
      NOT_MADE,
    ],
    ['the digest of another content', { editMessageDigest: alter }, NOT_STATED],
    ['another digest, put in later', { editAttributes: alter }, NOT_STATED],
    ['a content that was changed later', { editContent: alter }, NOT_STATED],
    ['another content', { editContent: alter, withoutAttributes: true }, NOT_MADE],
    ['two digests', { repeatsDigest: true }, NOT_STATED],
    [
      'the type of another content',
      { contentType: '1.2.840.113549.1.7.1' },
      'its attributes do not state the type of its content',
    ],
    ['no type', { contentType: null }, 'its attributes do not state the type of its content'],
    ['no certificate', { certificates: [] }, 'it does not contain the certificate of its signer'],
    [
      'the certificate of another signer',
      { certificates: [authority] },
      'it does not contain the certificate of its signer',
    ],
    [
      'the hash MD5',
      { hash: 'md5' },
      'it uses the algorithm 1.2.840.113549.2.5, which Slipway does not know',
    ],
    [
      'an unknown algorithm',
      { algorithm: '1.3.101.112' },
      'it uses the algorithm 1.3.101.112, which Slipway does not know',
    ],
    ['an algorithm for other keys', { algorithm: '1.2.840.113549.1.1.11' }, NOT_MADE],
  ])('with %s', async (_what, options, problem) => {
    const found = await factsOf(signProgram(acme, options));
    expect(found).toMatchObject({ publisher: undefined, issuer: undefined, problem });
  });

  it('with a broken RSA value, whose padding is wrong', async () => {
    const found = await factsOf(signProgram(withRsa, { editValue: alter }));
    expect(found).toEqual({
      publisher: undefined,
      issuer: undefined,
      problem: NOT_MADE,
      fits: true,
    });
  });

  it('with the genuine certificate, and the key of an impostor', async () => {
    // The same issuer and serial number, as everybody can read them in a published program.
    const stolen = { ...acme, key: impostor.key };
    expect(await factsOf(signProgram(stolen))).toMatchObject({
      publisher: undefined,
      problem: NOT_MADE,
    });
    const own = makeIdentity('Acme GmbH', { issuer: { ...authority, key: impostor.key } });
    const beside = signProgram(own, { certificates: [acme, own] });
    expect(await factsOf(beside)).toMatchObject({ publisher: undefined, problem: NOT_MADE });
  });

  it('with the signature of another program: its digest does not fit the file', async () => {
    const program = signProgram(acme);
    flip(program, 560);
    expect(await factsOf(program)).toMatchObject({ publisher: NAME, fits: false });
  });
});
