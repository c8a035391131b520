import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseZsync } from '../../../src/domain/zsync.ts';
import { hasZsync, makeZsync } from '../../../src/releases/files/make-zsync.ts';
import { seededBytes } from '../../support/electron-build.ts';
import { hasProgram } from '../../support/programs.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Compares the zsync files that publish makes with the files of zsyncmake 0.6.2. */

const hasZsyncmake = await hasProgram('zsyncmake', '-V');
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());

const NAME = 'App-x86_64.AppImage';

/** Random bytes, or zeros with some random bytes at the end, which are made faster. */
async function makeFile(size: number): Promise<string> {
  const file = path.join(directory.path, NAME);
  if (size <= 4 * 1024 * 1024) await writeFile(file, seededBytes(size, `zsync ${size}`));
  else {
    const handle = await open(file, 'w');
    await handle.write(seededBytes(5000, 'the end'), 0, 5000, size - 5000);
    await handle.close();
  }
  return file;
}

/** Without the lines that differ: publish states no time, so that the same file always gets the same zsync file. */
function comparable(bytes: Uint8Array) {
  const parsed = parseZsync(bytes);
  if (typeof parsed === 'string') throw new Error(parsed);
  const fields = parsed.fields.filter(([name]) => !['MTime', 'URL', 'Filename'].includes(name));
  return { fields, checksums: Buffer.from(bytes.subarray(parsed.checksumsAt)).toString('hex') };
}

describe.skipIf(!hasZsyncmake)('makeZsync', () => {
  it.each([
    ...[1, 2, 100, 2047, 2048, 2049, 4096, 4097, 65_536, 300_001, 1_048_576, 1_048_577, 3_333_333],
    ...[20_000_000, 99_999_999, 100_000_000, 100_000_001, 300_000_000],
  ])('makes the bytes of zsyncmake for %i bytes', async (size) => {
    const file = await makeFile(size);
    const sha1 = createHash('sha1')
      .update(await readFile(file))
      .digest('hex');
    const mine = await makeZsync({ path: file, filename: NAME, size, sha1 });
    const theirs = path.join(directory.path, 'theirs.zsync');
    await promisify(execFile)('zsyncmake', ['-u', NAME, '-o', theirs, file]);
    expect(comparable(mine)).toEqual(comparable(await readFile(theirs)));
  });

  it('refuses a file that was changed since it was hashed', async () => {
    const file = await makeFile(5000);
    for (const size of [4999, 5001]) {
      const made = makeZsync({ path: file, filename: NAME, size, sha1: '0'.repeat(40) });
      await expect(made).rejects.toMatchObject({ code: 'invalid_artifact' });
    }
  });

  it('makes none for an empty file, and none that would be too large', () => {
    expect([0, 1, 5e9, 1e11].map((size) => hasZsync(NAME, size))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('takes seconds for 100 MB, not minutes', async () => {
    const file = await makeFile(100_000_000);
    const facts = { path: file, filename: NAME, size: 100_000_000, sha1: '0'.repeat(40) };
    const started = performance.now();
    await makeZsync(facts);
    const milliseconds = performance.now() - started;
    console.log(`100 MB: ${Math.round(milliseconds)} ms`);
    // Far above what was measured, for a machine that is busy.
    expect(milliseconds).toBeLessThan(5_000);
  });
});
