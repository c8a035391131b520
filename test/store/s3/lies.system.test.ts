import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isPresent } from '../../../src/store/presence.ts';
import { collect, readText } from '../../support/objects.ts';
import { type Exchange, objectHeaders, startFakeS3 } from './fake-s3.ts';

/** Something other than the store answers. Only the store's own answers count. */

const bytes = Buffer.from('{"a":1}');
const etagOf = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`;
const unavailable = { code: 'store_unavailable' };

function sendPage({ response }: Exchange, status: number, type = 'text/html'): void {
  const headers = { 'content-type': type, 'last-modified': new Date().toUTCString() };
  response.writeHead(status, headers).end('<html>Welcome to the hotel</html>');
}

function sendObject({ response }: Exchange, body: Buffer, etag = etagOf(body)): void {
  response.writeHead(200, objectHeaders(body.length, etag)).end(body);
}

describe('a write', () => {
  it.each(['text/html', 'text/plain'])(
    'answered with 200 and a page of type %s is not a success',
    async (type) => {
      const s3 = await startFakeS3((exchange) =>
        exchange.method === 'PUT' ? sendPage(exchange, 200, type) : exchange.answer(),
      );
      await expect(s3.store().create('a', bytes)).rejects.toMatchObject(unavailable);
      expect([...s3.objects.keys()]).toEqual([]);
    },
  );

  it('whose answer was replaced by a page succeeds when the object is stored', async () => {
    const s3 = await startFakeS3((exchange) => {
      if (exchange.method !== 'PUT') return exchange.answer();
      s3.objects.set(exchange.key, exchange.body);
      return sendPage(exchange, 200);
    });
    expect(await s3.store().create('a', bytes)).toBe('created');
  });

  it('answered with the ETag of other bytes is compared with the stored object', async () => {
    const s3 = await startFakeS3((exchange) => {
      if (exchange.method !== 'PUT') return exchange.answer();
      s3.objects.set(exchange.key, Buffer.from('other'));
      return exchange.response.writeHead(200, { etag: etagOf(Buffer.from('other')) }).end();
    });
    expect(await s3.store().create('a', bytes)).toBe('exists');
  });

  it('is "exists" only with the store\'s error code, not with any 412', async () => {
    const s3 = await startFakeS3((exchange) => sendPage(exchange, 412, 'text/plain'));
    await expect(s3.store().create('a', bytes)).rejects.toMatchObject(unavailable);
  });
});

describe('a read', () => {
  it.each(['text/plain', 'application/json'])(
    'answered with 404 of type %s is retried, because it does not prove that the object is missing',
    async (type) => {
      const s3 = await startFakeS3((exchange) =>
        exchange.method === 'GET' && exchange.earlier === 0
          ? sendPage(exchange, 404, type)
          : exchange.answer(),
      );
      const store = s3.store();
      await store.create('a', bytes);
      expect(await readText(store, 'a')).toBe('{"a":1}');
    },
  );

  it('answered with 404 by another server every time is a failure, not a missing object', async () => {
    const s3 = await startFakeS3((exchange) => sendPage(exchange, 404, 'text/plain'));
    await expect(s3.store().get('a')).rejects.toMatchObject(unavailable);
    await expect(isPresent(s3.store(), 'a')).rejects.toMatchObject(unavailable);
  });

  it('from a missing bucket is a wrong configuration, not a missing object', async () => {
    const s3 = await startFakeS3(({ fail }) => fail(404, 'NoSuchBucket'));
    await expect(isPresent(s3.store(), 'a')).rejects.toMatchObject({
      code: 'invalid_configuration',
    });
  });

  it('answered with 200 and a page is not a success', async () => {
    const s3 = await startFakeS3((exchange) => sendPage(exchange, 200));
    await expect(s3.store().get('a')).rejects.toMatchObject(unavailable);
  });

  it.each([
    ['a flipped bit', Buffer.from('{"a":3}')],
    ['half of the bytes', bytes.subarray(0, 3)],
  ])('with %s is retried over another connection', async (_what, wrong) => {
    const ports = new Set<number | undefined>();
    const s3 = await startFakeS3((exchange) => {
      ports.add(exchange.request.socket.remotePort);
      return sendObject(exchange, exchange.earlier === 0 ? wrong : bytes, etagOf(bytes));
    });
    expect(await readText(s3.store(), 'a')).toBe('{"a":1}');
    expect(s3.requests).toHaveLength(2);
    expect(ports.size).toBe(2);
  });

  it('whose ETag is never the MD5 of the bytes succeeds when two reads get the same bytes', async () => {
    const s3 = await startFakeS3((exchange) => sendObject(exchange, bytes, `"${'0'.repeat(32)}"`));
    expect(await readText(s3.store(), 'a')).toBe('{"a":1}');
    expect(s3.requests).toHaveLength(2);
  });

  it('of a large document on a slow connection may take longer than the timeout', async () => {
    const body = Buffer.alloc(20_000, 'x');
    const s3 = await startFakeS3(async (exchange) => {
      const { response } = exchange;
      response.writeHead(200, objectHeaders(body.length, etagOf(body)));
      for (let at = 0; at < body.length; at += 1_000) {
        response.write(body.subarray(at, at + 1_000));
        await sleep(75);
      }
      response.end();
    });
    const store = s3.store({ timeouts: { readMs: 1_000, progressMs: 5_000 } });
    expect((await store.get('a'))?.size).toBe(body.length);
    expect(s3.requests).toHaveLength(1);
  });

  it('that makes no progress fails', async () => {
    const s3 = await startFakeS3(({ response }) => {
      response.writeHead(200, objectHeaders(100)).write('x');
    });
    const store = s3.store({ timeouts: { readMs: 5_000, progressMs: 50 } });
    await expect(store.get('a')).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('nothing was sent for 50 ms'),
    });
  });
});

describe('a listing', () => {
  const listing = (name: string, prefix: string) =>
    `<ListBucketResult><Name>${name}</Name><Prefix>${prefix}</Prefix><IsTruncated>false</IsTruncated></ListBucketResult>`;

  it.each([
    ['a page', '<html>Welcome to the hotel</html>'],
    ['a listing of another bucket', listing('other', 'a/')],
    ['a listing of another prefix', listing('bucket', 'b/')],
    ['another document', '<Error/>'],
    ['an empty body', ''],
  ])('answered with %s is not an empty listing', async (_what, body) => {
    const s3 = await startFakeS3(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(body);
    });
    await expect(collect(s3.store().list('a/'))).rejects.toMatchObject(unavailable);
  });

  it('of the requested bucket and prefix is accepted', async () => {
    const s3 = await startFakeS3(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(listing('bucket', 'a/'));
    });
    expect(await collect(s3.store().list('a/'))).toEqual([]);
  });
});

describe('the clock of the store', () => {
  it('is taken only from answers of the store itself', async () => {
    const past = new Date(Date.now() - 86_400_000).toUTCString();
    let isOwn = false;
    const s3 = await startFakeS3((exchange) => {
      exchange.response.setHeader('date', past);
      if (isOwn) exchange.response.setHeader('x-amz-request-id', 'tx1');
      exchange.answer();
    });
    const store = s3.store();
    await store.create('a', bytes);
    expect(store.clockOffsetMs?.()).toBeUndefined();
    isOwn = true;
    await store.get('a');
    expect(Math.round((store.clockOffsetMs?.() ?? 0) / 60_000)).toBe(-1_440);
  });
});
