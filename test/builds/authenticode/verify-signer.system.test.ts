import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProgramFacts } from '../../../src/builds/authenticode/program-facts.ts';
import {
  type Identity,
  makeIdentity,
  makeKey,
  signProgram as signInNode,
  unsignedProgram,
} from '../../support/authenticode.ts';
import { hasProgram } from '../../support/programs.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { type Certificate, signProgram } from '../../support/windows-program.ts';

/** Signatures by osslsigncode, and its judgement of right and of broken ones. */

const isInstalled = await hasProgram('osslsigncode');

describe.skipIf(!isInstalled)('a program that osslsigncode signed', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const at = (name: string) => path.join(directory.path, name);
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(at('unsigned.exe'), unsignedProgram());
  });
  afterAll(() => directory.remove());

  async function write({ certificate, key }: Identity): Promise<Certificate> {
    const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
    const pem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
    await writeFile(at('certificate.pem'), pem);
    await writeFile(at('key.pem'), key.export({ type: 'pkcs8', format: 'pem' }));
    return { certificate: at('certificate.pem'), key: at('key.pem') };
  }

  /** What osslsigncode says about the signature. */
  async function judge(name: string): Promise<string> {
    const options = ['verify', '-in', at(name), '-CAfile', at('certificate.pem')];
    const { stdout, stderr } = await promisify(execFile)('osslsigncode', options).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return `${stdout}${stderr}`;
  }

  const factsOf = async (name: string) => {
    const { publisher, issuer, signatureProblem } = await readProgramFacts(at(name));
    return { publisher, issuer, signatureProblem };
  };
  const BROKEN = /invalid padding|bad signature|signature failure|digest failure/i;
  const NOT_MADE = 'the key of its certificate did not make it';
  const sound = {
    publisher: 'CN=Acme GmbH, O=Acme GmbH',
    issuer: null,
    signatureProblem: undefined,
  };

  /** Flips a bit of the signature value, which osslsigncode writes last. At most 7 zeros follow it. */
  async function breakValue(from: string, to: string): Promise<void> {
    const bytes = await readFile(at(from));
    const place = bytes.length - 12;
    bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
    await writeFile(at(to), bytes);
  }

  it.each([
    ['rsa', 'sha256'],
    ['rsa', 'sha1'],
    ['rsa', 'sha384'],
    ['ec', 'sha256'],
    ['ec', 'sha512'],
  ] as const)(
    'with a key for %s and %s is verified; with a broken value, it is not',
    async (kind, hash) => {
      const identity = makeIdentity('Acme GmbH', { key: makeKey(kind) });
      await rm(at('signed.exe'), { force: true });
      await signProgram(await write(identity), at('unsigned.exe'), at('signed.exe'), ['-h', hash]);
      expect(await factsOf('signed.exe')).toEqual(sound);
      expect(await judge('signed.exe')).not.toMatch(BROKEN);
      await breakValue('signed.exe', 'broken.exe');
      expect(await factsOf('broken.exe')).toEqual({ signatureProblem: NOT_MADE });
      expect(await judge('broken.exe')).toMatch(BROKEN);
    },
  );

  it('and one that Node signed for these tests, are judged alike', async () => {
    const identity = makeIdentity('Acme GmbH', { key: makeKey('rsa') });
    await write(identity);
    await writeFile(at('node.exe'), signInNode(identity));
    expect(await judge('node.exe')).toContain('CN=Acme GmbH');
    expect(await judge('node.exe')).not.toMatch(BROKEN);
    const forged = signInNode({ ...identity, key: makeKey('rsa') });
    await writeFile(at('node.exe'), forged);
    expect(await judge('node.exe')).toMatch(BROKEN);
    expect(await factsOf('node.exe')).toEqual({ signatureProblem: NOT_MADE });
  });
});
