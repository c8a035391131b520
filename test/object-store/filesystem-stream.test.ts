import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open, truncate, writeFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FileStream } from '../../src/object-store/filesystem-stream.ts';

/** The size of a read, for the first 32 streams and for further ones. */
const FIRST_READ = 512 * 1024;
const READ = 128 * 1024;
/** More than the buffers of the system hold. */
const LARGE = 32 * 1024 * 1024;

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

/** Answers with the stream. As Fastify does, destroys the stream when the response closes. */
async function serve(
  stream: FileStream,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((_request, response) => {
    response.once('close', () => stream.destroy());
    stream.once('error', () => response.destroy());
    stream.pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function request(url: string): Promise<IncomingMessage> {
  const [response] = await once(get(url), 'response');
  return response;
}

describe('a stream of a file', () => {
  it('has a large buffer while there are few of them', async () => {
    const opened = await Promise.all(Array.from({ length: 40 }, () => openStream()));
    const sizes = opened.map(({ stream }) => stream.readableHighWaterMark);
    expect(sizes.filter((size) => size === FIRST_READ)).toHaveLength(32);
    expect(sizes.filter((size) => size === READ)).toHaveLength(8);
    const destroyAll = async (all: typeof opened) => {
      for (const { stream } of all) stream.destroy();
      await expect.poll(() => all.every(({ handle }) => isClosed(handle))).toBe(true);
    };
    await destroyAll(opened);
    const again = await openStream();
    expect(again.stream.readableHighWaterMark).toBe(FIRST_READ);
    const small = await openStream(0, READ);
    expect(small.stream.readableHighWaterMark).toBe(READ);
    await destroyAll([again, small]);
  });

  it.each([
    [0, 0],
    [5, 1],
    [0, READ - 1],
    [3, READ],
    [0, READ + 1],
    [LARGE - 7, 7],
    [1, 3 * READ],
    [0, LARGE],
  ])(
    'from byte %i, %i bytes: arrives in a response, and is the same when it is iterated',
    async (start, length) => {
      const expected = content.subarray(start, start + length);
      const sent = await openStream(start, length);
      const { url } = await serve(sent.stream);
      const received = Buffer.concat(await (await request(url)).toArray());
      expect(received.equals(expected)).toBe(true);
      const iterated = await openStream(start, length);
      // Kept until the end: no chunk may change later.
      expect(Buffer.concat(await iterated.stream.toArray()).equals(expected)).toBe(true);
      await expect
        .poll(() => [sent, iterated].map(({ handle }) => isClosed(handle)))
        .toEqual([true, true]);
    },
  );

  it('arrives unchanged at a client that pauses', async () => {
    const { stream } = await openStream();
    const { url } = await serve(stream);
    const response = await request(url);
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.length % 16 !== 0) return;
      response.pause();
      setImmediate(() => response.resume());
    });
    await once(response, 'end');
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
  });

  it('gives every chunk its own buffer when another stream may keep it', async () => {
    const { stream } = await openStream(0, 4 * READ);
    const kept = new PassThrough({ highWaterMark: LARGE });
    stream.pipe(kept);
    await once(stream, 'end');
    expect(Buffer.concat(await kept.toArray()).equals(content.subarray(0, 4 * READ))).toBe(true);
  });

  it('fails, and the client sees an incomplete answer, when the file becomes shorter', async () => {
    const shrinking = path.join(root, 'shrinking');
    await writeFile(shrinking, content);
    const { handle, stream } = await openStream(0, LARGE, shrinking);
    const failed = once(stream, 'error');
    const { url } = await serve(stream);
    const response = await request(url);
    await once(response, 'readable');
    await truncate(shrinking, READ);
    await expect(response.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
    const [error] = await failed;
    expect(error).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('shorter'),
    });
    await expect.poll(() => isClosed(handle)).toBe(true);
  });

  it('translates the error of a read', async () => {
    const { stream } = await openStream(0, READ, root);
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('closes the file when the client leaves', async () => {
    const { handle, stream } = await openStream();
    const { url } = await serve(stream);
    const response = await request(url);
    await once(response, 'readable');
    expect(isClosed(handle)).toBe(false);
    response.destroy();
    await expect.poll(() => isClosed(handle)).toBe(true);
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
