import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { signWith } from '../../../src/catalog/trust/signer.ts';
import { openSigner } from '../../../src/releases/trust/open-signer.ts';
import { hasProgram } from '../../support/programs.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** A key that never leaves its token, as docs/operations/trust.md describes it: here in SoftHSM. */

const MODULE = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so',
  '/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so',
].find((file) => existsSync(file));
const isInstalled = await hasProgram('softhsm2-util');
if (isInstalled && !existsSync('/usr/bin/pkcs11-tool')) {
  throw new Error('softhsm2 is installed without pkcs11-tool: install the package opensc');
}
if (isInstalled && MODULE === undefined) {
  throw new Error(
    'softhsm2 is installed, and its module libsofthsm2.so is in none of the known places',
  );
}
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

describe.skipIf(!isInstalled)('a key in a token', () => {
  const run = (program: string, ...given: string[]) =>
    promisify(execFile)(program, given, { env: { ...process.env, SOFTHSM2_CONF: at('conf') } });
  const at = (name: string): string => path.join(temporary.path, name);
  const tool = (...given: string[]) =>
    run('pkcs11-tool', '--module', String(MODULE), '--login', '--pin', '1234', ...given);

  it('signs with ECDSA on P-256', async () => {
    await mkdir(at('tokens'));
    await writeFile(at('conf'), `directories.tokendir = ${at('tokens')}\n`);
    await run(
      'softhsm2-util',
      '--init-token',
      '--free',
      '--label',
      'test',
      '--so-pin',
      '1234',
      '--pin',
      '1234',
    );
    await tool('--keypairgen', '--key-type', 'EC:prime256v1', '--id', '01', '--label', 'slipway');
    await tool('--read-object', '--type', 'pubkey', '--id', '01', '--output-file', at('k.der'));
    await run(
      'openssl',
      'pkey',
      '-pubin',
      '-inform',
      'DER',
      '-in',
      at('k.der'),
      '-out',
      at('token.pub'),
    );
    const sign = `openssl dgst -sha256 -binary | SOFTHSM2_CONF=${at('conf')} pkcs11-tool --module ${MODULE} --login --pin 1234 --sign --mechanism ECDSA --id 01 --input-file /dev/stdin --output-file /dev/stdout | cat`;
    const signer = await openSigner(`command:${at('token.pub')}:${sign}`, async () => '');
    expect(signer.key.algorithm).toBe('P-256');
    expect(await signWith(signer, Buffer.from('a catalog revision'))).toHaveLength(64);
  });
});
