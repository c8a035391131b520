import { isUtf8 } from 'node:buffer';
import { expect } from 'vitest';

const END = Buffer.from('--\r\n');

interface ReadPart {
  /** The value of Content-Range. */
  readonly range: string;
  readonly bytes: Buffer;
}

/**
 * Reads a multipart/byteranges body as RFC 2046, section 5.1.1, defines it, without the code of the service. Expects
 * every part to have a type, a range and as many bytes as the range.
 */
export function readMultipart(contentType: string, body: Buffer): ReadPart[] {
  const boundary = /^multipart\/byteranges; boundary=([\w-]{1,70})$/.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error(`No multipart/byteranges: ${contentType}`);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const parts: ReadPart[] = [];
  expect(body.indexOf(delimiter)).toBe(0);
  for (let at = delimiter.length; ; ) {
    if (body.subarray(at, at + 5).equals(END)) return parts;
    expect(body.subarray(at, at + 2).toString()).toBe('\r\n');
    const headEnd = body.indexOf('\r\n\r\n', at);
    const head = body.subarray(at + 2, headEnd);
    expect(isUtf8(head)).toBe(true);
    const headers = new Map(
      head
        .toString()
        .split('\r\n')
        .map((line) => {
          const [name = '', value = ''] = line.split(': ');
          return [name.toLowerCase(), value];
        }),
    );
    const range = headers.get('content-range') ?? '';
    expect(headers.get('content-type')).toBe('application/octet-stream');
    const [, first, last] = /^bytes (\d+)-(\d+)\/\d+$/.exec(range) ?? [];
    const start = headEnd + 4;
    const end = start + Number(last) - Number(first) + 1;
    expect(body.subarray(end, end + delimiter.length).equals(delimiter)).toBe(true);
    parts.push({ range, bytes: body.subarray(start, end) });
    at = end + delimiter.length;
  }
}
