import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../../scripts/cli/ask.ts';
import { diagnoseAddress } from '../../../src/operations/diagnose/address.ts';
import type { AddressDeps, Ask } from '../../../src/operations/diagnose/ask.ts';
import { readVersion, systemClock } from '../../../src/system.ts';
import { release } from '../../http/support.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** `doctor --url`: a real service behind a proxy that does one thing wrong at a time. */

const URL_OF_CLIENTS = 'https://updates.test/path';
const ALL_OK = [
  ...['address', 'encryption', 'public address', 'client address', 'access tokens'],
  ...['long headers', 'request bodies', 'caching', 'conditional requests', 'ranges'],
  ...['private metrics', 'clock of the service', 'version of the service', 'same store'],
];

/** What the proxy does with a request. */
interface Fault {
  /** Answers instead of the service; undefined: passes the request on. */
  readonly answer?: (
    path: string,
    headers: IncomingHttpHeaders,
    method: string,
  ) => { status: number; body?: string; headers?: Record<string, string> } | undefined;
  /** Changes the headers of the request, whose X-Forwarded-For is already completed. */
  readonly change?: (headers: Record<string, string>) => void;
  readonly changeAnswer?: (headers: IncomingHttpHeaders) => void;
}

let fault: Fault = {};
let service: TestService;
let proxy: Server;
let proxied: string;

beforeAll(async () => {
  const env = { PUBLIC_URL: URL_OF_CLIENTS, TRUST_PROXY: '127.0.0.1' };
  service = await createTestService({ env, store: 'directory' });
  await release(service, '1.0.0', ['linux x64 appimage']);
  const inside = new URL(await service.listen());
  proxy = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    const { url = '/', method = 'GET', headers } = request;
    const given = fault.answer?.(url, headers, method);
    if (given !== undefined) {
      response.writeHead(given.status, given.headers).end(given.body);
      return;
    }
    const forwarded = [headers['x-forwarded-for'], '198.51.100.7'].filter(Boolean).join(', ');
    const sent = { ...headers, 'x-forwarded-for': forwarded } as unknown as Record<string, string>;
    fault.change?.(sent);
    const options = { port: inside.port, path: url, method, headers: sent };
    const onward = httpRequest(options, (answer) => {
      fault.changeAnswer?.(answer.headers);
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  proxied = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterEach(() => {
  fault = {};
});
afterAll(async () => {
  proxy.close();
  await service.close();
});

/** TLS ends at a proxy in front of this one. */
const throughTls: Ask = (url, question) =>
  url.startsWith('http:')
    ? ask('http://127.0.0.1:9', question)
    : ask(url.replace('https://updates.test', proxied), question);

async function findings(other: Partial<AddressDeps> = {}) {
  const checks = await diagnoseAddress({
    ask: throughTls,
    clock: systemClock,
    url: URL_OF_CLIENTS,
    version: readVersion(),
    catalogs: service,
    application: 'desktop',
    ...other,
  });
  const wrong = checks.filter(({ outcome }) => outcome !== 'ok');
  return { checks, wrong: wrong.map(({ name, outcome }) => `${name}: ${outcome}`) };
}

describe('diagnoseAddress', () => {
  it('finds nothing wrong with a proxy that does its work', async () => {
    const { checks } = await findings();
    expect(checks.map(({ name, outcome, detail }) => [name, outcome, detail])).toEqual(
      ALL_OK.map((name) => [name, 'ok', expect.any(String)]),
    );
  });

  it.each<[string, Fault, readonly string[]]>([
    [
      'drops Authorization',
      { change: (headers) => void delete headers.authorization },
      ['access tokens: failed'],
    ],
    [
      'sends no X-Forwarded-For',
      { change: (headers) => void delete headers['x-forwarded-for'] },
      ['client address: failed'],
    ],
    [
      'passes the X-Forwarded-For of the client on',
      {
        change: (h) =>
          void Object.assign(h, { 'x-forwarded-for': h['x-forwarded-for']?.split(',')[0] }),
      },
      ['client address: failed'],
    ],
    [
      'refuses long headers',
      {
        answer: (_path, headers) =>
          (headers.range?.length ?? 0) > 8000 ? { status: 400, body: 'too long' } : undefined,
      },
      ['long headers: warning'],
    ],
    [
      'drops ranges',
      { change: (headers) => void delete headers.range },
      ['long headers: warning', 'ranges: failed'],
    ],
    [
      'drops ETag',
      { changeAnswer: (headers) => void delete headers.etag },
      ['conditional requests: warning'],
    ],
    [
      'drops If-None-Match',
      { change: (headers) => void delete headers['if-none-match'] },
      ['conditional requests: warning'],
    ],
    [
      'refuses POST',
      { answer: (_path, _headers, method) => (method === 'POST' ? { status: 405 } : undefined) },
      ['request bodies: failed'],
    ],
    [
      'shows the metrics',
      {
        answer: (path) =>
          path.endsWith('/metrics') ? { status: 200, body: '# HELP x y\nx 1\n' } : undefined,
      },
      ['private metrics: failed'],
    ],
    [
      'keeps /readyz for itself',
      { answer: (path) => (path.endsWith('/readyz') ? { status: 404, body: '' } : undefined) },
      ['same store: failed'],
    ],
  ])('the proxy %s', async (_what, made, expected) => {
    fault = made;
    const { checks, wrong } = await findings();
    expect(wrong).toEqual(expected);
    for (const { outcome, remedy } of checks) expect(remedy === null).toBe(outcome === 'ok');
  });

  it('a cache that keeps private answers is found', async () => {
    let kept: string | undefined;
    fault = {
      answer: (path) =>
        kept !== undefined && path.endsWith('/system/request')
          ? { status: 200, body: kept, headers: { 'content-type': 'application/json' } }
          : undefined,
    };
    kept = (await throughTls(`${URL_OF_CLIENTS}/api/v1/system/request`)).text;
    expect((await findings()).wrong).toContain('caching: failed');
  });

  it.each([
    ['the proxy cannot reach the service', { status: 502 }, /The proxy .* answers 502/],
    ['another program answers', { status: 200, body: '<html>' }, /not the answer of Slipway/],
    [
      'the address redirects',
      { status: 301, headers: { location: 'https://other.test/' } },
      /redirects to https:\/\/other\.test\//,
    ],
  ])('%s: one failure, and no further question', async (_what, answer, detail) => {
    fault = { answer: () => answer };
    const { checks } = await findings();
    expect(checks).toEqual([
      {
        name: 'address',
        outcome: 'failed',
        detail: expect.stringMatching(detail),
        remedy: expect.any(String),
      },
    ]);
  });

  it('a host that does not answer: says why', async () => {
    const { checks } = await findings({
      ask: (_url, question) => ask('http://127.0.0.1:9', question),
    });
    expect(checks).toHaveLength(1);
    expect(checks[0]?.detail).toMatch(/got no answer \(.+\)/);
  });

  it('another PUBLIC_URL, another version, another clock, another store', async () => {
    const elsewhere = await findings({ url: 'https://updates.test' });
    expect(elsewhere.wrong).toEqual(['public address: failed']);
    expect((await findings({ version: '9.9.9' })).wrong).toEqual([
      'version of the service: warning',
    ]);
    const clock = { now: () => systemClock.now() - 60_000 };
    expect((await findings({ clock })).wrong).toEqual(['clock of the service: warning']);
    await release(service, '1.1.0', ['linux x64 appimage']);
    expect((await findings()).wrong).toEqual([]);
    const other = await createTestService();
    for (const version of ['1.0.0', '1.1.0', '1.2.0'])
      await release(other, version, ['linux x64 appimage']);
    expect((await findings({ catalogs: other })).wrong).toEqual(['same store: failed']);
    const younger = await createTestService();
    await release(younger, '1.0.0', ['linux x64 appimage']);
    expect((await findings({ catalogs: younger })).wrong).toEqual(['same store: failed']);
    await younger.close();
    await other.close();
    expect((await findings({ catalogs: undefined })).wrong).toEqual(['same store: skipped']);
  });

  it('a proxy without TLS that TRUST_PROXY does not name is found as well', async () => {
    fault = { change: (headers) => void Object.assign(headers, { 'x-forwarded-for': 'unknown' }) };
    const plain: Ask = (url, question) =>
      ask(url.replace('http://updates.test', proxied), question);
    const { wrong } = await findings({ url: 'http://updates.test/path', ask: plain });
    expect(wrong).toContain('client address: failed');
  });

  it.each(['null', '[]', '"text"', '{"catalogs":null}'])(
    'a proxy that answers %s to everything is no bug of this command',
    async (body) => {
      fault = {
        answer: (path) =>
          path.endsWith('/livez')
            ? undefined
            : { status: 200, body, headers: { 'content-type': 'application/json' } },
      };
      const { wrong } = await findings();
      expect(wrong).toContain('same store: failed');
    },
  );

  it('plain HTTP is a warning', async () => {
    const plain: Ask = (url, question) =>
      ask(url.replace('http://updates.test', proxied), question);
    const { wrong } = await findings({ url: 'http://updates.test/path', ask: plain });
    expect(wrong).toContain('encryption: warning');
  });
});
