import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readKey } from '../../scripts/cli/key-file.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

/** A key from a pipe, as the shell makes one for `<(…)` and for `/dev/stdin`. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let pipe: string;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  pipe = path.join(directory.path, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
});
afterAll(() => directory.remove());

async function readWritten(...parts: readonly string[]): Promise<string> {
  const [text] = await Promise.all([readKey(pipe, '--tauri-pubkey'), write(parts)]);
  return text;
}

async function write(parts: readonly string[]): Promise<void> {
  const writer = await open(pipe, 'w');
  try {
    for (const part of parts) {
      await writer.write(part);
      await wait(20);
    }
  } finally {
    await writer.close();
  }
}

it('is read to its end, in as many parts as the pipe gives', async () => {
  expect(await readWritten('untrusted comment: a\n', 'the key', '\n')).toBe(
    'untrusted comment: a\nthe key\n',
  );
  expect(await readWritten()).toBe('');
});

it('is refused when it is larger than any key', async () => {
  await expect(readWritten('A'.repeat(10_000), 'A'.repeat(10_000))).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/larger than any key/),
  });
});
