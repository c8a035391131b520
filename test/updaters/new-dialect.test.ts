import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { DEFAULT_TIERS } from '../../src/domain/tier.ts';
import { createByteAnswers } from '../../src/server/bytes/byte-answers.ts';
import type { App } from '../../src/server/deps.ts';
import { registerFeeds } from '../../src/server/feeds/feed.ts';
import { createFeeds } from '../../src/server/feeds/feed-handler.ts';
import { buildBase } from '../../src/server/set-up/base-server.ts';
import { PROTOCOLS } from '../../src/updaters/registry.ts';
import { release, setStatus } from '../server/support.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { forget, listing, NOT_TEXT, post, renderedCount } from './made-up-dialects.ts';

/** A new dialect is one object in the list of protocols: Electron's and Tauri's routes serve it as well. */

const PUBLIC = /^public, max-age=60/;
const LISTING = '/feeds/desktop/stable/listing';
const POST = '/feeds/desktop/stable/post/v1/update';

let service: TestService;
let app: App;
let counted: object[];

beforeAll(async () => {
  service = await createTestService();
  for (const version of ['1.0.0', '2.0.0', '3.0.0', '4.0.0', '5.0.0']) {
    const request = version === '4.0.0' ? { requires: '>=3.0.0' } : {};
    await release(service, version, ['windows x64 nsis'], request);
  }
  await release(service, '4.5.0', ['linux x64 deb']);
  await setStatus(service, 'pause', '2.0.0');
});
afterAll(() => service.close());

async function open(from: TestService): Promise<App> {
  const settings = { logger: pino({ level: 'silent' }), trustProxy: false };
  const opened = await buildBase(settings, new Registry());
  const deps = {
    catalog: from.app.catalog,
    tiers: DEFAULT_TIERS,
    tierOf: () => null,
    usage: {
      countCheck: (check: object) => void counted.push({ check }),
      countLink: (link: object) => void counted.push({ link }),
    },
    links: {
      link: ({ key }: { key: string }) => ({
        url: `https://s3.example/${key}`,
        expiresAt: new Date(0),
      }),
    },
    store: from.store,
    bytes: createByteAnswers(systemClock),
    clock: from.clock,
    defaultApplication: 'desktop',
    checkAgainAfterSeconds: 60,
    publicUrl: () => 'https://updates.example',
  };
  registerFeeds(opened, createFeeds(deps), [...PROTOCOLS, listing, post]);
  await opened.ready();
  return opened;
}

beforeEach(async () => {
  counted = [];
  forget();
  app = await open(service);
  return () => app.close();
});

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({ method, url, headers });

const send = (payload: string, type = 'text/xml', url = POST) =>
  app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } });

describe('a feed dialect', () => {
  it('lists the offered release and older ones as bytes', async () => {
    const { statusCode, headers, rawPayload } = await get(`${LISTING}/RELEASES`);
    expect(statusCode).toBe(200);
    // 4.0.0 requires a version that the client does not state; 2.0.0 is paused.
    expect(rawPayload).toEqual(Buffer.concat([Buffer.from('5.0.0\n3.0.0\n1.0.0'), NOT_TEXT]));
    expect(headers['content-type']).toBe('application/x-listing');
    expect(headers['cache-control']).toMatch(PUBLIC);
    expect(headers.vary).toBeUndefined();
  });

  it.each([
    ['3.0.0', '5.0.0\n4.0.0\n3.0.0'],
    ['5.0.0', '5.0.0\n4.0.0'],
    ['4.0.0', '5.0.0\n4.0.0\n3.0.0'],
    ['9.0.0', '5.0.0\n4.0.0'],
  ])('lists what a client of %s may install', async (version, expected) => {
    const { body } = await get(`${LISTING}/RELEASES?localVersion=${version}`);
    expect(
      body
        .split('\n')
        .map((line) => line.slice(0, 5))
        .join('\n'),
    ).toBe(expected);
  });

  it('has a strong entity tag of its bytes, and the same headers for HEAD', async () => {
    const url = `${LISTING}/RELEASES`;
    const first = await get(url);
    expect(first.headers.etag).toMatch(/^"[\w-]+"$/);
    const again = await get(url, { 'if-none-match': String(first.headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    const head = await get(url, {}, 'HEAD');
    expect([head.statusCode, head.body]).toEqual([200, '']);
    for (const name of ['etag', 'content-length', 'content-type', 'cache-control']) {
      expect(head.headers[name]).toBe(first.headers[name]);
    }
  });

  it('is rendered once for all clients, and counted for each', async () => {
    for (let client = 0; client < 5; client++) await get(`${LISTING}/RELEASES?any=${client}`);
    expect(renderedCount()).toBe(1);
    expect(counted).toHaveLength(5);
    expect(counted[0]).toMatchObject({ check: { version: null, offered: '5.0.0' } });
    await get(`${LISTING}/RELEASES`, {}, 'HEAD');
    expect(counted).toHaveLength(5);
  });

  it('redirects an address without a version to the stable address of a file', async () => {
    const { statusCode, headers } = await get(`${LISTING}/newest`);
    const file = `${LISTING}/5.0.0/App-5.0.0-windows-x64.nsis`;
    expect([statusCode, headers.location]).toEqual([302, `https://updates.example${file}`]);
    expect(headers['cache-control']).toBe('no-store');
    const link = await get(file);
    expect(link.statusCode).toBe(302);
    expect(link.headers.location).toMatch(/^https:\/\/s3\.example\/apps\/desktop\/artifacts\//);
  });

  it('finds a file by the version in its name', async () => {
    const { statusCode, headers } = await get(`${LISTING}/App-3.0.0-windows-x64.nsis`);
    expect([statusCode, headers['cache-control']]).toEqual([302, 'no-store']);
    expect(counted).toEqual([{ link: expect.objectContaining({ version: '3.0.0' }) }]);
    expect((await get(`${LISTING}/nothing`)).json()).toMatchObject({ code: 'unknown_file' });
  });

  it('refuses POST', async () => {
    const { statusCode, headers } = await send('', 'text/xml', `${LISTING}/RELEASES`);
    expect([statusCode, headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('a poll dialect', () => {
  it('answers a POST of any content type', async () => {
    const file =
      'https://updates.example/feeds/desktop/stable/post/5.0.0/App-5.0.0-windows-x64.nsis';
    for (const type of ['text/xml', 'application/json', 'application/x-www-form-urlencoded']) {
      const { statusCode, headers, body } = await send('<app version="1.0.0">', type);
      expect(statusCode).toBe(200);
      expect(body).toBe(`<update id="" version="5.0.0" url="${file}"/>`);
      expect(headers).toMatchObject({
        'content-type': 'text/xml',
        'x-dialect': 'post',
        'cache-control': 'no-store',
        vary: 'x-flavour',
      });
      expect(headers.etag).toBeUndefined();
    }
    expect(counted[0]).toMatchObject({ check: { version: '1.0.0', offered: '5.0.0' } });
    expect(renderedCount()).toBe(1);
  });

  it('answers "no update" in its own format', async () => {
    expect((await send('<app version="5.0.0">')).body).toBe('<no up_to_date/>');
  });

  it('takes a POST without a body', async () => {
    const { body } = await app.inject({ method: 'POST', url: POST });
    expect(body).toContain('version="5.0.0"');
  });

  it('lets no cache store an answer with text of one client', async () => {
    for (const id of ['a', 'b']) {
      const { headers, body } = await send(`<app version="1.0.0" id="${id}">`);
      expect(body).toContain(`<update id="${id}"`);
      expect(headers['cache-control']).toBe('private, no-store');
    }
    expect(renderedCount()).toBe(2);
  });

  it('answers an unknown application in its own format, and other errors as problem documents', async () => {
    const unknown = POST.replace('desktop', 'other');
    const { statusCode, headers, body } = await send('', 'text/xml', unknown);
    expect([statusCode, body]).toEqual([200, '<error-unknownApplication/>']);
    expect(headers['cache-control']).toBe('private, no-store');
    const problem = await send('', 'text/xml', POST.replace('stable', 'nightly'));
    expect(problem.json()).toMatchObject({ status: 404, code: 'unknown_channel' });
    expect(counted).toEqual([]);
  });

  it('answers 503 in an outage', async () => {
    const unloaded = await createTestService({ start: false });
    const blind = await open(unloaded);
    const { statusCode, headers } = await blind.inject({ method: 'POST', url: POST });
    expect(statusCode).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await blind.close();
    await unloaded.close();
  });

  it('refuses a body above 16 KiB', async () => {
    const { body } = await send('x'.repeat(16 * 1024 + 1));
    expect(JSON.parse(body)).toMatchObject({ status: 413, code: 'body_too_large' });
  });

  it('answers 405 to GET for a document that takes only POST', async () => {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await get(POST, {}, method);
      expect([statusCode, headers.allow, headers['cache-control']]).toEqual([
        405,
        'POST',
        'no-store',
      ]);
    }
    expect((await get(POST)).json()).toMatchObject({ code: 'method_not_allowed' });
    const other = '/feeds/desktop/stable/post/nothing';
    expect((await get(other)).json()).toMatchObject({ status: 404, code: 'unknown_file' });
  });

  it('answers GET for its files', async () => {
    const file = '/feeds/desktop/stable/post/3.0.0/App-3.0.0-windows-x64.nsis';
    expect((await get(file)).statusCode).toBe(302);
  });
});

it('a dialect without POST answers 405', async () => {
  const { statusCode, headers } = await send(
    '',
    'text/xml',
    '/feeds/desktop/stable/electron/latest.yml',
  );
  expect([statusCode, headers.allow]).toEqual([405, 'GET, HEAD']);
});
