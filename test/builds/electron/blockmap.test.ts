import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBlockmap } from '../../../src/builds/electron/blockmap.ts';

describe('a block map', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'slipway-blockmap-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const write = async (name: string, content: string): Promise<string> => {
    const file = path.join(directory, name);
    await writeFile(file, gzipSync(content));
    return file;
  };
  const map = (fields: object, version = '2') =>
    JSON.stringify({ version, files: [{ name: 'file', offset: 0, ...fields }] });

  it('states the size and the checksum of each block', async () => {
    const blocks = { sizes: [10, 20], checksums: ['a', 'b'] };
    expect(await readBlockmap(await write('a.blockmap', map(blocks)))).toEqual(blocks);
  });

  it.each([
    ['another JSON', JSON.stringify({ version: '2', files: 'none' })],
    ['a map without files', JSON.stringify({ version: '2', files: [] })],
    ['a map of another version', map({ sizes: [1], checksums: ['a'] }, '3')],
    ['a negative size', map({ sizes: [-3], checksums: ['a'] })],
    ['an empty block', map({ sizes: [0], checksums: ['a'] })],
    ['half a byte', map({ sizes: [1.5], checksums: ['a'] })],
    ['a size without a checksum', map({ sizes: [1, 2], checksums: ['a'] })],
    ['a checksum that is no text', map({ sizes: [1], checksums: [1] })],
  ])('is not %s', async (_what, content) => {
    expect(await readBlockmap(await write('b.blockmap', content))).toBeUndefined();
  });

  it('that would unpack to more than 32 MiB is not read', async () => {
    const blocks = (count: number) =>
      map({ sizes: Array(count).fill(1), checksums: Array(count).fill('') });
    expect(await readBlockmap(await write('c.blockmap', blocks(7_000_000)))).toBeUndefined();
    expect(await readBlockmap(await write('c.blockmap', blocks(1_000)))).toBeDefined();
  });

  it('is gzip', async () => {
    const file = path.join(directory, 'b.blockmap');
    await writeFile(file, '{}');
    expect(await readBlockmap(file)).toBeUndefined();
  });

  it('that cannot be read is an error, and not "no block map"', async () => {
    await expect(readBlockmap(directory)).rejects.toThrow(/it is a directory, and only/);
  });
});
