import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from './support.ts';

/** A key from a pipe, as the shell makes one for `<(…)` and for `/dev/stdin`. A named pipe could block for ever. */

const MODULE = path.join(ROOT, 'src/cli/key-file.ts');
const PROGRAM = `import { readKey } from ${JSON.stringify(MODULE)};
await readKey(process.argv[1], '--tauri-pubkey').then(console.log, (error) => console.log(error.message));`;

async function readFrom(shell: string): Promise<string> {
  const program = `"${process.execPath}" --input-type=module -e "$PROGRAM"`;
  const env = { ...process.env, PROGRAM, NODE_NO_WARNINGS: '1' };
  const { stdout } = await promisify(execFile)('bash', ['-c', shell.replace('READ', program)], {
    env,
  });
  return stdout;
}

it('is read to its end, in as many parts as the pipe gives, and up to its limit', async () => {
  const parts = "{ printf 'untrusted: a\\n'; sleep 0.1; printf 'the key\\n'; }";
  expect(await readFrom(`${parts} | READ /dev/stdin`)).toBe('untrusted: a\nthe key\n\n');
  expect(await readFrom(`READ <(${parts})`)).toBe('untrusted: a\nthe key\n\n');
  expect(await readFrom('READ /dev/stdin < /dev/zero')).toMatch(/larger than any key/);
});
