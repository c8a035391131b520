import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileStream } from '../../../src/store/filesystem/stream.ts';

const READ = 512 * 1024;
const LARGE = 4 * 1024 * 1024;

const root = mkdtempSync(path.join(tmpdir(), 'slipway-stream-'));
const file = path.join(root, 'file');
const content = randomBytes(LARGE);

beforeAll(() => writeFile(file, content));
afterAll(() => rmSync(root, { recursive: true }));

async function openStream(start = 0, length = LARGE, at = file) {
  const handle = await open(at);
  return { handle, stream: new FileStream(handle, { start, length, path: at }) };
}

const isClosed = ({ fd }: FileHandle): boolean => fd === -1;

describe('a stream of a file', () => {
  it.each([
    [0, 0],
    [5, 1],
    [0, READ - 1],
    [3, READ],
    [0, READ + 1],
    [LARGE - 7, 7],
    [1, 3 * READ],
    [0, LARGE],
  ])('from byte %i, %i bytes: has these bytes, and closes the file', async (start, length) => {
    const { handle, stream } = await openStream(start, length);
    // Kept until the end: no chunk may change later.
    const bytes = Buffer.concat(await stream.toArray());
    expect(bytes.equals(content.subarray(start, start + length))).toBe(true);
    await expect.poll(() => isClosed(handle)).toBe(true);
  });

  it('fails when the file becomes shorter', async () => {
    const shrinking = path.join(root, 'shrinking');
    await writeFile(shrinking, content);
    const { handle, stream } = await openStream(0, LARGE, shrinking);
    await once(stream, 'readable');
    await truncate(shrinking, READ);
    await expect(stream.toArray()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('shorter'),
    });
    await expect.poll(() => isClosed(handle)).toBe(true);
  });

  it('translates the error of a read', async () => {
    const { stream } = await openStream(0, READ, root);
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('closes the file after the read that is in progress, not during it', async () => {
    const { handle, stream } = await openStream();
    const { fd } = handle;
    stream.read(0);
    stream.destroy();
    expect(handle.fd).toBe(fd);
    await once(stream, 'close');
    expect(isClosed(handle)).toBe(true);
  });
});
