import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import { type Answer, type FaultProxy, type ProxyFault, startFaultProxy } from './fault-proxy.ts';
import { type LyingStore, runLies } from './lies.ts';

const html = (status: number): Answer => ({
  status,
  headers: { 'content-type': 'text/html', 'last-modified': new Date(0).toUTCString() },
  body: Buffer.from('<html><body>Welcome to the hotel</body></html>'),
});
const plain = (status: number): Answer => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from('no'),
});

function flipBit({ status, headers, body }: Answer, fraction: () => number): Answer {
  const changed = Buffer.from(body);
  const at = Math.floor(fraction() * changed.length);
  changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(fraction() * 8));
  return { status, headers, body: changed };
}

function halve({ status, headers, body }: Answer): Answer {
  const half = body.subarray(0, body.length >> 1);
  return { status, headers: { ...headers, 'content-length': String(half.length) }, body: half };
}

/** Removes the last object from a listing, as if it were not stored yet. */
function makeStale({ status, headers, body }: Answer): Answer {
  const text = body.toString().replace(/<Contents>(?!.*<Contents>).*?<\/Contents>/s, '');
  const { 'content-length': _length, ...rest } = headers;
  return { status, headers: rest, body: Buffer.from(text) };
}

/** The possible wrong answers to a request, each with its name. */
function liesTo(method: string, url: string, fraction: () => number): [string, ProxyFault][] {
  if (method === 'PUT') {
    return [
      ['HTML 200 to a PUT', { instead: html(200) }],
      ['plain 412 to a PUT', { instead: plain(412) }],
      ['plain 200 to a PUT', { instead: plain(200) }],
    ];
  }
  if (method === 'HEAD')
    return [['404 to a HEAD', { instead: { ...plain(404), body: Buffer.alloc(0) } }]];
  if (method !== 'GET') return [];
  const page: [string, ProxyFault][] = [
    ['HTML 200', { instead: html(200) }],
    ['HTML 404', { instead: html(404) }],
    ['plain 404', { instead: plain(404) }],
  ];
  const flipped: [string, ProxyFault] = [
    'flipped bit',
    { change: (answer) => flipBit(answer, fraction) },
  ];
  return /[?&]list-type=2/.test(url)
    ? [...page, ['stale listing', { change: makeStale }]]
    : [...page, flipped, flipped, ['half a body', { change: halve }]];
}

describeS3('commands to S3 through a proxy that gives wrong answers', (server) => {
  const bucket = useBucket(server);
  let proxy: FaultProxy;
  let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeAll(async () => {
    [proxy, temporary] = await Promise.all([
      startFaultProxy(server.endpoint),
      makeTemporaryDirectory(),
    ]);
  });
  afterAll(() => Promise.all([proxy.close(), temporary.remove()]));

  it('commands with one wrong answer each lose no acknowledged change', async () => {
    let told: string | undefined;
    const lying: LyingStore = {
      store: bucket.store({ endpoint: proxy.endpoint }),
      lieAt: (n, fraction) => {
        told = undefined;
        proxy.forgetRequests();
        proxy.setPlan(({ number, method, url }) => {
          if (n === 0 || number < n || told !== undefined) return undefined;
          const lies = liesTo(method, url, fraction);
          const [kind, fault] = lies[Math.floor(fraction() * lies.length)] ?? [];
          told = kind;
          return fault;
        });
      },
      requests: () => proxy.requests(),
      told: () => told,
    };
    const direct = bucket.store();
    const { path: directory } = temporary;
    await runLies({
      lying,
      direct,
      clock: systemClock,
      directory,
      rounds: rounds(25, 1_000),
      seed: 8_252,
    });
    expect(told).toBeUndefined();
  }, 1_200_000);
});
