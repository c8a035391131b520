import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/server/http/error-responses.ts';
import { character } from '../../support/character.ts';
import { rounds } from '../../support/rounds.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION, release } from '../support.ts';
import { HOSTILE } from './hostile-texts.ts';
import { exchange, type RawAnswer } from './raw-client.ts';

/** Generated over a bare socket, so that nothing between here and the server tidies it up. */

const REQUESTS = rounds(1_600, 100_000);
const SEED = 20_261_121;
const AT_ONCE = 8;

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  fc.string({ unit: character, maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
/** As it is, properly escaped, or escaped twice. */
const segment = fc
  .tuple(text, fc.constantFrom('raw', 'escaped', 'twice'))
  .map(([value, how]) =>
    how === 'raw'
      ? value
      : how === 'escaped'
        ? percentEncode(value)
        : percentEncode(percentEncode(value)),
  );

const prefix = fc.constantFrom(
  CHECK_UPDATE,
  LATEST_VERSION,
  `${DOWNLOAD}/`,
  DOWNLOAD,
  '/feeds/desktop/stable/electron/',
  '/feeds/desktop/stable/tauri/',
  '/feeds/',
  '/files/apps/desktop/',
  '/files/',
  '/livez',
  '/readyz',
  '/openapi.json',
  '/docs/',
  '/docs/static/',
  '/',
);
const parameter = fc.constantFrom(
  ...'app channel platform arch format version expires filename signature bundle_type __proto__ x[]'.split(
    ' ',
  ),
);
const address = fc
  .tuple(
    prefix,
    fc.array(segment, { maxLength: 4 }),
    fc.array(fc.tuple(parameter, segment), { maxLength: 4 }),
  )
  .map(([start, path, query]) => {
    const search = query.map(([name, value]) => `${name}=${value}`).join('&');
    const rest = start.endsWith('/') ? path.join('/') : '';
    return start + rest + (search === '' ? '' : `?${search}`);
  });

const method = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('GET', 'POST', 'HEAD') },
  fc.constantFrom('PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'FOO'),
);

const field = fc.constantFrom(
  ...'current_version platform arch channel app installation_id os_version format locale __proto__ x'.split(
    ' ',
  ),
);
const scalar = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.bigInt());
const body = fc.oneof(
  fc
    .array(fc.tuple(field, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }))), { maxLength: 9 })
    .map((entries) => {
      const good = [
        ['current_version', '1.0.0'],
        ['platform', 'windows'],
        ['arch', 'x64'],
      ];
      const members = [...good, ...entries].map(
        ([name, value]) => `${JSON.stringify(name)}:${toJson(value)}`,
      );
      return `{${members.join(',')}}`;
    }),
  fc.json(),
  text,
  fc.constantFrom(
    '[['.repeat(5_000),
    '{"a":'.repeat(3_000),
    `${'['.repeat(7_000)}${']'.repeat(7_000)}`,
    '{"__proto__":{"platform":"windows"}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    'x'.repeat(70_000),
    `{"current_version":"${'1'.repeat(40_000)}"}`,
    '\ufeff{}',
    '{}{}',
    '',
  ),
);
const contentType = fc.constantFrom(
  'application/json',
  'application/json',
  'application/json; charset=utf-16',
  'application/problem+json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'nonsense',
  '',
);
const header = fc.tuple(
  fc.constantFrom(
    ...'Range If-Range If-None-Match Accept Origin X-Request-Id X-Current-Version X-User-Staging-Id Authorization X-Forwarded-For Cookie Content-Encoding Host'.split(
      ' ',
    ),
  ),
  fc.oneof(
    fc.constantFrom('bytes=0-', 'bytes=-0', '*', 'application/json', '1.0.0', 'gzip', 'a, b'),
    text.map((value) => value.replace(/[^\x20-\x7e\x80-\xff]/g, '')),
  ),
);

const request = fc
  .record({ method, address, body, contentType, headers: fc.array(header, { maxLength: 3 }) })
  .map((parts) => {
    const payload = Buffer.from(
      parts.method === 'GET' || parts.method === 'HEAD' ? '' : parts.body,
    );
    const lines = [
      // A line break would end the request line and begin another request.
      `${parts.method} ${parts.address.replace(/[\r\n]/g, '')} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      ...parts.headers.map(([name, value]) => `${name}: ${value}`),
      ...(payload.length > 0
        ? [`Content-Type: ${parts.contentType}`, `Content-Length: ${payload.length}`]
        : []),
    ];
    return {
      ...parts,
      bytes: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), payload]),
    };
  });

describe('hostile input', () => {
  let service: TestService;
  const log: string[] = [];
  const statuses = new Map<number, number>();

  beforeAll(async () => {
    service = await createTestService({ store: 'directory', log });
    await release(service, '1.0.0', ['windows x64 nsis', 'linux arm64 appimage']);
    await release(service, '2.0.0', ['windows x64 nsis', 'macos universal zip']);
  });
  afterAll(() => service.close());

  it(`${REQUESTS} generated requests: no 5xx, no crash, every 4xx a problem document`, async () => {
    const port = Number(new URL(await service.listen()).port);
    const batches = fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE });
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        const answers = await Promise.all(batch.map(({ bytes }) => exchange(port, bytes)));
        for (const [i, { method: sent, bytes }] of batch.entries()) {
          judge(answers[i], sent, bytes.toString());
        }
      }),
      { seed: SEED, numRuns: REQUESTS / AT_ONCE, endOnFailure: true },
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    for (const line of log) expect(() => JSON.parse(line)).not.toThrow();
    const shown = [...statuses].sort(([a], [b]) => a - b).map(([code, n]) => `${code}: ${n}`);
    console.log(`hostile input: ${REQUESTS} requests, ${shown.join(', ')}`);
    // The generator must reach the routes, not only the parser.
    expect(statuses.get(200)).toBeGreaterThan(100);
  }, 600_000);

  function judge(answer: RawAnswer | undefined, sent: string, bytes: string): void {
    expect(answer, bytes).toBeDefined();
    const { status, headers, body: content } = answer as RawAnswer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expect(status, bytes).toBeLessThan(500);
    expect(Object.keys(headers)).not.toContain('set-cookie');
    // 416 has no document: a range is refused by its Content-Range.
    if (status < 400 || status === 416 || sent === 'HEAD') return;
    expect(headers['content-type'], bytes).toBe('application/problem+json; charset=utf-8');
    expect(problemSchema.parse(JSON.parse(content))).toMatchObject({ status });
  }
});

function percentEncode(value: string): string {
  return encodeURIComponent(value.replace(/\p{Cs}/gu, '\ufffd'));
}

function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? `[${value.map(toJson).join(',')}]` : JSON.stringify(value);
}
