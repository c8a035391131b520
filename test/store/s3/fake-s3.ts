import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { createS3Store, type S3StoreOptions } from '../../../src/store/s3/s3.ts';

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly key: string;
  readonly body: Buffer;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** How many requests with this method preceded this one. */
  readonly earlier: number;
  /** Answers as S3 does. */
  answer(): void;
  fail(status: number, code: string): void;
  cut(): void;
}

/** Starts a minimal S3 server. `handle` answers each request: as S3 does, or wrongly. */
export async function startFakeS3(handle: (exchange: Exchange) => void) {
  const objects = new Map<string, Buffer>();
  const parts = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray().catch(() => []));
    const url = new URL(request.url ?? '/', 'http://fake');
    const method = request.method ?? '';
    const key = decodeURIComponent(url.pathname.slice('/bucket/'.length));
    const earlier = requests.filter((line) => line.startsWith(`${method} `)).length;
    requests.push(`${method} ${key}${url.search}`);
    const fail = (status: number, code: string) => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(method === 'HEAD' ? '' : `<Error><Code>${code}</Code></Error>`);
    };
    const cut = () => request.socket.destroy();
    const context = { method, url, key, body, request, response, earlier, fail, cut };
    const answer = () => answerAsS3(context, objects, parts);
    handle({ ...context, answer });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = (options: Partial<S3StoreOptions> = {}) =>
    createS3Store({
      bucket: 'bucket',
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      clock: systemClock,
      randomness: { fraction: () => 0.5, id: () => 'random' },
      timeouts: { readMs: 300, writeMs: 300, progressMs: 300, stallMs: 300 },
      ...options,
    });
  return { endpoint, objects, requests, store };
}

/** The headers of S3's answer to a GET. @param size in bytes */
export function objectHeaders(size: number, etag = '"etag"') {
  return { etag, 'last-modified': new Date().toUTCString(), 'content-length': size };
}

function listing(asked: URLSearchParams, objects: ReadonlyMap<string, Buffer>): string {
  const prefix = asked.get('prefix') ?? '';
  const after = asked.get('start-after') ?? '';
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const entries = keys.map(
    (key) =>
      `<Contents><Key>${key}</Key><LastModified>${new Date().toISOString()}</LastModified><ETag>&quot;etag&quot;</ETag><Size>${objects.get(key)?.length}</Size></Contents>`,
  );
  return `<ListBucketResult><Name>bucket</Name><Prefix>${prefix}</Prefix>${entries.join('')}<IsTruncated>false</IsTruncated></ListBucketResult>`;
}

function answerAsS3(
  { method, url, key, body, request, response, fail }: Omit<Exchange, 'answer'>,
  objects: Map<string, Buffer>,
  parts: Map<string, Buffer>,
): void {
  const xml = (text: string) => response.writeHead(200).end(text);
  const isTaken = request.headers['if-none-match'] === '*' && objects.has(key);
  if (url.searchParams.has('list-type')) {
    xml(listing(url.searchParams, objects));
  } else if (method === 'GET' && url.searchParams.has('uploads')) {
    xml('<ListMultipartUploadsResult></ListMultipartUploadsResult>');
  } else if (url.searchParams.has('versioning')) {
    xml('<VersioningConfiguration></VersioningConfiguration>');
  } else if (url.searchParams.has('uploads')) {
    xml('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
  } else if (url.searchParams.has('partNumber')) {
    parts.set(url.searchParams.get('partNumber') ?? '', body);
    response.writeHead(200, { etag: '"part"' }).end();
  } else if (method === 'POST') {
    if (isTaken) {
      fail(412, 'PreconditionFailed');
      return;
    }
    if (parts.size === 0) {
      fail(404, 'NoSuchUpload');
      return;
    }
    objects.set(
      key,
      Buffer.concat([...parts].sort(([a], [b]) => Number(a) - Number(b)).map(([, part]) => part)),
    );
    parts.clear();
    xml('<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>');
  } else if (method === 'PUT') {
    if (isTaken) {
      fail(412, 'PreconditionFailed');
      return;
    }
    objects.set(key, body);
    response.writeHead(200, { etag: '"etag"' }).end();
  } else if (method === 'DELETE') {
    objects.delete(key);
    if (url.searchParams.has('uploadId')) {
      parts.clear();
    }
    response.writeHead(204).end();
  } else {
    const found = objects.get(key);
    if (found === undefined) {
      fail(404, 'NoSuchKey');
      return;
    }
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (first === undefined) {
      response.writeHead(200, objectHeaders(found.length));
      response.end(method === 'HEAD' ? undefined : found);
    } else if (Number(first) >= found.length) fail(416, 'InvalidRange');
    else {
      const part = found.subarray(Number(first), Number(last) + 1);
      const range = `bytes ${first}-${Number(first) + part.length - 1}/${found.length}`;
      response.writeHead(206, { ...objectHeaders(part.length), 'content-range': range }).end(part);
    }
  }
}
