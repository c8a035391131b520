import { createServer, type Server, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unescapeHtml } from '../../features/website/routes/page-support.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { LATEST_VERSION, release } from '../support.ts';

const BASE = '/desktop/updates';

describe.each([
  ['strips it', true],
  ['leaves it in', false],
])('below a path of PUBLIC_URL, behind a proxy that %s', (_what, strips) => {
  let service: TestService;
  let proxy: Server;
  let origin: string;
  let upstream: URL;

  beforeAll(async () => {
    proxy = createServer((request, response) => {
      const url = request.url ?? '/';
      // Addresses outside the path belong to another service.
      if (!url.startsWith(`${BASE}/`) && url !== BASE) {
        response.writeHead(418).end();
        return;
      }
      const path = strips ? url.slice(BASE.length) || '/' : url;
      const { method, headers } = request;
      const passed = send(new URL(path, upstream), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(passed);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => proxy.once('listening', resolve));
    origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const env = { PUBLIC_URL: `${origin}${BASE}/`, COOKIE_MODE: 'true', WEBSITE_ORIGINS: origin };
    service = await createTestService({ store: 'directory', env });
    upstream = new URL(await service.listen());
    const signatures = [{ scheme: 'minisign', keyId: '1', value: 'signed' }] as const;
    await release(service, '1.0.0', [
      { machine: 'windows x64 nsis', content: 'setup' },
      { machine: 'macos universal tar.gz', content: 'tar', signatures },
    ]);
  });
  afterAll(async () => {
    await service.close();
    proxy.close();
  });

  const load = async (address: string) => {
    const response = await fetch(new URL(address, origin));
    return { url: response.url, status: response.status, text: await response.text() };
  };

  it.each(['/docs', '/docs/', '/docs/account'])(
    '%s can load all of its resources',
    async (path) => {
      const page = await load(BASE + path);
      expect(page.status).toBe(200);
      const addresses = [...page.text.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)];
      expect(addresses.length).toBeGreaterThan(4);
      for (const [, address = ''] of addresses) {
        const { status, url } = await load(new URL(address, page.url).href);
        expect(status, url).toBe(200);
      }
      for (const [, address = ''] of page.text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        expect((await load(new URL(address, page.url).href)).status, address).toBe(200);
      }
    },
  );

  it('redirects stay below the path', async () => {
    for (const [path, to] of [
      ['', '/apps/desktop'],
      ['/', '/apps/desktop'],
      ['/docs/static/index.html', '/docs'],
    ]) {
      const { url, status } = await load(`${BASE}${path}`);
      expect([new URL(url).pathname, status], path).toEqual([`${BASE}${to}`, 200]);
    }
  });

  it.each(['/apps/desktop', '/apps/desktop/releases', '/status'])(
    'everything that %s loads and links to is there',
    async (path) => {
      const page = await load(BASE + path);
      expect(page.status).toBe(200);
      const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)]
        .map(([, address = '']) => unescapeHtml(address).replace(/#.*/, ''))
        .filter((address) => address !== '');
      expect(addresses.length).toBeGreaterThan(5);
      for (const address of new Set(addresses)) {
        const { status, url } = await load(address);
        expect([status, url.startsWith(`${origin}${BASE}`)], address).toEqual([200, true]);
      }
    },
  );

  it('the document states the path of its routes', async () => {
    for (const path of ['/openapi.json', '/docs/json']) {
      const document = JSON.parse((await load(BASE + path)).text);
      expect(document.servers).toEqual([{ url: BASE }]);
      expect(Object.keys(document.paths)).toContain(LATEST_VERSION);
      const [, link = ''] = /\]\(([^)]+)\)/.exec(document.info.description) ?? [];
      expect((await load(link)).status, link).toBe(200);
    }
  });

  it('downloads, feeds and their files work', async () => {
    const latest = JSON.parse((await load(BASE + LATEST_VERSION)).text);
    for (const { url } of latest.downloads) expect(await load(url)).toMatchObject({ status: 200 });
    const electron = `${BASE}/feeds/desktop/stable/electron/latest.yml`;
    const feed = await load(electron);
    const [, file = ''] = /url: '([^']+)'/.exec(feed.text) ?? [];
    expect(await load(new URL(file, feed.url).href)).toMatchObject({ status: 200, text: 'setup' });
    const tauri = await load(`${BASE}/feeds/desktop/stable/tauri/darwin/aarch64/0.9.0`);
    expect(await load(JSON.parse(tauri.text).url)).toMatchObject({ status: 200, text: 'tar' });
    const status = JSON.parse((await load(`${BASE}/api/v1/system/status`)).text);
    expect((await load(status.page.url)).status).toBe(200);
  });

  it('a session is refreshed with its cookie', async () => {
    const account = { email: 'ada@example.com', password: 'correct horse battery staple' };
    const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(`${origin}${BASE}/api/v1/auth/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin, ...headers },
        body: JSON.stringify(body),
      });
    expect((await ask('register', account)).status).toBe(202);
    const client = { platform: 'web', device: { id: 'browser', name: 'A browser' } };
    const signedIn = await ask('login', { ...account, ...client });
    const [cookie = ''] = signedIn.headers.getSetCookie();
    // The prefix __Host- requires this path.
    expect(cookie).toMatch(/^__Host-slipway_session=.*; Path=\/;/);
    const headers = { cookie: cookie.split(';')[0] ?? '', 'x-slipway-request': '1' };
    expect((await ask('refresh', client, headers)).status).toBe(200);
  });
});
