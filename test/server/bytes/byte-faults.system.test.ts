import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/core/errors.ts';
import type { ObjectReader, ObjectStore } from '../../../src/store/object-store.ts';
import {
  type BytesServer,
  KEY,
  makeContent,
  openBytesServer,
  readingBy,
  storeWith,
} from './bytes-server.ts';

/** Files whose store fails, and clients that leave or do not read. */

/** More than the service reads ahead and the systems buffer. */
const CONTENT = makeContent(16 * 1024 * 1024);
const SEVERAL = 'bytes=0-99, 500000-4999999, 6000000-15999999';

type Read = (reader: ObjectReader, ...call: Parameters<ObjectReader['read']>) => Promise<void>;

let server: BytesServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const down = () => new AppError('store_unavailable', 'http://10.0.0.7/private does not answer.');

/** Opens a server whose store reads by `read`. */
async function open(read: Read, wrap = (store: Pick<ObjectStore, 'open'>) => store) {
  const { store, counts } = readingBy(await storeWith(CONTENT), read);
  server = await openBytesServer(wrap(store));
  return { url: `${server.url}/${KEY}`, counts, log: server.log };
}

const readWell: Read = (reader, ...call) => reader.read(...call);

async function ask(url: string, range?: string): Promise<IncomingMessage> {
  const headers = range === undefined ? {} : { range };
  const [response] = await once(get(url, { headers }), 'response');
  return response;
}

/** How many bytes of the body arrived, and whether it ended as announced. */
async function receive(response: IncomingMessage) {
  let bytes = 0;
  try {
    for await (const chunk of response) bytes += chunk.length;
    return { bytes, isWhole: true };
  } catch {
    return { bytes, isWhole: false };
  }
}

describe.each([
  ['the whole file', undefined],
  ['one range', 'bytes=1-12345678'],
  ['several ranges', SEVERAL],
])('%s', (_name, range) => {
  it('is a problem document when the store fails before the first byte', async () => {
    const { url, counts } = await open(async () => {
      throw down();
    });
    const response = await fetch(url, { headers: range === undefined ? {} : { range } });
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const name of ['etag', 'content-range', 'content-disposition']) {
      expect(response.headers.get(name), name).toBeNull();
    }
    expect(await response.json()).toMatchObject({ code: 'store_unavailable' });
    await expect.poll(() => counts).toMatchObject({ open: 0, underWay: 0 });
  });

  it('is a problem document when the store cannot open the file', async () => {
    const { url } = await open(readWell, () => ({ open: () => Promise.reject(down()) }));
    const response = await ask(url, range);
    expect(response.statusCode).toBe(503);
    response.resume();
  });

  it.each([
    ['fails', down],
    ['finds another version', () => new AppError('store_unavailable', 'It was replaced.')],
    ['finds a shorter file', () => new AppError('invalid_range', 'It has no such bytes.')],
    ['fails in an unknown way', () => new TypeError('fetch failed')],
  ])('never ends as a whole body when the store %s in the middle', async (_what, errorOf) => {
    const { url, counts } = await open(async (reader, target, start, options) => {
      if (start > 5_000_000) throw errorOf();
      await reader.read(target, start, options);
    });
    const response = await ask(url, range);
    expect([200, 206]).toContain(response.statusCode);
    const announced = Number(response.headers['content-length']);
    const { bytes, isWhole } = await receive(response);
    expect(isWhole).toBe(false);
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(bytes).toBeLessThan(announced);
    await expect.poll(() => counts).toMatchObject({ open: 0, underWay: 0 });
  });

  it('is read no further when the client leaves', async () => {
    const { url, counts } = await open(async (reader, ...call) => {
      await sleep(2);
      await reader.read(...call);
    });
    const response = await ask(url, range);
    await once(response, 'readable');
    response.destroy();
    await expect.poll(() => counts.open).toBe(0);
    const { reads } = counts;
    await sleep(50);
    expect(counts).toMatchObject({ reads, underWay: 0 });
  });

  it('waits for a client that does not read, without a read under way', async () => {
    const { url, counts } = await open(readWell);
    const responses = await Promise.all(Array.from({ length: 5 }, () => ask(url, range)));
    await sleep(300);
    const { reads } = counts;
    expect(counts.underWay).toBe(0);
    await sleep(200);
    expect(counts.reads).toBe(reads);
    for (const response of responses) {
      expect(await receive(response)).toMatchObject({ isWhole: true });
    }
    await expect.poll(() => counts.open).toBe(0);
  });
});

it('a client that leaves while the store hangs ends the read', async () => {
  const { url, counts } = await open((reader, target, start, options) =>
    start < 1_000_000
      ? reader.read(target, start, options)
      : new Promise((_resolve, reject) => {
          const signal = options?.signal;
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
  );
  const response = await ask(url);
  await once(response, 'readable');
  await expect.poll(() => counts.underWay).toBeGreaterThan(0);
  response.destroy();
  await expect.poll(() => counts).toMatchObject({ open: 0, underWay: 0 });
});

it('limits the reads of one answer to 8, and those of all to 32', async () => {
  const { url, counts } = await open(async (reader, ...call) => {
    await sleep(1);
    await reader.read(...call);
  });
  const ranges = Array.from({ length: 300 }, (_, n) => `${n * 50_000}-${n * 50_000 + 20_000}`);
  const range = `bytes=${ranges.join(', ')}`;
  expect(await receive(await ask(url, range))).toMatchObject({ isWhole: true });
  expect(counts.underWayMax).toBe(8);
  const many = Array.from({ length: 12 }, async () => receive(await ask(url, range)));
  for (const { isWhole } of await Promise.all(many)) expect(isWhole).toBe(true);
  expect(counts.underWayMax).toBe(32);
});

it('refuses with 503 what the memory of the process does not suffice for', async () => {
  const { store } = readingBy(await storeWith(CONTENT), readWell);
  server = await openBytesServer(store, 3 * 128 * 1024);
  const url = `${server.url}/${KEY}`;
  const responses = await Promise.all(Array.from({ length: 8 }, () => ask(url, SEVERAL)));
  const statuses = responses.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 206)).toHaveLength(3);
  expect(statuses.filter((status) => status === 503)).toHaveLength(5);
  for (const response of responses) response.destroy();
});

it('a client that leaves before the first byte ends its reads, and no further one begins', async () => {
  let isDown = true;
  const { url, counts } = await open(async (reader, ...call) => {
    while (isDown && call[2]?.signal?.aborted !== true) await sleep(5);
    await reader.read(...call);
  });
  const ranges = Array.from({ length: 100 }, (_, n) => `${n * 100_000}-${n * 100_000 + 20_000}`);
  const requests = Array.from({ length: 60 }, () =>
    get(url, { headers: { range: `bytes=${ranges.join(', ')}` } }).on('error', () => {}),
  );
  await expect.poll(() => counts.open).toBe(60);
  for (const request of requests) request.destroy();
  await expect.poll(() => counts, { timeout: 10_000 }).toMatchObject({ open: 0, underWay: 0 });
  const { reads } = counts;
  isDown = false;
  await sleep(100);
  expect(counts.reads).toBe(reads);
  // Of 6,000 reads, only the reads of answers that had begun happened.
  expect(reads).toBeLessThan(200);
});

it('answers 503, and goes on, when the file cannot be closed after a failed read', async () => {
  const { url } = await open(
    async () => {
      throw down();
    },
    (store) => ({
      open: async (key) => {
        const reader = await store.open(key);
        if (reader === undefined) return undefined;
        const close = () => Promise.reject(new Error('EIO: i/o error, close'));
        return { ...reader, close };
      },
    }),
  );
  const response = await ask(url, SEVERAL);
  expect(response.statusCode).toBe(503);
  response.resume();
  await sleep(20);
  expect((await ask(url, SEVERAL)).statusCode).toBe(503);
});

it('a client that closed its side and gets no byte in time is answered 503, without an error in the log', async () => {
  const { url, counts, log } = await open(async (_reader, _target, _start, options) => {
    await new Promise((_resolve, reject) => {
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
    });
  });
  const { port, pathname } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  socket.end(`GET ${pathname} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  const answer = Buffer.concat(await socket.toArray()).toString();
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  await expect.poll(() => counts).toMatchObject({ open: 0, underWay: 0 });
  expect(log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});
