import { seededBytes } from '../../support/electron-build.ts';

/** Sizes around the limits of a block, and around the chunks in which a file is read. */
const SIZES = [1, 63, 64, 65, 8_127, 8_128, 8_191, 8_192, 8_193, 16_384, 32_767, 32_768, 32_769];

/** Bytes of many kinds, the same for the same index. */
export function mappedBytes(index: number): Buffer {
  const seed = seededBytes(8, `size ${index}`);
  const size = SIZES[index % 40] ?? (seed.readUInt32LE(0) % 400_000) + 1;
  const bytes = seededBytes(size, `bytes ${index}`);
  switch (index % 5) {
    case 0:
      return Buffer.alloc(size, index % 256);
    case 1:
      return bytes.map((byte) => byte & 3) as Buffer;
    case 2:
      return Buffer.alloc(size, bytes.subarray(0, 1 + (index % 97)));
    case 3:
      return bytes.fill(0, Math.floor(size / 3), Math.floor(size / 2));
    default:
      return bytes;
  }
}
