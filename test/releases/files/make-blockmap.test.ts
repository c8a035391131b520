import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Blockmap, coverageOf, renderBlockmap } from '../../../src/domain/blockmap.ts';
import { createBlockCheck, createBlockCutter } from '../../../src/releases/files/make-blockmap.ts';
import { seededBytes } from '../../support/electron-build.ts';
import made from './app-builder-lib-blockmaps.json' with { type: 'json' };
import { mappedBytes } from './mapped-bytes.ts';

/** @param readBytes the size of the chunks, because a read may return any number of bytes */
async function blockmapOf(
  bytes: Uint8Array,
  readBytes = 100_003,
  cuts: readonly number[] = [],
): Promise<Blockmap> {
  const cutter = await createBlockCutter(cuts);
  for (let at = 0; at < bytes.length; at += readBytes) {
    cutter.update(bytes.subarray(at, at + readBytes));
  }
  return cutter.finish();
}

async function fits(blockmap: Blockmap, bytes: Uint8Array, readBytes = 100_003): Promise<boolean> {
  const check = await createBlockCheck(blockmap);
  for (let at = 0; at < bytes.length; at += readBytes) {
    check.update(bytes.subarray(at, at + readBytes));
  }
  return check.finish();
}

const digestOf = (blockmap: Blockmap): string =>
  createHash('sha256').update(renderBlockmap(blockmap)).digest('hex').slice(0, 32);

/** The fixture has digests of the maps that `buildBlockMap` of app-builder-lib made from the same bytes. */
describe(`a block map is equal to the map that ${made.madeWith} makes`, () => {
  it('of 200 generated files', async () => {
    const own: string[] = [];
    for (let index = 0; index < made.generated.length; index++) {
      own.push(digestOf(await blockmapOf(mappedBytes(index), 1 + ((index * 7_919) % 90_000))));
    }
    expect(own).toHaveLength(200);
    expect(own).toEqual(made.generated);
  });

  it.each(Object.entries(made.files))('of %s', async (name, digest) => {
    const file = path.join(import.meta.dirname, '../../../node_modules', name);
    expect(existsSync(file), `${name} is a file of a development dependency`).toBe(true);
    expect(digestOf(await blockmapOf(await readFile(file)))).toBe(digest);
  });
});

describe('a block map with stated ends of blocks', () => {
  it('has a block that ends at each of them, for any size of reads', async () => {
    const bytes = seededBytes(300_000, 'cuts');
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: 310_000 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.integer({ min: 500, max: 400_000 }), async (given, readBytes) => {
        const wanted = given.toSorted((a, b) => a - b);
        const map = await blockmapOf(bytes, readBytes, wanted);
        const ends = new Set<number>([0]);
        let at = 0;
        for (const size of map.sizes) {
          at += size;
          ends.add(at);
        }
        expect(at).toBe(bytes.length);
        expect(wanted.filter((cut) => cut < at && !ends.has(cut))).toEqual([]);
        expect(await fits(map, bytes)).toBe(true);
        expect(await blockmapOf(bytes, 7_001, wanted)).toEqual(map);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the check of a block map', () => {
  const bytes = seededBytes(300_000, 'checked');

  it('accepts its file in chunks of any size, and finds a flipped byte anywhere', async () => {
    const blockmap = await blockmapOf(bytes);
    expect(coverageOf(blockmap)).toBe(bytes.length);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 500, max: bytes.length }),
        fc.nat(bytes.length - 1),
        async (readBytes, at) => {
          expect(await fits(blockmap, bytes, readBytes)).toBe(true);
          const flipped = Buffer.from(bytes);
          flipped.writeUInt8((flipped[at] ?? 0) ^ 1, at);
          expect(await fits(blockmap, flipped, readBytes)).toBe(false);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('accepts blocks that another tool cut, and refuses a shorter file', async () => {
    const first = await blockmapOf(bytes.subarray(0, 5_000));
    const second = await blockmapOf(bytes.subarray(5_000, 5_700));
    const blockmap = {
      sizes: [...first.sizes, ...second.sizes],
      checksums: [...first.checksums, ...second.checksums],
    };
    expect(await fits(blockmap, bytes)).toBe(true);
    expect(await fits(blockmap, bytes.subarray(0, 5_699))).toBe(false);
  });
});
