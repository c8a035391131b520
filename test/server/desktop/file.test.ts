import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactKey } from '../../../src/catalog/documents/keys.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { readMultipart } from '../bytes/multipart-reader.ts';
import { DOWNLOAD, get, release } from '../support.ts';

const CONTENT = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));
const NAME = 'Größe “2”; v1\u{1f680} & Co.exe';

describe('the signed file route of a directory store', () => {
  const clock = createHastyClock();
  let service: TestService;
  let link: string;

  beforeAll(async () => {
    service = await createTestService({ store: 'directory', clock });
    await release(service, '1.0.0', [
      { machine: 'windows x64 nsis', filename: NAME, content: CONTENT },
      { machine: 'linux x64 deb', filename: 'plain.deb', content: 'deb' },
    ]);
    await service.listen();
    link = String((await get(service, `${DOWNLOAD}/windows`)).headers.location);
  });
  afterAll(() => service.close());

  const fetchBytes = async (headers: Record<string, string> = {}, url = link) => {
    const response = await fetch(url, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  };

  it('sends the whole file with its type, length, tag and name', async () => {
    const { status, headers, bytes } = await fetchBytes();
    expect(status).toBe(200);
    expect(bytes.equals(CONTENT)).toBe(true);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '1000',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=0, must-revalidate',
    });
    expect(headers.get('etag')).toMatch(/^"[^"]+"$/);
    expect(Date.parse(headers.get('last-modified') ?? '')).not.toBeNaN();
    const disposition = headers.get('content-disposition') ?? '';
    expect(disposition).toMatch(/^attachment; filename="[ -~]+"; filename\*=UTF-8''[ -~]+$/);
    expect(decodeURIComponent(disposition.split("UTF-8''")[1] ?? '')).toBe(NAME);
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-99', 0, 99],
    ['bytes=400-599', 400, 599],
    ['bytes=999-', 999, 999],
    ['bytes=999-5000', 999, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-5000', 0, 999],
    ['bytes=500-', 500, 999],
  ])('%s is bytes %i to %i', async (range, start, end) => {
    const { status, headers, bytes } = await fetchBytes({ range });
    expect(status).toBe(206);
    expect(headers.get('content-range')).toBe(`bytes ${start}-${end}/1000`);
    expect(headers.get('content-length')).toBe(String(end - start + 1));
    expect(bytes.equals(CONTENT.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])(
    '%s cannot be satisfied',
    async (range) => {
      const { status, headers, bytes } = await fetchBytes({ range });
      expect(status).toBe(416);
      expect(headers.get('content-range')).toBe('bytes */1000');
      expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'range_not_satisfiable' });
    },
  );

  it.each(['lines=1-2', 'bytes=b-a', 'bytes=7-3', 'bytes=0-1,7-3', 'bytes=-', 'nonsense'])(
    '%s is ignored',
    async (range) => {
      const { status, bytes } = await fetchBytes({ range });
      expect(status).toBe(200);
      expect(bytes.equals(CONTENT)).toBe(true);
    },
  );

  it('sends several ranges as the parts of one answer', async () => {
    const { status, headers, bytes } = await fetchBytes({ range: 'bytes=500-502, 0-1,-1' });
    expect(status).toBe(206);
    const type = headers.get('content-type') ?? '';
    expect(type).toMatch(/^multipart\/byteranges; boundary=[\w-]+$/);
    expect(Number(headers.get('content-length'))).toBe(bytes.length);
    expect(headers.get('content-range')).toBeNull();
    expect(readMultipart(type, bytes)).toEqual([
      { range: 'bytes 500-502/1000', bytes: CONTENT.subarray(500, 503) },
      { range: 'bytes 0-1/1000', bytes: CONTENT.subarray(0, 2) },
      { range: 'bytes 999-999/1000', bytes: CONTENT.subarray(999) },
    ]);
  });

  it('If-Range: sends a part only of the version that the client has', async () => {
    const { headers } = await fetchBytes();
    const part = { range: 'bytes=0-9' };
    const etag = headers.get('etag') ?? '';
    const modified = headers.get('last-modified') ?? '';
    expect((await fetchBytes({ ...part, 'if-range': etag })).status).toBe(206);
    expect((await fetchBytes({ ...part, 'if-range': modified })).status).toBe(206);
    for (const stale of ['"other"', `W/${etag}`, 'Thu, 01 Jan 1970 00:00:00 GMT', 'nonsense']) {
      const whole = await fetchBytes({ ...part, 'if-range': stale });
      expect(whole.status).toBe(200);
      expect(whole.bytes.length).toBe(1000);
    }
  });

  it('If-None-Match: 304 for the version that the client has', async () => {
    const etag = (await fetchBytes()).headers.get('etag') ?? '';
    const { status, bytes, headers } = await fetchBytes({ 'if-none-match': etag });
    expect(status).toBe(304);
    expect(bytes.length).toBe(0);
    expect(headers.get('etag')).toBe(etag);
    expect((await fetchBytes({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('If-Match, If-Modified-Since and If-Unmodified-Since', async () => {
    const { headers } = await fetchBytes();
    const etag = headers.get('etag') ?? '';
    const modified = headers.get('last-modified') ?? '';
    const [before, after] = ['Thu, 01 Jan 1970 00:00:00 GMT', 'Thu, 01 Jan 2099 00:00:00 GMT'];
    const statusFor = async (given: Record<string, string>) => (await fetchBytes(given)).status;
    expect(await statusFor({ 'if-match': `"x", ${etag}` })).toBe(200);
    expect(await statusFor({ 'if-match': '*' })).toBe(200);
    expect(await statusFor({ 'if-match': '"other"' })).toBe(412);
    expect(await statusFor({ 'if-match': `W/${etag}` })).toBe(412);
    expect(await statusFor({ 'if-unmodified-since': before })).toBe(412);
    expect(await statusFor({ 'if-unmodified-since': modified })).toBe(200);
    expect(await statusFor({ 'if-unmodified-since': before, 'if-match': etag })).toBe(200);
    expect(await statusFor({ 'if-modified-since': modified })).toBe(304);
    expect(await statusFor({ 'if-modified-since': after })).toBe(304);
    expect(await statusFor({ 'if-modified-since': before })).toBe(200);
    expect(await statusFor({ 'if-modified-since': 'nonsense' })).toBe(200);
    expect(await statusFor({ 'if-modified-since': after, 'if-none-match': '"x"' })).toBe(200);
  });

  it('HEAD has the headers of GET, and ignores a range', async () => {
    const head = await service.app.http.inject({ method: 'HEAD', url: `${DOWNLOAD}/windows` });
    const url = String(head.headers.location);
    const whole = await fetch(url, { method: 'HEAD' });
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-length')).toBe('1000');
    expect(await whole.text()).toBe('');
    const part = await fetch(url, { method: 'HEAD', headers: { range: 'bytes=10-19' } });
    expect(part.status).toBe(200);
    expect(part.headers.get('content-length')).toBe('1000');
  });

  it('refuses links that were altered, are for another file or method, or have expired', async () => {
    const other = String((await get(service, `${DOWNLOAD}/linux`)).headers.location);
    const [good, foreign] = [new URL(link), new URL(other)];
    const altered = (name: string, value: string): string => {
      const url = new URL(link);
      url.searchParams.set(name, value);
      return url.href;
    };
    const without = new URL(link);
    without.searchParams.delete('signature');
    const secret = artifactKey('desktop', '../../secrets/url-signing-secret');
    const refused = [
      altered('expires', String(Number(good.searchParams.get('expires')) + 1)),
      altered('filename', 'evil.html'),
      altered('signature', 'A'.repeat(43)),
      altered('signature', ''),
      `${link}&signature=x`,
      without.href,
      `${good.origin}${foreign.pathname}${good.search}`,
      `${good.origin}/files/${secret}${good.search}`,
      `${good.origin}/files/${encodeURIComponent('../secrets/url-signing-secret')}${good.search}`,
      `${good.origin}/files/applications/1.json`,
    ];
    for (const url of refused) {
      const { status, headers, bytes } = await fetchBytes({}, url);
      expect(status, url).toBe(403);
      expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'invalid_link', status: 403 });
    }
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(403);
    expect((await fetchBytes()).status).toBe(200);
    clock.advance(31 * 60_000);
    const late = await fetchBytes();
    expect(late.status).toBe(403);
    expect(JSON.parse(late.bytes.toString()).detail).toMatch(/expired/);
    link = String((await get(service, `${DOWNLOAD}/windows`)).headers.location);
  });

  it('answers 404 for a file that was deleted from the directory', async () => {
    const url = (await get(service, `${DOWNLOAD}/linux`, { accept: 'application/json' })).body.url;
    const key = decodeURIComponent(new URL(url).pathname.replace('/files/', ''));
    await service.store.delete(key);
    const { status, bytes } = await fetchBytes({}, url);
    expect(status).toBe(404);
    expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'unknown_file' });
  });
});
