import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRootlessTrust } from '../../../../src/catalog/trust/trust.ts';
import { readVersion, systemClock } from '../../../../src/core/system.ts';
import { ask } from '../../../../src/features/doctor/ask-over-http.ts';
import { diagnoseAddress } from '../../../../src/features/doctor/diagnose/address.ts';
import type { AddressDeps, Ask } from '../../../../src/features/doctor/diagnose/ask.ts';
import { release } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';

/** `doctor --url`: a real service behind a proxy that does one thing wrong at a time. */

const URL_OF_CLIENTS = 'https://updates.test/path';
const ALL_OK = [
  ...['address', 'encryption', 'public address', 'caching', 'equal processes', 'client address'],
  ...['access tokens', 'long headers', 'request bodies', 'conditional requests', 'ranges'],
  ...['private metrics', 'clock of the service', 'version of the service', 'default application'],
  ...['same store', 'root of trust', 'signed states', 'status of the service'],
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
    trust: createRootlessTrust({
      store: service.store,
      unsigned: new Set(),
      signers: async () => [],
      freshMs: 0,
    }),
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
      ['long headers: failed', 'ranges: failed'],
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

  it('processes with other settings are found, although each request reaches one of them', async () => {
    let count = 0;
    fault = {
      answer: (path) => {
        count += path.endsWith('/system/request') ? 1 : 0;
        if (!path.endsWith('/system/request') || count % 3 !== 0) return undefined;
        const seen = { address: '198.51.100.7', public_url: 'http://127.0.0.1:8080' };
        return { status: 200, body: JSON.stringify({ ...seen, request_id: `r${count}` }) };
      },
    };
    expect((await findings()).wrong).toContain('equal processes: failed');
  });

  it('what the service says of itself is passed on', async () => {
    const components = [
      { name: 'Object store', status: 'major_outage', description: 'Refuses this service.' },
      { name: 'Mail', status: 'operational', description: '' },
    ];
    for (const [indicator, outcome] of [
      ['minor', 'warning'],
      ['major', 'failed'],
      ['critical', 'failed'],
    ]) {
      const body = JSON.stringify({ status: { indicator }, components });
      fault = {
        answer: (path) => (path.endsWith('/system/status') ? { status: 200, body } : undefined),
      };
      const { checks, wrong } = await findings();
      expect(wrong).toEqual([`status of the service: ${outcome}`]);
      expect(checks.at(-1)?.detail).toBe('Object store: Refuses this service.');
    }
  });

  it('a default application that is not published is found', async () => {
    const body = JSON.stringify({ code: 'unknown_application' });
    fault = {
      answer: (path) => (path.endsWith('/latest-version') ? { status: 404, body } : undefined),
    };
    expect((await findings()).wrong).toContain('default application: warning');
  });

  it.each([
    ['certificate has expired', /Renew/],
    ['self-signed certificate in certificate chain', /NODE_EXTRA_CA_CERTS/],
    ["Hostname/IP does not match certificate's altnames", /host name/],
    ['getaddrinfo ENOTFOUND updates.test', /DNS/],
  ])('%s: says what to do about it', async (failure, remedy) => {
    const none: Ask = async () => ({ status: 0, failure, headers: { get: () => null }, text: '' });
    const { checks } = await findings({ ask: none });
    expect(checks[0]?.remedy).toMatch(remedy);
  });

  it.each([
    [404, /S3_PUBLIC_ENDPOINT/],
    [200, /Range/],
  ])('a link whose host answers %i names that host, not the proxy', async (status, remedy) => {
    const elsewhere: Ask = async (url, question) => {
      if (!url.startsWith('https://files.test')) {
        const reply = await throughTls(url, question);
        const location = 'https://files.test/app';
        const headers = { get: (name: string) => (name === 'location' ? location : null) };
        return reply.status === 302 ? { ...reply, headers } : reply;
      }
      return { status, failure: undefined, headers: { get: () => null }, text: 'whole' };
    };
    const { checks } = await findings({ ask: elsewhere });
    const check = checks.find(({ name }) => name === 'ranges');
    expect(check).toMatchObject({ outcome: 'failed', remedy: expect.stringMatching(remedy) });
    expect(check?.detail).toContain('https://files.test');
  });

  it.each([
    ['passes x-accel-redirect on', 206, { 'x-accel-redirect': '/slipway-files/apps/a' }, /to off/],
    ['passes x-sendfile on', 206, { 'x-sendfile': '/var/lib/slipway/objects/apps/a' }, /to off/],
    ['may not read the files', 403, {}, /the proxy must have the right to read/],
  ])(
    'a proxy that should send the files, and %s, is found',
    async (_what, status, headers, remedy) => {
      fault = {
        answer: (path) => (path.includes('/files/') ? { status, headers, body: '' } : undefined),
      };
      const { checks, wrong } = await findings();
      expect(wrong).toEqual(['ranges: failed']);
      expect(checks.find(({ name }) => name === 'ranges')?.remedy).toMatch(remedy);
    },
  );

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
    expect((await findings({ catalogs: undefined })).wrong).toEqual([
      'same store: skipped',
      'root of trust: skipped',
    ]);
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
