import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childrenOf, parseXml } from '../../../src/core/xml.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createBreakableStore, release, setStatus } from '../../server/support.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** Omaha's dialect through the service: rollouts, refusals and outages. */

const ADDRESS = '/feeds/desktop/stable/omaha/v1/update';
let service: TestService;
const clock = createHastyClock();
const broken = createBreakableStore(createMemoryStore({ clock }));

beforeAll(async () => {
  service = await createTestService({
    store: broken.store,
    clock,
    env: { PUBLIC_URL: 'https://updates.example' },
  });
  await release(service, '1.0.0', ['windows x64 nsis', 'macos universal dmg']);
  await release(service, '2.0.0', ['windows x64 nsis', 'macos universal dmg']);
});
afterAll(() => service.close());

const body = (version: string, os = '<os platform="win" version="10.0" arch="x64"/>') =>
  `<?xml version="1.0"?><request protocol="3.0" userid="{A}">${os}<app appid="{1}" version="${version}"><updatecheck/></app></request>`;

async function post(payload: string, url = ADDRESS) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await service.app.http.inject({ method: 'POST', url, payload, headers });
  return { status: answer.statusCode, headers: answer.headers, body: answer.body };
}

/** The status of the first update check, and the version that it offers. */
function statusIn(xml: string) {
  const [app] = childrenOf(parseXml(xml), 'app');
  const [check] = app === undefined ? [] : childrenOf(app, 'updatecheck');
  const [manifest] = check === undefined ? [] : childrenOf(check, 'manifest');
  return [app?.attributes.status, check?.attributes.status, manifest?.attributes.version];
}

describe('POST v1/update', () => {
  it('offers the newest release, and its file is at codebase and name', async () => {
    const answer = await post(body('1.0.0.7'));
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/xml; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('private, no-store');
    expect(statusIn(answer.body)).toEqual(['ok', 'ok', '2.0.0']);
    const [, codebase] = /codebase="([^"]+)"/.exec(answer.body) ?? [];
    const [, name] = /package name="([^"]+)"/.exec(answer.body) ?? [];
    const file = await service.app.http.inject({ url: new URL(`${codebase}${name}`).pathname });
    expect(file.statusCode).toBe(302);
    const mac = await post(body('1.0', '<os platform="mac" version="14.1" arch="arm64"/>'));
    expect(statusIn(mac.body)).toEqual(['ok', 'ok', '2.0.0']);
  });

  it('gives a Mac that does not state its architecture no arm64 build that others could run', async () => {
    const other = await createTestService({ env: { PUBLIC_URL: 'https://updates.example' } });
    const ask = async (more = '') => {
      const os = `<os platform="mac" version="14.1"${more}/>`;
      const payload = body('0.5.0', os);
      const answer = await other.app.http.inject({ method: 'POST', url: ADDRESS, payload });
      return /manifest version="[^"]*" run="([^"]*)"/.exec(answer.body)?.[1];
    };
    await release(other, '1.0.0', ['macos arm64 dmg', 'macos x64 zip']);
    expect(await ask()).toBe('App-1.0.0-macos-x64.zip');
    expect(await ask(' arch="arm64"')).toBe('App-1.0.0-macos-arm64.dmg');
    await release(other, '2.0.0', ['macos arm64 dmg']);
    expect(await ask()).toBe('App-1.0.0-macos-x64.zip');
    expect(await ask(' arch="arm64"')).toBe('App-2.0.0-macos-arm64.dmg');
    await other.close();
  });

  it('names the encoding of a body in UTF-16', async () => {
    const utf16 = Buffer.from(body('1.0.0'), 'utf16le');
    const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]);
    for (const payload of [
      utf16,
      marked,
      Buffer.from(utf16).swap16(),
      Buffer.from(marked).swap16(),
    ]) {
      const answer = await service.app.http.inject({ method: 'POST', url: ADDRESS, payload });
      expect([answer.statusCode, answer.json().detail]).toEqual([
        400,
        'The body is in UTF-16. This address accepts UTF-8.',
      ]);
    }
    const withMark = `\uFEFF${body('1.0.0')}`;
    expect(statusIn((await post(withMark)).body)).toEqual(['ok', 'ok', '2.0.0']);
  });

  it('says that there is no update', async () => {
    expect(statusIn((await post(body('2.0.0.0'))).body)).toEqual(['ok', 'noupdate', undefined]);
    const arm = await post(body('1.0', '<os platform="win" version="10.0" arch="mips"/>'));
    expect(statusIn(arm.body)).toEqual(['ok', 'noupdate', undefined]);
  });

  it('refuses an unknown application, channel and system in its own form', async () => {
    for (const url of [ADDRESS.replace('desktop', 'nothing'), ADDRESS.replace('stable', 'none')]) {
      const answer = await post(body('1.0.0'), url);
      expect(answer.status).toBe(200);
      expect(statusIn(answer.body)).toEqual(['error-unknownApplication', undefined, undefined]);
    }
    const android = await post(body('1.0.0', '<os platform="android" version="14"/>'));
    expect(statusIn(android.body)).toEqual(['ok', 'error-osnotsupported', undefined]);
  });

  it('refuses a malformed request and every other method', async () => {
    for (const payload of ['', '<request', '{', '<!DOCTYPE a><request protocol="3.0"/>']) {
      const answer = await post(payload);
      expect([answer.status, answer.headers['content-type']]).toEqual([
        400,
        expect.stringContaining('application/problem+json'),
      ]);
    }
    expect((await post('x'.repeat(17 * 1024))).status).toBe(413);
    const get = await service.app.http.inject({ url: ADDRESS });
    expect([get.statusCode, get.headers.allow]).toEqual([405, 'POST']);
    expect((await post(body('1.0.0'), `${ADDRESS}/more`)).status).toBe(404);
  });

  it('offers a paused release to no client, and answers an outage with 503', async () => {
    await setStatus(service, 'pause', '2.0.0');
    expect(statusIn((await post(body('1.0.0'))).body)).toEqual(['ok', 'noupdate', undefined]);
    await setStatus(service, 'resume', '2.0.0');
    // The service that starts now cannot read the catalog.
    const late = await createTestService({ store: broken.store, clock, start: false });
    broken.failWith('store_unavailable');
    const answer = await late.app.http.inject({
      method: 'POST',
      url: ADDRESS,
      payload: body('1.0'),
    });
    broken.failWith(undefined);
    await late.close();
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBeDefined();
  });
});
