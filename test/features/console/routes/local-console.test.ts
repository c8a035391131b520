import { Agent, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_TIERS } from '../../../../src/domain/tier.ts';
import {
  buildLocalConsole,
  type LocalConsole,
} from '../../../../src/features/console/open-console.ts';
import { openBrowserFiles } from '../../../../src/web/browser-files.ts';
import { addressOf, registeredRoutes, spellingsOf } from '../../../server/http/addresses.ts';
import { openScene, type Scene } from '../console-scene.ts';

/** The routes that need no key: their answers have no data. */
const WITHOUT_KEY = ['/', '/console', '/console/*', '/assets/:file'];
const VALUES = { ':app': 'desktop', ':version': '1.0.0', ':revision': '1' };
const YANK = JSON.stringify({
  change: { kind: 'yank', version: '1.0.0', channel: null, reason: null },
  revision: 1,
});
const PAUSE = JSON.stringify({
  change: { kind: 'pause', version: '1.0.0', channel: null, reason: null },
  revision: null,
});

describe('the console on this machine', () => {
  let scene: Scene;
  let server: LocalConsole;
  let port: number;
  let origin: string;
  /** As the browser keeps it for this port. */
  let key = '';
  /** The requests of a test share its connections. */
  let agent: Agent;

  beforeEach(async () => {
    agent = new Agent({ keepAlive: true });
    scene = await openScene();
    await scene.release('1.0.0');
    server = await buildLocalConsole({
      console: scene.consoleOf('ada'),
      browserFiles: openBrowserFiles,
      tiers: DEFAULT_TIERS,
      logger: pino({ level: 'silent' }),
      randomness: scene.randomness,
    });
    await server.http.listen({ host: '127.0.0.1', port: 0 });
    ({ port } = server.http.server.address() as AddressInfo);
    origin = `http://127.0.0.1:${port}`;
  });
  afterEach(async () => {
    agent.destroy();
    await server.http.close();
    await scene.close();
  });

  /** `fetch` sets Host and Sec-Fetch-Site itself, so the requests of attackers are made by hand. */
  const ask = async (
    path: string,
    given: Record<string, string> = {},
    body?: string,
    method = body === undefined ? 'GET' : 'POST',
  ) => {
    const headers = 'cookie' in given ? { 'x-slipway-console': key, ...given } : given;
    return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
      (resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, method, headers, agent };
        const sent = httpRequest(options, (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (chunk) => {
            text += chunk;
          });
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
          );
        });
        sent.on('error', reject);
        sent.end(body);
      },
    );
  };
  const openingPath = () => server.openingUrl().slice(origin.length);
  const signIn = async (): Promise<string> => {
    const { headers, text } = await ask(openingPath());
    key = /#key&#61;([0-9a-f]{64})/.exec(text)?.[1] ?? '';
    return String(headers['set-cookie']).split(';')[0] ?? '';
  };
  const changes = async (): Promise<number> =>
    (await scene.consoleOf('eve').history('desktop', undefined)).entries.length;
  const JSON_BODY = { 'content-type': 'application/json' };

  it('turns the token of the address into a cookie, once', async () => {
    const opened = await ask(openingPath());
    expect([opened.status, opened.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(opened.text).toMatch(
      /<meta http-equiv="refresh" content="0; url=\/console#key&#61;[0-9a-f]{64}">/,
    );
    const cookie = String(opened.headers['set-cookie']);
    expect(cookie).toMatch(
      new RegExp(`^slipway-console-${port}=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(cookie).not.toContain(openingPath().split('=')[1]);
    const again = await ask(openingPath(), { accept: 'text/html' });
    expect([again.status, again.headers['set-cookie']]).toEqual([401, undefined]);
    expect(again.text).toContain('The address was used already.');
    expect(again.text).toContain('Run &#34;slipway console&#34; again');
    // The same person presses "back": the cookie is enough.
    const back = await ask(openingPath(), { cookie: cookie.split(';')[0] ?? '' });
    expect([back.status, back.headers.location]).toEqual([303, '/console']);
  });

  it('gives no data for the cookie alone, which servers on other ports of the machine get as well', async () => {
    const cookie = await signIn();
    for (const wrong of ['', '0'.repeat(64)]) {
      const headers = { cookie, origin, ...JSON_BODY, 'x-slipway-console': wrong };
      expect((await ask('/console/api/start', headers)).status).toBe(401);
      expect((await ask('/console/api/apps/desktop/change', headers, PAUSE)).status).toBe(401);
    }
    expect((await ask('/console', { cookie, 'x-slipway-console': '' })).status).toBe(200);
    expect(await changes()).toBe(1);
  });

  it('explains what a client without an installed version gets', async () => {
    const headers = { cookie: await signIn(), origin };
    const query = 'platform=windows&arch=x64';
    const explained = await ask(`/console/api/apps/desktop/explain?${query}`, headers);
    expect([explained.status, JSON.parse(explained.text).headline]).toEqual([
      200,
      'desktop on windows-x64 is offered 1.0.0 (windows-x64 nsis) on stable.',
    ]);
  });

  /** A server on another port of this machine gets the cookie, and can send any header. */
  const forgedOf = (cookie: string) => ({
    ...JSON_BODY,
    cookie,
    origin,
    'sec-fetch-site': 'same-origin',
    'x-slipway-console': '',
  });
  const dataRoutes = () =>
    registeredRoutes(server.http).filter(({ url }) => !WITHOUT_KEY.includes(url));

  it('needs the key on every route that does not state that it has no data', async () => {
    expect(registeredRoutes(server.http).map(({ url }) => url)).toEqual(
      expect.arrayContaining([...WITHOUT_KEY, '/console/api/apps/:app/change']),
    );
    const forged = forgedOf(await signIn());
    for (const { url, methods } of dataRoutes()) {
      for (const method of methods) {
        const { status } = await ask(addressOf(url, VALUES), forged, undefined, method);
        expect(status, `${method} ${url}`).toBe(401);
      }
    }
  });

  it('needs the key on a route that is added without a thought', async () => {
    const other = await buildLocalConsole({
      console: scene.consoleOf('ada'),
      browserFiles: openBrowserFiles,
      tiers: DEFAULT_TIERS,
      logger: pino({ level: 'silent' }),
      randomness: scene.randomness,
    });
    other.http.get('/new', () => 'data');
    await other.http.listen({ host: '127.0.0.1', port: 0 });
    const opened = await fetch(other.openingUrl());
    const [cookie = ''] = opened.headers.getSetCookie().join().split(';');
    const answer = await fetch(new URL('/new', other.openingUrl()), { headers: { cookie } });
    expect(answer.status).toBe(401);
    await other.http.close();
  });

  it('gives no data and changes nothing for the cookie alone, in any spelling of an address', async () => {
    const forged = forgedOf(await signIn());
    const before = await changes();
    const attack = async (method: string, address: string) => {
      const body = method === 'GET' || method === 'HEAD' ? undefined : YANK;
      const { status, headers, text } = await ask(address, forged, body, method);
      // The page has no data, and the first address leads to it.
      const isPage = status === 200 && headers['content-type'] === 'text/html; charset=utf-8';
      expect(isPage || status >= 300, `${status} ${method} ${address} ${text}`).toBe(true);
      expect(text).not.toMatch(/1\.0\.0|"applications"|"stable"/);
    };
    for (const { url, methods } of dataRoutes()) {
      const [method = 'GET'] = methods;
      for (const address of spellingsOf(addressOf(url, VALUES))) await attack(method, address);
    }
    for (const method of ['HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      for (const address of spellingsOf('/console/api/apps/desktop/change')) {
        // Node's parser refuses some addresses, before it knows that the answer must have no body.
        if (method !== 'HEAD' || address.startsWith('/')) await attack(method, address);
      }
    }
    const spelled = fc
      .array(fc.boolean(), { minLength: 32, maxLength: 32 })
      .map((encoded) =>
        [...'/console/api/apps/desktop/change']
          .map((letter, n) => (encoded[n] ? `%${letter.charCodeAt(0).toString(16)}` : letter))
          .join(''),
      );
    await fc.assert(
      fc.asyncProperty(spelled, (address) => attack('POST', address.replace(/^%2f/, '/'))),
      { numRuns: 50 },
    );
    expect(await changes()).toBe(before);
  }, 30_000);

  it('refuses a wrong token, and the right one still works afterwards', async () => {
    const wrong = await ask(`/?token=${'0'.repeat(64)}`);
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
    expect(JSON.parse(wrong.text)).toMatchObject({
      code: 'not_signed_in',
      detail: expect.stringContaining('does not belong to this console'),
    });
    expect(await signIn()).not.toBe('');
  });

  it('shows nothing without the cookie: no page, no file, no data', async () => {
    const files = await openBrowserFiles();
    for (const path of [
      '/console',
      '/console/desktop',
      '/console/api/start',
      '/',
      '/nothing',
      `/${files.nameOf('console.js')}`,
    ]) {
      const { status, text } = await ask(path);
      expect([status, JSON.parse(text).code], path).toEqual([401, 'not_signed_in']);
    }
    const refused = await ask('/console/api/start', { cookie: `slipway-console-${port}=wrong` });
    expect(refused.status).toBe(401);
  });

  it('shows the page for every screen, with a strict policy', async () => {
    const cookie = await signIn();
    for (const path of ['/console', '/console/desktop/releases/1.0.0?channel=stable']) {
      const { status, headers, text } = await ask(path, { cookie });
      expect(status, path).toBe(200);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(text).not.toMatch(/<style|style=|<script>| on[a-z]+=/);
      const [script = ''] = /\/assets\/console-[0-9A-Z]{8}\.js/.exec(text) ?? [];
      expect((await ask(script, { cookie })).status).toBe(200);
    }
  });

  it('answers 304 while nothing is new', async () => {
    const cookie = await signIn();
    const path = '/console/api/apps/desktop/overview';
    const first = await ask(path, { cookie });
    expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-store']);
    const match = { cookie, 'if-none-match': String(first.headers.etag) };
    expect((await ask(path, match)).status).toBe(304);
    await scene.release('1.1.0');
    expect((await ask(path, match)).status).toBe(200);
  });

  it('refuses a host name that was rebound to this machine', async () => {
    const cookie = await signIn();
    for (const host of [
      'evil.example.com',
      `evil.example.com:${port}`,
      '127.0.0.1',
      `[::1]:${port}`,
    ]) {
      const { status, text } = await ask('/console/api/start', { cookie, host });
      expect([status, JSON.parse(text).code], host).toEqual([403, 'request_forgery']);
    }
    const opening = await ask(openingPath(), { host: `evil.example.com:${port}` });
    expect(opening.status).toBe(403);
    expect((await ask('/console/api/start', { cookie, host: `localhost:${port}` })).status).toBe(
      200,
    );
  });

  it('refuses changes of pages of other websites, and of none', async () => {
    const cookie = await signIn();
    const path = '/console/api/apps/desktop/change';
    const before = await changes();
    const own = { ...JSON_BODY, cookie, origin };
    for (const [name, headers] of Object.entries({
      'another origin': { ...own, origin: 'https://evil.example.com' },
      'another port': { ...own, origin: `http://127.0.0.1:${port + 1}` },
      'a sandboxed page': { ...own, origin: 'null' },
      'no origin': { ...JSON_BODY, cookie },
      'another site': { ...own, 'sec-fetch-site': 'cross-site' },
      'the same site on another port': { ...own, 'sec-fetch-site': 'same-site' },
    })) {
      const { status, text } = await ask(path, headers, PAUSE);
      expect([status, JSON.parse(text).code], name).toEqual([403, 'request_forgery']);
    }
    expect((await ask(path, { ...JSON_BODY, origin }, PAUSE)).status).toBe(401);
    expect(await changes()).toBe(before);
    expect((await ask(path, own, PAUSE)).status).toBe(200);
    expect(await changes()).toBe(before + 1);
  });

  it('refuses what a page of another website reads, and shows the page of a followed link', async () => {
    const cookie = await signIn();
    const foreign = { cookie, 'sec-fetch-site': 'cross-site' };
    expect(
      (await ask('/console/api/start', { ...foreign, 'sec-fetch-mode': 'no-cors' })).status,
    ).toBe(403);
    const link = { ...foreign, 'sec-fetch-mode': 'navigate' };
    expect((await ask('/console', link)).status).toBe(200);
    for (const site of ['cross-site', 'same-site']) {
      expect((await ask('/console/api/start', { ...link, 'sec-fetch-site': site })).status).toBe(
        403,
      );
    }
  });

  it('takes notes of the longest length', async () => {
    const cookie = await signIn();
    const change = {
      kind: 'notes',
      version: '1.0.0',
      locale: 'de',
      markdown: 'é'.repeat(65_000),
      reason: null,
    };
    const body = JSON.stringify({ change, revision: 1 });
    const path = '/console/api/apps/desktop/preview';
    expect((await ask(path, { cookie, origin, ...JSON_BODY }, body)).status).toBe(200);
  });

  it('previews notes as harmless HTML', async () => {
    const cookie = await signIn();
    const body = JSON.stringify({ markdown: '**new** <script>alert(1)</script>' });
    const { status, text } = await ask(
      '/console/api/markdown',
      { cookie, origin, ...JSON_BODY },
      body,
    );
    expect(status).toBe(200);
    expect(JSON.parse(text).html).toContain('<strong>new</strong> &lt;script&gt;');
  });

  it('answers an unknown address below the API with a problem document', async () => {
    const cookie = await signIn();
    for (const path of ['/console/api/nope', '/console/api/', '/console/api/doctor']) {
      const { status, text } = await ask(path, { cookie });
      expect([status, JSON.parse(text).code], path).toEqual([404, 'route_not_found']);
    }
  });

  it('refuses wrong bodies with the field that is wrong', async () => {
    const cookie = await signIn();
    const send = (body: string, type = 'application/json') =>
      ask('/console/api/apps/desktop/change', { cookie, origin, 'content-type': type }, body);
    expect((await send(PAUSE, 'text/plain')).status).toBe(415);
    for (const change of [
      { kind: 'delete', version: '1.0.0' },
      { kind: 'yank', version: '', channel: null, reason: null },
      { kind: 'notes', version: '1.0.0', locale: '../x', markdown: '', reason: null },
    ]) {
      const { status, text } = await send(JSON.stringify({ change, revision: 1 }));
      expect([status, JSON.parse(text).code]).toEqual([400, 'invalid_request']);
      expect(JSON.parse(text).errors.length).toBeGreaterThan(0);
    }
    expect(await changes()).toBe(1);
  });

  it("tells the person the store's own words, and what an old state means", async () => {
    const cookie = await signIn();
    const change = { kind: 'yank', version: '1.0.0', channel: null, reason: null };
    const headers = { ...JSON_BODY, cookie, origin };
    await scene.release('1.1.0');
    const path = '/console/api/apps/desktop/change';
    const old = await ask(path, headers, JSON.stringify({ change, revision: 1 }));
    expect([old.status, JSON.parse(old.text).code]).toEqual([409, 'state_changed']);
    scene.store.goDown();
    const failed = await ask(path, headers, JSON.stringify({ change, revision: 2 }));
    expect(failed.status).toBe(503);
    expect(JSON.parse(failed.text).detail).toContain('on purpose');
  });
});
