import { appendFile, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPlainFile, readPlainText } from '../../src/core/plain-file.ts';
import { openBrand } from '../../src/features/website/brand.ts';
import { hashFile } from '../../src/releases/files/hash-file.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { PLAIN_FILE_READERS } from './plain-file-readers.ts';

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const at = (name: string): string => path.join(directory.path, name);
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());

describe('a plain file', () => {
  it('is read up to the limit, also through a link and without a stated size', async () => {
    await writeFile(at('text'), `\uFEFF${'x'.repeat(200_000)}`);
    await symlink(at('text'), at('to-text'));
    expect(await readPlainText(at('to-text'), 200_003)).toBe('x'.repeat(200_000));
    expect(await readPlainFile(at('text'), 200_002)).toBeUndefined();
    await writeFile(at('empty'), '');
    expect(await readPlainFile(at('empty'), 0)).toHaveLength(0);
    if (process.platform !== 'linux') return;
    // A file of /proc states 0 bytes.
    expect((await readPlainFile('/proc/self/status', 64 * 1024))?.length).toBeGreaterThan(100);
    expect(await readPlainFile('/proc/self/status', 100)).toBeUndefined();
  });

  it('that is huge is not read at all, and one that grows not without an end', async () => {
    await writeFile(at('sparse.svg'), '');
    await truncate(at('sparse.svg'), 2 ** 40);
    expect(await readPlainFile(at('sparse.svg'), 1024)).toBeUndefined();
    const brand = { name: 'x', color: undefined, logoFile: at('sparse.svg') };
    await expect(openBrand(brand)).rejects.toThrow(/has more than \d+ bytes/);
    const grown = at('grown');
    await writeFile(grown, 'x');
    const grow = () => appendFile(grown, 'x'.repeat(3 * 1024 * 1024));
    await grow();
    const file = { path: grown, filename: 'grown', size: 1, stated: [] };
    await expect(hashFile(file, () => {})).rejects.toThrow(/changed while it was read/);
  });
});

it.skipIf(process.platform === 'win32').each(Object.entries(PLAIN_FILE_READERS))(
  '%s refuses a device and a directory',
  async (_name, read) => {
    await expect(read('/dev/zero')).rejects.toThrow(/it is a device/);
    await expect(read(directory.path)).rejects.toThrow(/it is a directory/);
  },
);
