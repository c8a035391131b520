import { describe, expect, it } from 'vitest';
import type { ObjectReader } from '../../../src/store/object-store.ts';
import type { S3StoreOptions } from '../../../src/store/s3/connection.ts';
import { type Exchange, objectHeaders, startFakeS3 } from './fake-s3.ts';

/** An opened object of a bucket whose server fails, stalls or answers for another object. */

const BYTES = Buffer.from('0123456789');
const unavailable = { code: 'store_unavailable' };

/** Longer than an answer takes on a busy machine. */
const PATIENT = { readMs: 20_000, progressMs: 20_000, stallMs: 20_000 };

/** Opens an object; `handle` answers the GETs. */
async function openWith(
  handle: (exchange: Exchange) => void,
  timeouts: S3StoreOptions['timeouts'] = PATIENT,
) {
  const s3 = await startFakeS3((exchange) =>
    exchange.method === 'GET' ? handle(exchange) : exchange.answer(),
  );
  s3.objects.set('a', BYTES);
  const reader = await s3.store({ timeouts }).open('a');
  if (reader === undefined) throw new Error('The object is missing.');
  return { s3, reader };
}

const read = async (reader: ObjectReader, start: number, length: number, signal?: AbortSignal) => {
  const target = Buffer.alloc(length, '?');
  await reader.read(target, start, { signal });
  return target.toString();
};

/** A part of an object with this ETag, perhaps with a body of another length. */
function sendPart({ response }: Exchange, etag: string, range: string, body: string): void {
  const headers = { ...objectHeaders(Buffer.byteLength(body), etag), 'content-range': range };
  response.writeHead(206, headers).end(body);
}

describe('S3: an opened object', () => {
  it('is read by one request a piece, after one HEAD', async () => {
    const { s3, reader } = await openWith((exchange) => exchange.answer());
    expect(await read(reader, 2, 3)).toBe('234');
    expect(await read(reader, 9, 1)).toBe('9');
    expect(s3.requests.map((line) => line.split(' ')[0])).toEqual(['HEAD', 'GET', 'GET']);
  });

  it.each([
    ['another ETag', '"other"', 'bytes 2-4/10'],
    ['another size', undefined, 'bytes 2-4/11'],
  ])('is never mixed with an object of %s', async (_what, etag, range) => {
    const { s3, reader } = await openWith((exchange) =>
      sendPart(exchange, etag ?? reader.info.etag, range, 'abc'),
    );
    await expect(read(reader, 2, 3)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('replaced'),
    });
    expect(s3.requests.filter((line) => line.startsWith('GET'))).toHaveLength(5);
  });

  it.each([
    ['shorter', '23'],
    ['longer', '2345'],
  ])('is read again after a body that is %s than the range', async (_what, body) => {
    const { reader } = await openWith((exchange) =>
      exchange.earlier === 0
        ? sendPart(exchange, reader.info.etag, 'bytes 2-4/10', body)
        : exchange.answer(),
    );
    expect(await read(reader, 2, 3)).toBe('234');
  });

  it('is read again after a broken connection, and fails when that does not help', async () => {
    const { reader } = await openWith((exchange) =>
      exchange.earlier < 2 ? exchange.cut() : exchange.answer(),
    );
    expect(await read(reader, 2, 3)).toBe('234');
    const { reader: broken } = await openWith((exchange) => exchange.fail(503, 'SlowDown'));
    await expect(read(broken, 2, 3)).rejects.toMatchObject(unavailable);
  });

  it('fails in time when the store stops in the middle of a piece', async () => {
    const { reader } = await openWith(
      ({ response }) => {
        const headers = { ...objectHeaders(10, reader.info.etag), 'content-range': 'bytes 0-9/10' };
        response.writeHead(206, headers).write('01234');
      },
      { readMs: 1_000, progressMs: 1_000, stallMs: 1_000 },
    );
    await expect(read(reader, 0, 10)).rejects.toMatchObject(unavailable);
  });

  it('that was deleted or shortened meanwhile is a failure, not a short piece', async () => {
    const { s3, reader } = await openWith((exchange) => exchange.answer());
    s3.objects.set('a', BYTES.subarray(0, 5));
    await expect(read(reader, 0, 10)).rejects.toMatchObject(unavailable);
    await expect(read(reader, 7, 3)).rejects.toMatchObject(unavailable);
    s3.objects.delete('a');
    await expect(read(reader, 0, 10)).rejects.toMatchObject(unavailable);
  });

  it('stops at once when the caller aborts, and writes nothing afterwards', async () => {
    const controller = new AbortController();
    const { reader } = await openWith(({ response }) => {
      const headers = { ...objectHeaders(10, reader.info.etag), 'content-range': 'bytes 0-9/10' };
      response.writeHead(206, headers).write('0123');
      setTimeout(() => response.end('456789'), 100);
      setTimeout(() => controller.abort(new Error('enough')), 50);
    });
    const target = Buffer.alloc(10, '?');
    const reading = reader.read(target, 0, { signal: controller.signal });
    await expect(reading).rejects.toThrow('enough');
    target.fill('?');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(target.toString()).toBe('??????????');
  });

  it('sends nothing for a caller that aborted before the first piece', async () => {
    const { s3, reader } = await openWith((exchange) => exchange.answer());
    const controller = new AbortController();
    const reading = read(reader, 2, 3, controller.signal);
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    expect(s3.requests.filter((line) => line.startsWith('GET'))).toEqual([]);
  });

  it('is missing only when a GET proves it', async () => {
    const s3 = await startFakeS3((exchange) =>
      exchange.method === 'HEAD' ? exchange.fail(404, '') : exchange.answer(),
    );
    expect(await s3.store().open('a')).toBeUndefined();
    expect(await s3.store().head('a')).toBeUndefined();
    s3.objects.set('a', BYTES);
    expect((await s3.store().open('a'))?.info.size).toBe(BYTES.length);
    s3.objects.set('empty', Buffer.alloc(0));
    expect(await s3.store().head('empty')).toMatchObject({ key: 'empty', size: 0 });
  });
});
