import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readZsyncAddress } from '../../../src/builds/archive/update-information.ts';
import { appImage } from '../../support/app-image.ts';
import { rounds } from '../../support/rounds.ts';

const reading = (file: Buffer) => async (start: number, length: number) =>
  start + length > file.length ? undefined : file.subarray(start, start + length);

const ADDRESS = 'https://updates.example.com/feeds/a/stable/zsync/App-x86_64.AppImage.zsync';

describe('the address in an AppImage', () => {
  it.each([32, 64] as const)('is read from a file of %i bits', async (bits) => {
    const read = (text: string) => readZsyncAddress(reading(appImage(text, bits)));
    expect(await read(`zsync|${ADDRESS}`)).toBe(ADDRESS);
    expect(await read('gh-releases-zsync|owner|app|latest|App.AppImage.zsync')).toBeUndefined();
    expect(await read('')).toBeUndefined();
    expect(await read('zsync|')).toBeUndefined();
  });

  it('is none in any other file, and no bytes make it fail', async () => {
    const image = appImage(`zsync|${ADDRESS}`, 64);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(image.length - 1), fc.nat(255)), { maxLength: 12 }),
        fc.nat(image.length),
        async (edits, length) => {
          const file = Buffer.from(image);
          for (const [at, byte] of edits) file[at] = byte;
          const found = await readZsyncAddress(reading(file.subarray(0, length)));
          expect(['string', 'undefined']).toContain(typeof found);
        },
      ),
      { numRuns: rounds(200, 2000) },
    );
    expect(await readZsyncAddress(reading(Buffer.alloc(0)))).toBeUndefined();
    expect(await readZsyncAddress(reading(Buffer.alloc(5000, 'MZ')))).toBeUndefined();
  });
});
