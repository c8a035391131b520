import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { signWith } from '../../../src/catalog/trust/signer.ts';
import { createKeyFiles } from '../../../src/features/trust/new-key.ts';
import { openSigner } from '../../../src/releases/trust/open-signer.ts';
import { hasProgram } from '../../support/programs.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Commands of a shell that sign, as docs/operations/trust.md has them, in each encoding that key stores print. */

const isInstalled = (await hasProgram('openssl', 'version')) && (await hasProgram('base64'));
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

const SIGN = {
  ed25519: 'cat > "$FILE.in"; openssl pkeyutl -sign -rawin -inkey "$FILE" -in "$FILE.in"',
  p256: 'openssl dgst -sha256 -sign "$FILE"',
};
const ENCODINGS = ['cat', 'base64 -w0', "od -An -v -tx1 | tr -d ' \\n'"];
const cases = (['ed25519', 'p256'] as const).flatMap((kind) =>
  ENCODINGS.map((encoding) => [kind, encoding] as const),
);

it.skipIf(!isInstalled).each(cases)(
  'openssl signs with %s, through "%s"',
  async (kind, encoding) => {
    const file = path.join(temporary.path, `${kind}-${ENCODINGS.indexOf(encoding)}.key`);
    await createKeyFiles({ file, passphrase: undefined, isP256: kind === 'p256' });
    const command = `FILE=${file}; (${SIGN[kind]}) | ${encoding}`;
    const signer = await openSigner(
      `command:${file.replace(/key$/, 'pub')}:${command}`,
      async () => {
        throw new Error('no passphrase');
      },
    );
    expect((await signWith(signer, Buffer.from('what is signed'))).length).toBe(64);
  },
);
