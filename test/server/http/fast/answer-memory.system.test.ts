import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rounds } from '../../../support/rounds.ts';
import { LATEST_VERSION, release, setStatus } from '../../support.ts';
import {
  countRouted,
  expectSame,
  expectSameRecords,
  FEED,
  MACHINES,
  openPair,
  type Pair,
} from './answer-memory-pair.ts';

const TARGETS = [
  ...[
    LATEST_VERSION,
    `${LATEST_VERSION}?platform=windows&arch=x64`,
    `${LATEST_VERSION}?channel=insider`,
  ],
  ...[
    FEED,
    '/feeds/desktop/stable/electron/latest-linux.yml',
    '/feeds/desktop/beta/electron/beta.yml',
  ],
  '/feeds/desktop/stable/sparkle/appcast.xml',
  '/feeds/desktop/stable/netsparkle/appcast.xml',
  '/feeds/desktop/stable/velopack/releases.linux.json',
  '/feeds/desktop/stable/squirrel-mac/darwin/arm64/1.0.0',
  '/feeds/desktop/stable/tauri/windows/x86_64/1.0.0',
  ...['/update/win32/1.0.0', '/apps/desktop', '/apps/desktop/releases', '/api/v1/system/status'],
  ...['/api/v1/desktop/download/windows', '/feeds/desktop/stable/electron/absent.yml', '/nowhere'],
];

const SPELLINGS: readonly ((target: string) => string)[] = [
  (target) => `${target}${target.includes('?') ? '&' : '?'}noCache=1`,
  (target) =>
    `${target.replace('?', '?noCache=2&')}${target.includes('?') ? '' : '?noCache=3&noCache=4'}`,
  (target) => `${target}?`,
  (target) => `${target}?noCache=1.signature`,
  (target) => `${target}?noCache=1%2Esignature`,
  (target) => `${target}?os=x.signature&noCache=1`,
  (target) => `${target}?installation_id=one`,
  (target) => `${target}?stagingId=two&localVersion=1.0.0`,
  (target) => `${target}?localVersion=1.0.0&stagingId=three`,
  (target) => `${target}?localVersion=1.0.0`,
  (target) => `${target}?nocache=5`,
  (target) => `${target}?a=1&noCache`,
  (target) => `${target}?noCache=1#noCache=2`,
  (target) => `/base${target}`,
  (target) => `/base${target}?noCache=6`,
  (target) => target.replace('desktop', '%64esktop'),
  (target) => target.replace('stable', 'STABLE'),
  (target) => `/${target}`,
  (target) => `${target}/`,
  (target) => `http://any${target}`,
  (target) => target.replace('desktop', 'desktop%2F'),
  (target) => target.replace('/electron/', '/./electron/'),
];

const HEADERS = [
  ...['If-None-Match: *', 'If-None-Match: "other"', 'if-none-match: W/"a", "b"'],
  ...['X-Request-Id: mine', 'X-Request-Id: not plain!', 'X-Request-Id: a\r\nX-Request-Id: b'],
  ...['X-Forwarded-For: 203.0.113.9', 'X-Forwarded-For: 198.51.100.1:80, x', 'X-Forwarded-For: ,'],
  ...['X-User-Staging-Id: one', 'x-user-staging-id: ', 'X-Installation-Id: two'],
  ...[
    'Authorization: Bearer a.b.c',
    'Authorization: ',
    'Cookie: session=1',
    'Origin: https://a.example',
  ],
  ...[
    'User-Agent: electron-builder',
    'User-Agent: Mozilla/5.0 (Macintosh)',
    'X-Current-Version: 1.0.0',
  ],
  ...[
    'Range: bytes=0-1',
    'Accept: application/json',
    'Accept-Encoding: gzip',
    'Expect: 100-continue',
  ],
  ...['Expect: nothing', 'Content-Length: 0', 'If-Modified-Since: Sat, 21 Nov 2026 09:00:00 GMT'],
  ...[
    'Host: second',
    'Upgrade: h2c',
    'TE: trailers',
    'Accept-Version: 1',
    'Connection: keep-alive',
  ],
  'Transfer-Encoding: chunked\r\nX-Chunk: 0',
  Array.from({ length: 130 }, (_, index) => `X-${index}: 1`).join('\r\n'),
];

/** Most requests are usual, so that the memory answers them. */
const requestText = (tags: readonly string[]): fc.Arbitrary<string> =>
  fc
    .record({
      method: fc.oneof(
        { arbitrary: fc.constant('GET'), weight: 20 },
        { arbitrary: fc.constantFrom('HEAD', 'POST', 'OPTIONS', 'get'), weight: 1 },
      ),
      target: fc.constantFrom(...TARGETS),
      spelling: fc.oneof(
        { arbitrary: fc.constant((target: string) => target), weight: 2 },
        { arbitrary: fc.constantFrom(...SPELLINGS), weight: 1 },
      ),
      version: fc.oneof(
        { arbitrary: fc.constant('1.1'), weight: 30 },
        { arbitrary: fc.constant('1.0'), weight: 1 },
      ),
      host: fc.oneof(
        { arbitrary: fc.constant('Host: a'), weight: 30 },
        { arbitrary: fc.constant('X-Host: a'), weight: 1 },
      ),
      headers: fc.array(
        fc.constantFrom(...HEADERS, ...tags.map((tag) => `If-None-Match: ${tag}`)),
        { maxLength: 2 },
      ),
    })
    .map(({ method, target, spelling, version, host, headers }) => {
      const head = [`${method} ${spelling(target)} HTTP/${version}`, host, ...headers];
      // A chunked body without chunks.
      const body = headers.some((header) => header.startsWith('Transfer')) ? '0\r\n\r\n' : '';
      return `${head.join('\r\n')}\r\n\r\n${body}`;
    });

const LAST = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

describe('the memory of answers', () => {
  let pair: Pair;
  let routed: ReturnType<typeof countRouted>;
  beforeAll(async () => {
    pair = await openPair();
    routed = countRouted(pair);
    const { publisher } = pair;
    await release(publisher, '1.0.0', MACHINES);
    await release(publisher, '1.1.0', MACHINES);
    await release(publisher, '1.2.0-beta.1', MACHINES, { channel: 'beta' });
    await release(publisher, '1.3.0', ['windows x64 nsis'], { channel: 'insider' });
    await pair.refresh();
  });
  afterAll(async () => {
    routed.stop();
    await pair.close();
  });

  it('changes no byte, no line of the log and no count of 20,000 requests', async () => {
    const { publisher, clock, load } = pair;
    let tags: string[] = [];
    let version = 1;
    /** Something changes between the requests: the catalog, the stage of a rollout, the load. */
    const events: readonly (() => unknown)[] = [
      () => release(publisher, `2.0.${version++}`, MACHINES),
      () =>
        release(publisher, `2.0.${version++}`, MACHINES, {
          rollout: { text: '10%@0h,100%@1h', freezeWindows: [] },
        }),
      () => setStatus(publisher, 'yank', `2.0.${version - 1}`).catch(() => undefined),
      () => setStatus(publisher, 'pause', `2.0.${version - 1}`).catch(() => undefined),
      () => clock.advance(30 * 60_000),
      () => clock.advance(1_000),
      () => load.set(true),
      () => load.set(false),
    ];
    const rows = rounds(2_000, 20_000);
    for (let row = 0; row < rows; row += 1) {
      if (row % 40 === 0) {
        await events[Math.floor(row / 40) % events.length]?.();
        await pair.refresh();
        // The services answer each address once, so that one of them knows it. The clients then know its tag.
        tags = [];
        for (const target of TARGETS) {
          for (const { port } of [pair.remembering, pair.plain]) {
            const url = `http://127.0.0.1:${port}${target}`;
            const { headers } = await fetch(url, { redirect: 'manual' });
            tags.push(headers.get('etag') ?? '');
          }
        }
      }
      const requests = fc.sample(fc.array(requestText(tags), { minLength: 9, maxLength: 11 }), {
        numRuns: 1,
        seed: row,
      });
      await expectSame(pair, `${requests[0]?.join('')}${LAST}`);
    }
    load.set(false);
    await expectSameRecords(pair);
    const lines = rows * 10;
    // A memory that never answers would pass every comparison.
    expect(routed.count()).toBeLessThan(0.8 * lines);
  });
});
