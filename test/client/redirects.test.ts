import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createUpdater } from '../../src/client/create-updater.ts';
import { createHttp } from '../../src/client/http.ts';
import { decideRedirect, type Fetch } from '../../src/client/redirects.ts';
import { type ClientWorld, openClientWorld } from './world.ts';

/** The headers of the application go to the service alone, whatever it redirects to. */

const OWN = { Authorization: 'Bearer t', 'X-Api-Key': 'k', cookie: 's=1', 'x-tenant': 'a' };
/** The names of the headers that must not leave the service. */
const SECRET = Object.keys(OWN).map((name) => name.toLowerCase());

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server on loopback, at an origin of its own. */
async function listen(answer: RequestListener) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    asked.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { asked, url: `http://127.0.0.1:${port}`, close };
}

/** Redirects `/to?STATUS&ADDRESS`, and answers everything else. */
const redirecting: RequestListener = (request, response) => {
  const [, status, location] = /^\/to\?(\d+)&(.*)$/.exec(request.url ?? '') ?? [];
  if (status === undefined) return void response.end('bytes');
  response.writeHead(Number(status), { location: decodeURIComponent(location ?? '') }).end('moved');
};

let service: Awaited<ReturnType<typeof listen>>;
let store: Awaited<ReturnType<typeof listen>>;
const to = (location: string, status = 302): string =>
  `/to?${status}&${encodeURIComponent(location)}`;

beforeAll(async () => {
  service = await listen(redirecting);
  store = await listen(redirecting);
});
afterAll(() => {
  service.close();
  store.close();
});
beforeEach(() => {
  service.asked.length = 0;
  store.asked.length = 0;
});

/** What a request of the client gets. */
async function read(path: string, given: { fetch?: Fetch; body?: string } = {}): Promise<string> {
  const { fetch: used = fetch, body } = given;
  const http = createHttp({ fetch: used, headers: OWN, now: Date.now, patienceMs: 5_000 });
  const request = { max: 1_000, ...(body === undefined ? {} : { body }) };
  const { status, bytes } = await http.read(`${service.url}${path}`, request);
  return `${status} ${bytes}`;
}

/** The names of the application's own headers, for each request. */
const secretsIn = ({ asked }: typeof service): readonly string[][] =>
  asked.map(({ headers }) => SECRET.filter((name) => headers[name] !== undefined));

describe('the headers of the application', () => {
  it('stay with the service when it redirects to another port', async () => {
    expect(await read(to(`${store.url}/file`))).toBe('200 bytes');
    expect(secretsIn(service)).toEqual([SECRET]);
    expect(secretsIn(store)).toEqual([[]]);
  });

  it('stay with the service when it redirects to itself', async () => {
    expect(await read(to('/file'))).toBe('200 bytes');
    expect(secretsIn(service)).toEqual([SECRET, SECRET]);
  });

  it('are not sent again when another host leads back to the service', async () => {
    expect(await read(to(`${store.url}${to(`${service.url}/file`)}`))).toBe('200 bytes');
    expect(secretsIn(service)).toEqual([SECRET, []]);
    expect(secretsIn(store)).toEqual([[]]);
  });

  it.each([
    [302, 'GET', ''],
    [307, 'POST', '{}'],
  ])('are not sent with a question that %i leads elsewhere', async (status, method, body) => {
    expect(await read(to(`${store.url}/file`, status), { body: '{}' })).toBe('200 bytes');
    expect(store.asked).toMatchObject([{ method, body }]);
    expect(secretsIn(store)).toEqual([[]]);
  });

  it('are not sent in a circle', async () => {
    const circle: Fetch = (url, init) => fetch(url.replace('/again', to('/again')), init);
    const failing = read('/again', { fetch: circle });
    await expect(failing).rejects.toMatchObject({ code: 'service_refused' });
    expect(service.asked).toHaveLength(11);
  });
});

/** `net.fetch` of Electron fails at a redirect that it may not follow, and follows with all headers otherwise. */
const likeElectron: Fetch = async (url, init) => {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) return response;
  if (init.redirect === 'manual') throw new Error('Redirect was cancelled');
  return likeElectron(new URL(location, url).href, init);
};

/** A `fetch` like that of browsers hides the redirect. */
const likeBrowsers: Fetch = async (url, init) => {
  const response = await fetch(url, init);
  if (init.redirect !== 'manual' || response.headers.get('location') === null) return response;
  const hidden = { type: 'opaqueredirect', status: 0, headers: new Headers(), body: null };
  return hidden as unknown as Response;
};

describe.each([
  ['net.fetch of Electron', likeElectron],
  ['a fetch that hides redirects', likeBrowsers],
])('with %s', (_name, used) => {
  it('no header of the application leaves the service', async () => {
    expect(await read(to(`${store.url}/file`), { fetch: used })).toBe('200 bytes');
    expect(secretsIn(service)).toEqual([SECRET, []]);
    expect(secretsIn(store)).toEqual([[]]);
  });

  it('a request without a redirect has the headers', async () => {
    expect(await read('/file', { fetch: used })).toBe('200 bytes');
    expect(secretsIn(service)).toEqual([SECRET]);
  });

  it('a client without headers asks twice only once', async () => {
    const http = createHttp({ fetch: used, headers: {}, now: Date.now, patienceMs: 5_000 });
    for (let n = 0; n < 3; n += 1) {
      await http.read(`${service.url}${to(`${store.url}/file`)}`, { max: 1_000 });
    }
    expect(service.asked).toHaveLength(4);
  });
});

describe('a redirect', () => {
  const from = (url: string, given: object = {}) => ({ url, request: { headers: {}, ...given } });
  const answer = (status: number, location?: string) => ({
    status,
    headers: new Headers(location === undefined ? {} : { location }),
  });

  it.each<[string, string, number, string | undefined, string | undefined]>([
    ['is followed', 'https://a/x', 302, 'https://b/y', 'https://b/y'],
    ['may be relative', 'https://a/x/y', 301, 'z', 'https://a/x/z'],
    ['may lead from HTTP to HTTPS', 'http://a/', 308, 'https://a/', 'https://a/'],
    ['may stay with HTTP', 'http://a/', 303, 'http://b/', 'http://b/'],
    ['needs an address', 'https://a/', 302, undefined, undefined],
    ['is not 200', 'https://a/', 200, 'https://b/', undefined],
    ['is not 304', 'https://a/', 304, 'https://b/', undefined],
  ])('%s', (_name, url, status, location, expected) => {
    expect(decideRedirect(from(url), answer(status, location))?.url).toBe(expected);
  });

  it.each([
    ['from HTTPS to HTTP', 'https://a/', 'http://a/'],
    ['to a file', 'http://a/', 'file:///etc/passwd'],
    ['to data', 'http://a/', 'data:text/plain,x'],
    ['to no address', 'http://a/', 'http://'],
  ])('%s is refused', (_name, url, location) => {
    const decide = () => decideRedirect(from(url), answer(302, location));
    expect(decide).toThrow(expect.objectContaining({ code: 'service_refused' }));
  });

  it('of a question by 301 to 303 becomes GET without its body', () => {
    const headers = { 'content-type': 'application/json', range: 'bytes=1-' };
    const question = from('https://a/', { method: 'POST', body: '{}', headers });
    for (const status of [301, 302, 303]) {
      const { request } = decideRedirect(question, answer(status, '/b')) ?? {};
      expect(request).toEqual({ headers: { range: 'bytes=1-' } });
    }
    for (const status of [307, 308]) {
      expect(decideRedirect(question, answer(status, '/b'))?.request).toBe(question.request);
    }
  });
});

describe('an updater', () => {
  const CONTENT = 'the bytes of a program';
  let world: ClientWorld;
  let front: Awaited<ReturnType<typeof listen>>;
  let bucket: Awaited<ReturnType<typeof listen>>;

  beforeAll(async () => {
    world = await openClientWorld();
    await world.release('1.1.0', {}, CONTENT);
    bucket = await listen((request, response) => {
      const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const range = `bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}`;
      response.writeHead(start > 0 ? 206 : 200, { 'content-range': range });
      response.end(CONTENT.slice(start));
    });
    // A service that answers only with the key, and redirects to a bucket on another host.
    front = await listen(async (request, response) => {
      if (request.headers['x-api-key'] !== 'k') return void response.writeHead(401).end();
      const { method = 'GET', url = '' } = request;
      const body = front.asked.at(-1)?.body;
      if (url.endsWith('.exe')) {
        return void response.writeHead(302, { location: `${bucket.url}/App.exe` }).end();
      }
      const init = method === 'POST' ? { method, body: body ?? '' } : {};
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${world.url}${url}`, { ...init, headers });
      response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  afterAll(async () => {
    front.close();
    bucket.close();
    await world.close();
  });

  it('downloads from a bucket, which gets none of its headers, also when it goes on', async () => {
    const headers = { 'x-api-key': 'k' };
    const updater = createUpdater(await world.options({ url: front.url, headers }));
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    const stopping = new AbortController();
    const { signal } = stopping;
    const onProgress = () => stopping.abort();
    await updater.download(result.offer, { signal, onProgress }).catch(() => {});
    await updater.download(result.offer);
    expect(bucket.asked.length).toBeGreaterThan(0);
    for (const { headers: seen } of bucket.asked) expect(seen).not.toHaveProperty('x-api-key');
  });
});
