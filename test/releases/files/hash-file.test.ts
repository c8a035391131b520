import { createHash } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashFile } from '../../../src/releases/files/hash-file.ts';
import { makeArtifact, makeTemporaryDirectory } from '../../support/release.ts';

describe('hashFile', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
  });
  afterEach(() => directory.remove());

  // The larger one is hashed on two threads.
  it.each([3, 70 * 1024 * 1024 + 5])('hashes %i bytes and reports its progress', async (size) => {
    const content = Buffer.alloc(size, 'slipway');
    const file = await makeArtifact(directory.path, { content, filename: 'a.bin' });
    const steps: number[] = [];
    const digests = await hashFile(file, (done) => steps.push(done));
    for (const algorithm of ['sha256', 'sha512'] as const) {
      expect(digests[algorithm]).toBe(createHash(algorithm).update(content).digest('hex'));
    }
    expect(steps.at(-1)).toBe(size);
    const stated = [{ algorithm: 'sha256' as const, hex: '0'.repeat(64), statedIn: 'feed.yml' }];
    await expect(hashFile({ ...file, stated }, () => {})).rejects.toThrow(/feed\.yml/);
  });

  it('refuses a file that changed or was removed meanwhile', async () => {
    const content = Buffer.alloc(70 * 1024 * 1024);
    const file = await makeArtifact(directory.path, { content, filename: 'a.bin' });
    await truncate(file.path, 1_000);
    await expect(hashFile(file, () => {})).rejects.toMatchObject({ code: 'invalid_artifact' });
    await directory.remove();
    await expect(hashFile(file, () => {})).rejects.toThrow(/ENOENT/);
  });
});
