import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { rounds } from '../../support/rounds.ts';
import { type BytesServer, KEY, makeContent, openBytesServer, storeWith } from './bytes-server.ts';
import { readMultipart } from './multipart-reader.ts';

/** More than the service reads ahead for one client. */
const CONTENT = makeContent(1_500_000);

async function fetchBytes(url: string, headers: Record<string, string>) {
  const response = await fetch(url, { headers });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

describe.each([
  ['memory', async () => storeWith(CONTENT)],
  [
    'a directory',
    async () => {
      const store = await openDirectoryStore(await mkdtemp(path.join(tmpdir(), 'slipway-bytes-')));
      await store.create(KEY, CONTENT);
      return store;
    },
  ],
])('the bytes of a file in %s', (name, open) => {
  let server: BytesServer;
  let url: string;
  let root: string;
  beforeAll(async () => {
    const store = await open();
    root = store.location.replace('directory:', '');
    server = await openBytesServer(store);
    url = `${server.url}/${KEY}`;
  });
  afterAll(async () => {
    await server.close();
    if (name !== 'memory') await rm(root, { recursive: true });
  });

  it('are whole without a range, and any one range of them', async () => {
    expect((await fetchBytes(url, {})).bytes.equals(CONTENT)).toBe(true);
    const range = fc.tuple(fc.nat(CONTENT.length - 1), fc.nat(CONTENT.length * 2));
    await fc.assert(
      fc.asyncProperty(range, async ([start, length]) => {
        const { status, headers, bytes } = await fetchBytes(url, {
          range: `bytes=${start}-${start + length}`,
        });
        const expected = CONTENT.subarray(start, start + length + 1);
        expect(status).toBe(206);
        expect(bytes.equals(expected)).toBe(true);
        expect(headers.get('content-range')).toBe(
          `bytes ${start}-${start + expected.length - 1}/${CONTENT.length}`,
        );
      }),
      { numRuns: rounds(20, 30) },
    );
  });

  it('in any list of ranges are the parts of the answer, in the order asked', async () => {
    const sizes = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 400_000 }));
    const range = fc.tuple(fc.nat(CONTENT.length - 1), sizes);
    await fc.assert(
      fc.asyncProperty(fc.array(range, { minLength: 2, maxLength: 40 }), async (ranges) => {
        const slices = ranges.map(([start, size]) => ({
          start,
          bytes: CONTENT.subarray(start, start + size),
        }));
        const sum = slices.reduce((total, { bytes }) => total + bytes.length, 0);
        const list = ranges.map(([start, size]) => `${start}-${start + size - 1}`).join(', ');
        const { status, headers, bytes } = await fetchBytes(url, { range: `bytes=${list}` });
        expect(Number(headers.get('content-length'))).toBe(bytes.length);
        if (sum > 2 * CONTENT.length) {
          expect([status, bytes.equals(CONTENT)]).toEqual([200, true]);
          return;
        }
        expect(status).toBe(206);
        const parts = readMultipart(headers.get('content-type') ?? '', bytes);
        expect(parts.map((part) => part.range)).toEqual(
          slices.map(
            (slice) =>
              `bytes ${slice.start}-${slice.start + slice.bytes.length - 1}/${CONTENT.length}`,
          ),
        );
        for (const [index, part] of parts.entries()) {
          expect(part.bytes.equals(slices[index]?.bytes ?? Buffer.of())).toBe(true);
        }
      }),
      { numRuns: rounds(30, 60) },
    );
  });

  it('are served in a thousand ranges at once', async () => {
    const starts = Array.from({ length: 1_000 }, (_, n) => n * 1_499 + (n % 7));
    const list = starts.map((start) => `${start}-${start + 999}`).join(', ');
    const { status, headers, bytes } = await fetchBytes(url, { range: `bytes=${list}` });
    expect(status).toBe(206);
    const parts = readMultipart(headers.get('content-type') ?? '', bytes);
    expect(parts).toHaveLength(1_000);
    for (const [index, start] of starts.entries()) {
      expect(parts[index]?.bytes.equals(CONTENT.subarray(start, start + 1_000))).toBe(true);
    }
  });

  it('take 25 kB of ranges, and one header more than 32 KiB is refused', async () => {
    const ranges = (count: number) =>
      Array.from({ length: count }, (_, n) => `0000000${n + 100}-0000000${n + 101}`).join(', ');
    expect(ranges(1_000).length).toBeGreaterThan(22_000);
    expect((await fetchBytes(url, { range: `bytes=${ranges(1_000)}` })).status).toBe(206);
    const refused = await fetchBytes(url, { range: `bytes=${ranges(1_500)}` });
    expect(refused.status).toBe(431);
    expect(JSON.parse(refused.bytes.toString())).toMatchObject({ code: 'headers_too_long' });
  });

  it('keep the connection open for the next request', async () => {
    const range = 'bytes=0-99999,200000-299999';
    const lengths = await Promise.all(
      Array.from({ length: 40 }, async () => (await fetchBytes(url, { range })).bytes.length),
    );
    expect(new Set(lengths).size).toBe(1);
  });
});
