import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { artifactKey, artifactObject } from '../../../src/catalog/documents/keys.ts';
import { ensureUploaded } from '../../../src/catalog/writing/artifact-upload.ts';
import { systemClock, systemRandomness } from '../../../src/core/system.ts';
import { readText, sourceOf } from '../../support/objects.ts';
import { objectHeaders, startFakeS3 } from './fake-s3.ts';

const body = Buffer.from('body');
const unavailable = { code: 'store_unavailable' };

/** For tests in which no request may time out, even on a busy machine. */
const PATIENT = { timeouts: { readMs: 10_000, writeMs: 10_000, stallMs: 10_000 } };

describe('S3: a conditional write', () => {
  it('is sent once, and its outcome is unknown when the answer is lost', async () => {
    const s3 = await startFakeS3(({ answer, cut, method, response }) => {
      if (method === 'PUT') {
        response.end = cut as never;
      }
      answer();
    });
    const created = s3.store(PATIENT).create('a', body);
    await expect(created).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining(`PUT bucket/a at ${s3.endpoint}`),
    });
    expect(s3.requests).toEqual(['PUT a?x-id=PutObject']);
    expect(await s3.store().get('a')).toMatchObject({ size: 4 });
  });

  it.each([
    [500, 'InternalError', 'store_unavailable'],
    [503, 'SlowDown', 'store_unavailable'],
    [429, 'TooManyRequests', 'store_unavailable'],
    [409, 'ConditionalRequestConflict', 'store_unavailable'],
    [501, 'NotImplemented', 'store_nonconforming'],
    [403, 'AccessDenied', 'store_denied'],
    [403, 'QuotaExceeded', 'store_full'],
    [507, 'XMinioStorageFull', 'store_full'],
    [301, 'PermanentRedirect', 'invalid_configuration'],
  ])('answered with %i %s is %s', async (status, name, code) => {
    const s3 = await startFakeS3(({ fail }) => fail(status, name));
    await expect(s3.store(PATIENT).create('a', body)).rejects.toMatchObject({ code });
    expect(s3.requests).toHaveLength(1);
  });

  it('names the missing permission', async () => {
    const s3 = await startFakeS3(({ fail }) => fail(403, 'AccessDenied'));
    await expect(s3.store().create('a', body)).rejects.toThrow(
      'the credentials are wrong, or need s3:PutObject.',
    );
    for (const call of [() => s3.store().get('a'), () => s3.store().head('a')]) {
      await expect(call()).rejects.toThrow('s3:GetObject, and s3:ListBucket on the bucket');
    }
    await expect(s3.store().delete('a')).rejects.toThrow('s3:DeleteObject');
  });

  it('without an answer fails at its timeout', async () => {
    const s3 = await startFakeS3(() => undefined);
    await expect(s3.store().create('a', body)).rejects.toThrow('no answer within 300 ms');
  });
});

describe('S3: a read', () => {
  it.each(['cut', 'fail', 'stall', 'half'] as const)(
    'survives two failures (%s)',
    async (fault) => {
      const s3 = await startFakeS3((exchange) => {
        if (exchange.method === 'PUT' || exchange.earlier >= 2) {
          return exchange.answer();
        }
        if (fault === 'cut') {
          exchange.cut();
        } else if (fault === 'fail') {
          exchange.fail(503, 'SlowDown');
        } else if (fault === 'half') {
          // Sends the headers and half of the body.
          exchange.response.writeHead(200, objectHeaders(4)).write('bo');
        }
      });
      const store = s3.store();
      await store.create('a', body);
      expect(await readText(store, 'a')).toBe('body');
      expect(s3.requests).toHaveLength(4);
    },
  );

  it('fails after four attempts and reports their number', async () => {
    const s3 = await startFakeS3(({ fail }) => fail(503, 'SlowDown'));
    const store = s3.store();
    await expect(store.get('a')).rejects.toThrow(/SlowDown.*Tried 4 times\./);
    expect(s3.requests).toHaveLength(4);
  });

  it('is not retried when an outage has used up the retry budget', async () => {
    const s3 = await startFakeS3(({ cut }) => cut());
    const clock = { now: () => 0, sleep: async () => undefined };
    const store = s3.store({ clock });
    for (let call = 0; call < 60; call += 1) {
      await expect(store.get('a')).rejects.toMatchObject(unavailable);
    }
    expect(s3.requests.length).toBeLessThanOrEqual(60 + 100);
  });

  it('treats a 404 as a missing object only when an S3 service sends it', async () => {
    const page = await startFakeS3(({ response }) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>not here</html>');
    });
    for (const call of [() => page.store().get('a'), () => page.store().head('a')]) {
      await expect(call()).rejects.toMatchObject(unavailable);
    }
  });

  it('names the address that does not answer', async () => {
    const s3 = await startFakeS3(({ answer }) => answer());
    const endpoint = 'http://127.0.0.1:9';
    await expect(s3.store({ endpoint }).head('a')).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('http://127.0.0.1:9'),
    });
  });

  it('does not download a body larger than bytesMax', async () => {
    let sent = 0;
    const s3 = await startFakeS3(({ response }) => {
      response.writeHead(200, objectHeaders(50_000_000));
      const timer = setInterval(() => {
        sent += 65_536;
        response.write(Buffer.alloc(65_536));
      }, 1);
      response.on('close', () => clearInterval(timer));
    });
    const get = s3.store({ timeouts: { readMs: 5_000 } }).get('a', { bytesMax: 100_000 });
    await expect(get).rejects.toMatchObject({ code: 'document_too_large' });
    expect(sent).toBeLessThan(10_000_000);
  });

  it('as a stream fails when the store stops sending', async () => {
    const s3 = await startFakeS3(({ response }) => {
      response.writeHead(200, objectHeaders(4)).write('bo');
    });
    const read = await s3.store().read('a');
    await expect(read?.stream.toArray()).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('nothing was sent for 300 ms'),
    });
  });

  it('stops immediately when its caller aborts', async () => {
    const s3 = await startFakeS3(() => undefined);
    const store = s3.store({ timeouts: { readMs: 30_000 } });
    const signal = AbortSignal.timeout(50);
    await expect(store.get('a', { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('S3: credentials', () => {
  it('that are missing are a wrong configuration', async () => {
    const s3 = await startFakeS3(({ answer }) => answer());
    const credentials = async () => {
      throw Object.assign(new Error('none'), { name: 'CredentialsProviderError' });
    };
    await expect(s3.store({ credentials }).get('a')).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'),
    });
  });

  it('that belong to a session are sent with its token, in every request and link', async () => {
    const tokens: unknown[] = [];
    const s3 = await startFakeS3(({ answer, request, response, url }) => {
      tokens.push(request.headers['x-amz-security-token']);
      if (url.searchParams.has('list-type'))
        response.end('<ListBucketResult><Name>bucket</Name><Prefix></Prefix></ListBucketResult>');
      else answer();
    });
    const credentials = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'session' };
    const store = s3.store({ ...PATIENT, credentials });
    await store.create('a', body);
    await store.upload('b', sourceOf(randomBytes(9 * 1024 * 1024)));
    await store.get('a');
    await store.head('a');
    await (await store.read('a'))?.stream.toArray();
    for await (const _ of store.list(''));
    await store.delete('a');
    expect(tokens.length).toBe(s3.requests.length);
    expect(s3.requests.some((line) => line.includes('partNumber'))).toBe(true);
    expect(new Set(tokens)).toEqual(new Set(['session']));
    const times = { signedAt: new Date(), expiresAt: new Date(Date.now() + 3_600_000) };
    const link = await store.presign({ method: 'GET', key: 'a', filename: 'a', ...times });
    expect(new URL(link.url).searchParams.get('X-Amz-Security-Token')).toBe('session');
  });

  it('that expire soon are renewed before signing; otherwise the link expires with them', async () => {
    const s3 = await startFakeS3(({ answer }) => answer());
    const now = 1_800_000_000_000;
    const minutes = (n: number) => new Date(now + n * 60_000);
    let asked = 0;
    const provider = (ends: number[]) => async () => {
      asked += 1;
      const expiration = minutes(ends[Math.min(asked, ends.length) - 1] ?? 0);
      return { accessKeyId: `id${asked}`, secretAccessKey: 'secret', expiration };
    };
    const clock = { now: () => now, sleep: async () => undefined };
    const request = { method: 'GET', key: 'a', filename: 'a', signedAt: minutes(0) } as const;
    const link = (ends: number[]) => {
      asked = 0;
      const store = s3.store({ clock, credentials: provider(ends) });
      return store.presign({ ...request, expiresAt: minutes(30) });
    };
    expect(await link([60])).toMatchObject({ expiresAt: minutes(30) });
    expect(await link([9, 60])).toMatchObject({ expiresAt: minutes(30) });
    expect(asked).toBe(2);
    expect(await link([20])).toMatchObject({ expiresAt: minutes(20) });
    expect(await link([9, 9])).toMatchObject({ expiresAt: minutes(9) });
  });
});

describe('S3: an upload', () => {
  const large = randomBytes(17 * 1024 * 1024);

  it('is checked with a HEAD when the outcome of its completion is unknown', async () => {
    const s3 = await startFakeS3(({ answer, cut, method, response, url }) => {
      if (method === 'POST' && url.searchParams.has('uploadId')) {
        response.end = cut as never;
      }
      answer();
    });
    expect(await s3.store().upload('a', sourceOf(large))).toBe('created');
    expect(large.equals(s3.objects.get('a') ?? Buffer.alloc(0))).toBe(true);
  });

  it('repeats failed parts and a failed completion', async () => {
    const s3 = await startFakeS3(({ answer, earlier, fail, method, url }) => {
      const isCompletion = method === 'POST' && url.searchParams.has('uploadId');
      const isFaulty = (method === 'PUT' && earlier === 1) || (isCompletion && earlier === 1);
      return isFaulty ? fail(500, 'InternalError') : answer();
    });
    const store = s3.store({ timeouts: { partMs: 5_000 } });
    expect(await store.upload('a', sourceOf(large))).toBe('created');
    expect(s3.requests.filter((line) => line.startsWith('PUT'))).toHaveLength(4);
  });

  it('completes without the condition when the store does not implement it', async () => {
    const s3 = await startFakeS3(({ answer, fail, method, request }) => {
      const isConditional = request.headers['if-none-match'] !== undefined;
      return method === 'POST' && isConditional ? fail(501, 'NotImplemented') : answer();
    });
    expect(await s3.store().upload('a', sourceOf(large))).toBe('created');
  });

  it('that loses a race returns "exists" and is aborted', async () => {
    const s3 = await startFakeS3(({ answer, fail, method, url }) => {
      const isCompletion = method === 'POST' && url.searchParams.has('uploadId');
      return isCompletion ? fail(412, 'PreconditionFailed') : answer();
    });
    expect(await s3.store().upload('a', sourceOf(large))).toBe('exists');
    expect(s3.requests.at(-1)).toMatch(/^DELETE a\?.*uploadId=u/);
  });

  it('that cannot be completed is aborted', async () => {
    const s3 = await startFakeS3(({ answer, fail, method, url }) => {
      const isCompletion = method === 'POST' && url.searchParams.has('uploadId');
      return isCompletion ? fail(500, 'InternalError') : answer();
    });
    await expect(s3.store().upload('a', sourceOf(large))).rejects.toMatchObject(unavailable);
    expect(s3.requests.at(-1)).toMatch(/^DELETE a\?.*uploadId=u/);
    expect(s3.objects.size).toBe(0);
  });

  it('in one request whose answer was lost returns "exists", because an earlier object would look alike', async () => {
    const s3 = await startFakeS3(({ answer, cut, earlier, method, response }) => {
      if (method === 'PUT' && earlier === 0) {
        response.end = cut as never;
      }
      answer();
    });
    expect(await s3.store().upload('a', sourceOf(body))).toBe('exists');
  });

  it('never takes other bytes of the same size for its own, when the store refuses the first attempt', async () => {
    let isPrepared = false;
    const s3 = await startFakeS3(({ answer, fail, earlier, method }) => {
      if (method === 'PUT' && isPrepared && earlier === 1) fail(503, 'SlowDown');
      else answer();
    });
    const sha256 = createHash('sha256').update(body).digest('hex');
    const object = artifactObject(sha256, 'App.exe');
    const store = s3.store(PATIENT);
    await store.create(artifactKey('desktop', object), Buffer.alloc(body.length));
    isPrepared = true;
    const deps = { store, clock: systemClock, randomness: systemRandomness, actor: 'test' };
    const file = { filename: 'App.exe', content: body, size: body.length, sha256 };
    const uploaded = await ensureUploaded(deps, 'desktop', file, [], {});
    expect(uploaded).toMatchObject({ uploaded: true });
    expect(uploaded.object).not.toBe(object);
    expect(await readText(store, artifactKey('desktop', uploaded.object))).toBe('body');
  });
});
