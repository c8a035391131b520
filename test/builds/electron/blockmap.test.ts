import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBlockmapCoverage } from '../../../src/builds/electron/blockmap.ts';

describe('a block map', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'slipway-blockmap-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it.each([
    ['covers the sum of its blocks', { files: [{ sizes: [10, 20] }, { sizes: [3] }] }, 33],
    ['is no other JSON', { files: 'none' }, undefined],
    ['has at least one block', { files: [] }, undefined],
    ['states no negative size', { files: [{ sizes: [10, -3] }] }, undefined],
    ['states whole sizes', { files: [{ sizes: [1.5] }] }, undefined],
  ])('%s', async (_what, content, expected) => {
    const file = path.join(directory, 'a.blockmap');
    await writeFile(file, gzipSync(JSON.stringify(content)));
    expect(await readBlockmapCoverage(file)).toBe(expected);
  });

  it('that would unpack to more than 32 MiB is not read', async () => {
    const file = path.join(directory, 'c.blockmap');
    const blocks = (count: number) => `{"files":[{"sizes":[${'0,'.repeat(count)}1]}]}`;
    await writeFile(file, gzipSync(blocks(17 * 1024 * 1024)));
    expect(await readBlockmapCoverage(file)).toBeUndefined();
    await writeFile(file, gzipSync(blocks(1024)));
    expect(await readBlockmapCoverage(file)).toBe(1);
  });

  it('is gzip', async () => {
    const file = path.join(directory, 'b.blockmap');
    await writeFile(file, '{}');
    expect(await readBlockmapCoverage(file)).toBeUndefined();
  });

  it('that cannot be read is an error, and not "no block map"', async () => {
    await expect(readBlockmapCoverage(directory)).rejects.toThrow(/it is a directory, and only/);
  });
});
