import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readMultipart } from '../server/bytes/multipart-reader.ts';
import { CONTENT, DOCUMENT, FILE, type Proxied, SIZE, sha256 } from './proxied.ts';

/** Answers arrive unaltered: documents, files and their ranges. */
export function defineDocuments(at: Proxied): void {
  const { ask } = at;

  it('a document has an ETag, and an unchanged one is 304 without a body', async () => {
    const { status, headers, body } = await ask(DOCUMENT);
    expect(status).toBe(200);
    expect(body.toString()).toContain("version: '2.0.0'");
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers.etag).toMatch(/^(W\/)?"[^"]+"$/);
    expect(headers['cache-control']).toMatch(/^public, max-age=60/);
    const same = await ask(DOCUMENT, { headers: { 'if-none-match': String(headers.etag) } });
    expect([same.status, same.body.length]).toEqual([304, 0]);
    const other = await ask(DOCUMENT, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });

  it('a compressed document has another ETag or a weak one, which is 304 as well', async () => {
    const encoding = { 'accept-encoding': 'gzip' };
    const [plain, packed] = [await ask(DOCUMENT), await ask(DOCUMENT, { headers: encoding })];
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.headers.vary).toMatch(/accept-encoding/i);
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
    expect(packed.body.length).toBeLessThan(plain.body.length / 2);
    // A strong ETag stands for one sequence of bytes (RFC 9110, section 8.8.1).
    const etag = String(packed.headers.etag);
    if (!etag.startsWith('W/')) expect(etag).not.toBe(plain.headers.etag);
    for (const headers of [{ 'if-none-match': etag, ...encoding }, { 'if-none-match': etag }]) {
      const same = await ask(DOCUMENT, { headers });
      expect([same.status, same.body.length]).toEqual([304, 0]);
    }
    const first = { 'if-none-match': String(plain.headers.etag), ...encoding };
    expect((await ask(DOCUMENT, { headers: first })).status).toBe(304);
  });

  it('a file is never compressed, and keeps its strong ETag', async () => {
    const headers = { range: 'bytes=0-99,200-299', 'accept-encoding': 'gzip, br, zstd' };
    const answer = await ask(FILE, { headers });
    expect(answer.status).toBe(206);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers.etag).toMatch(/^"/);
  });

  describe.each(['HTTP/1.1', 'HTTP/2'])('by %s', (version) => {
    it('1,000 ranges come in one answer', async () => {
      const spans = Array.from({ length: 1_000 }, (_, n) => 12_345_678 + n * 11_000).map(
        (start) => [start, start + 700] as const,
      );
      const range = `bytes=${spans.map(([start, end]) => `${start}-${end}`).join(', ')}`;
      expect(range.length).toBeGreaterThan(18_000);
      const headers = { range };
      const {
        status,
        headers: answered,
        body,
      } = version === 'HTTP/2'
        ? await at.client.askHttp2(`${at.variant.basePath}${FILE}`, headers)
        : await ask(FILE, { headers });
      expect(status).toBe(206);
      const parts = readMultipart(String(answered['content-type']), body);
      expect(parts).toHaveLength(1_000);
      for (const [index, [start, end]] of spans.entries()) {
        const part = parts[index];
        expect(part?.range).toBe(`bytes ${start}-${end}/${SIZE}`);
        expect(part?.bytes.equals(CONTENT.subarray(start, end + 1))).toBe(true);
      }
    });
  });

  it('If-Range gets the range of the same file, or the whole file', async () => {
    const { etag } = (await ask(FILE, { headers: { range: 'bytes=0-1,4-5' } })).headers;
    const range = 'bytes=1000-1999';
    const same = await ask(FILE, { headers: { range, 'if-range': String(etag) } });
    expect([same.status, same.headers['content-range']]).toEqual([206, `bytes 1000-1999/${SIZE}`]);
    expect(same.body.equals(CONTENT.subarray(1_000, 2_000))).toBe(true);
    // A client that pauses: the proxy must not collect the file on its disk.
    const stale = { range, 'if-range': '"another file"' };
    const whole = await ask(FILE, { headers: stale, pauseMs: 1_000 });
    expect([whole.status, whole.headers['content-length']]).toEqual([200, String(SIZE)]);
    expect(sha256(whole.body)).toBe(sha256(CONTENT));
    expect(await at.proxy.logged()).not.toContain('temporary file');
  });

  it('a range beyond the file is 416 with its size', async () => {
    const { status, headers } = await ask(FILE, { headers: { range: `bytes=${SIZE}-` } });
    expect([status, headers['content-range']]).toEqual([416, `bytes */${SIZE}`]);
  });
}
