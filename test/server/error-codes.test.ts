import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/core/errors.ts';
import { systemClock } from '../../src/core/system.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { collect } from '../support/objects.ts';
import { makeArtifact, publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  CHECK_UPDATE,
  createBreakableStore,
  createErrorLedger,
  createSwitchedLoad,
  DOWNLOAD,
  get,
  LATEST_VERSION,
  release,
  setStatus,
} from './support.ts';

/**
 * Produces every error code that the routes of updaters and downloads can answer, and compares the codes with
 * the OpenAPI document in both directions: every produced code is documented, every documented code is produced.
 */

/** One route answers the documents of all dialects, and the files. */
const FEED = '/feeds/…';
const ELECTRON = '/feeds/desktop/stable/electron';
const TAURI = '/feeds/desktop/stable/tauri';
const GOOD = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };

const ledger = createErrorLedger();

describe('error codes', () => {
  const broken = createBreakableStore(createMemoryStore({ clock: systemClock }));
  const load = createSwitchedLoad();
  let service: TestService;
  let unloaded: TestService;

  beforeAll(async () => {
    const tiers = { free: [], pro: ['channel:desktop/insider'] };
    const env = { TIERS: JSON.stringify(tiers) };
    service = await createTestService({ store: broken.store, env, load });
    unloaded = await createTestService({ start: false });
    await release(service, '0.1.0', ['windows x64 nsis', 'linux x64 deb']);
    await release(service, '0.2.0', ['windows x64 nsis']);
    await setStatus(service, 'yank', '0.2.0');
    await release(service, '5.0.0', ['windows x64 nsis'], { channel: 'bare' });
    await setStatus(service, 'yank', '5.0.0', 'bare');
    await release(service, '6.0.0', ['windows x64 nsis'], { channel: 'insider' });
  }, 60_000);
  afterAll(() => Promise.all([service.close(), unloaded.close()]));

  const produce = async (
    path: string,
    status: number,
    code: ErrorCode,
    request: { url?: string; from?: TestService } & Record<string, unknown> = {},
  ): Promise<void> => {
    const { from = service, ...rest } = request;
    const method = path === CHECK_UPDATE ? 'POST' : 'GET';
    await ledger.produce(from, `${method} ${path}`, status, code, rest);
  };

  it('check-update', async () => {
    const post = (status: number, code: ErrorCode, payload: unknown, more = {}) =>
      produce(CHECK_UPDATE, status, code, { payload, ...more });
    const json = { headers: { 'content-type': 'application/json' } };
    await post(400, 'invalid_request', {});
    await post(400, 'invalid_request', { ...GOOD, platform: 7 });
    await post(400, 'invalid_request', { ...GOOD, platform: 'amiga', arch: 'z80' });
    await post(400, 'malformed_json', '{"current_version":', json);
    await post(400, 'malformed_json', '', json);
    await post(400, 'malformed_json', '{"__proto__": {"platform": "windows"}}', json);
    await post(400, 'invalid_version', { ...GOOD, current_version: '1.0' });
    await post(400, 'unknown_platform', { ...GOOD, platform: 'amiga' });
    await post(400, 'unknown_arch', { ...GOOD, arch: 'z80' });
    await post(400, 'unknown_format', { ...GOOD, format: 'floppy' });
    await post(404, 'unknown_application', { ...GOOD, app: 'nothing' });
    await post(404, 'unknown_channel', { ...GOOD, channel: 'nightly' });
    await post(413, 'body_too_large', { ...GOOD, locale: 'x'.repeat(17_000) });
    await post(415, 'unsupported_media_type', 'a=b', { headers: { 'content-type': 'text/csv' } });
    await post(503, 'catalog_unavailable', GOOD, { from: unloaded });
  });

  it('names every wrong field by its pointer', async () => {
    const payload = { current_version: 'x', platform: 'amiga', arch: 'z80', format: 'floppy' };
    const answer = await service.app.http.inject({ method: 'POST', url: CHECK_UPDATE, payload });
    const pointers = answer.json().errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).toEqual(['/current_version', '/platform', '/arch', '/format']);
    const types = { current_version: 1, platform: null, arch: ['x64'], locale: {} };
    const wrong = await service.app.http.inject({
      method: 'POST',
      url: CHECK_UPDATE,
      payload: types,
    });
    expect(wrong.json().errors).toHaveLength(4);
  });

  it('latest-version', async () => {
    const ask = (status: number, code: ErrorCode, query: string, more = {}) =>
      produce(LATEST_VERSION, status, code, { url: `${LATEST_VERSION}?${query}`, ...more });
    await ask(400, 'invalid_request', 'app=');
    await ask(400, 'unknown_platform', 'platform=amiga');
    await ask(400, 'unknown_arch', 'arch=z80');
    await ask(403, 'not_entitled', 'channel=insider');
    await ask(404, 'unknown_application', 'app=nothing');
    await ask(404, 'unknown_channel', 'channel=nightly');
    await ask(404, 'no_release', 'channel=bare');
    await ask(404, 'unsupported_platform', 'platform=macos');
    await ask(503, 'catalog_unavailable', '', { from: unloaded });
  });

  it('download', async () => {
    const path = `${DOWNLOAD}/{platform}`;
    const ask = (status: number, code: ErrorCode, rest: string, more = {}) =>
      produce(path, status, code, { url: `${DOWNLOAD}/${rest}`, ...more });
    await ask(400, 'invalid_request', 'linux?arch=');
    await ask(400, 'invalid_version', 'linux?version=banana');
    await ask(400, 'unknown_platform', 'amiga');
    await ask(400, 'unknown_arch', 'linux?arch=z80');
    await ask(400, 'unknown_format', 'linux?format=floppy');
    await ask(403, 'not_entitled', 'windows?channel=insider');
    await ask(403, 'not_entitled', 'windows?channel=insider&version=9.9.9');
    await ask(404, 'unknown_application', 'linux?app=nothing');
    await ask(404, 'unknown_channel', 'linux?channel=nightly');
    await ask(404, 'unknown_version', 'linux?version=9.9.9');
    await ask(404, 'no_release', 'windows?channel=bare');
    await ask(404, 'unsupported_platform', 'macos');
    await ask(404, 'unsupported_format', 'linux?format=rpm');
    await ask(410, 'release_withdrawn', 'windows?version=0.2.0');
    await ask(503, 'catalog_unavailable', 'linux', { from: unloaded });
  });

  it('feeds', async () => {
    const ask = (status: number, code: ErrorCode, url: string, more = {}) =>
      produce(FEED, status, code, { url, ...more });
    await ask(400, 'invalid_request', `/feeds/${'a'.repeat(129)}/stable/tauri/x`);
    await ask(400, 'invalid_version', `${TAURI}/windows/x64/one`);
    await ask(400, 'unknown_platform', `${TAURI}/amiga/x64/1.0.0`);
    await ask(400, 'unknown_arch', `${TAURI}/windows/z80/1.0.0`);
    await ask(400, 'unknown_format', `${TAURI}/windows/x64/1.0.0/floppy`);
    await ask(403, 'not_entitled', '/feeds/desktop/insider/electron/latest.yml');
    await ask(403, 'not_entitled', `${ELECTRON}/insider.yml`);
    await ask(403, 'not_entitled', '/feeds/desktop/insider/tauri/windows/x64/1.0.0');
    await ask(403, 'not_entitled', '/feeds/desktop/insider/electron/6.0.0/App.exe');
    await ask(404, 'unknown_application', '/feeds/nothing/stable/electron/latest.yml');
    await ask(404, 'unknown_channel', `${ELECTRON}/nightly.yml`);
    await ask(404, 'unknown_version', `${ELECTRON}/9.9.9/App.exe`);
    await ask(404, 'unknown_file', `${ELECTRON}/0.1.0/App.exe`);
    await ask(404, 'unknown_file', `${ELECTRON}/nonsense`);
    await ask(404, 'no_release', '/feeds/desktop/stable/zsync/App-x86_64.AppImage.zsync');
    await ask(404, 'unknown_file', '/feeds/desktop/stable/esperanto/latest.yml');
    await ask(410, 'release_withdrawn', `${ELECTRON}/0.2.0/App.exe`);
    const file = `${ELECTRON}/0.1.0/App-0.1.0-windows-x64.nsis`;
    await ask(416, 'range_not_satisfiable', file, { headers: { range: 'bytes=999-' } });
    const several = { range: 'bytes=0-1,4-5' };
    await ask(412, 'precondition_failed', file, { headers: { ...several, 'if-match': '"x"' } });
    await replaceBytes(service, '0.1.0', 'other bytes');
    await ask(503, 'artifact_mismatch', file, { headers: several });
    await ask(503, 'catalog_unavailable', `${ELECTRON}/latest.yml`, { from: unloaded });
  });

  it('an address without a route is route_not_found', async () => {
    for (const [method, url] of [
      ['GET', '/nothing'],
      ['GET', DOWNLOAD],
      ['GET', '/api/v1/desktop/latest-version/'],
      ['GET', '/docs/static/nothing.js'],
      ['HEAD', '/docs/static/nothing.js'],
      ['GET', '/docs/static/..%2f..%2fpackage.json'],
    ] as const) {
      const { statusCode, body } = await service.app.http.inject({ method, url });
      expect(statusCode, url).toBe(404);
      if (method !== 'HEAD') expect(JSON.parse(body).code, url).toBe('route_not_found');
    }
  });

  it('an address without a route answers the same, whatever the body is', async () => {
    for (const [type, payload] of [
      ['application/json', '{'],
      ['application/json', ''],
      ['text/xml', '<a/>'],
      ['not a type', 'x'],
      ['application/json', 'x'.repeat(100_000)],
    ] as const) {
      for (const [method, url, status] of [
        ['POST', '/nothing', 404],
        ['QUERY', '/nothing', 404],
        ['POST', '/livez', 405],
        ['QUERY', '/livez', 405],
      ] as const) {
        const headers = { 'content-type': type };
        const request = { method, url, payload, headers } as never;
        const { statusCode } = await service.app.http.inject(request);
        expect(statusCode, `${method} ${url} ${type}`).toBe(status);
      }
    }
  });

  it('a known address with another method is method_not_allowed, and names the accepted methods', async () => {
    for (const [method, url, allow] of [
      ['GET', CHECK_UPDATE, 'POST'],
      ['HEAD', CHECK_UPDATE, 'POST'],
      ['DELETE', LATEST_VERSION, 'GET, HEAD'],
      ['POST', `${DOWNLOAD}/windows?version=1.0.0`, 'GET, HEAD'],
      ['PUT', '/feeds/desktop/stable/electron/latest.yml', 'GET, HEAD'],
      ['POST', '/files/apps/desktop/x', 'GET, HEAD'],
      ['PUT', '/api/v1/account', 'DELETE, GET, HEAD, PATCH'],
      ['GET', '/api/v1/auth/login', 'POST'],
      ['POST', '/api/v1/account/sessions/0123', 'DELETE'],
      ['POST', '/docs/static/swagger-ui.css', 'GET, HEAD'],
      ['DELETE', '/', 'GET, HEAD'],
      ['TRACE', '/livez', 'GET, HEAD'],
      ['PROPFIND', '/livez', 'GET, HEAD'],
      ['QUERY', '/livez', 'GET, HEAD'],
      ['PROPFIND', '/docs/', 'GET, HEAD'],
      ['PUT', '/docs/account/', 'GET, HEAD'],
      ['DELETE', '/docs', 'GET, HEAD'],
    ] as const) {
      const { statusCode, headers, body } = await service.app.http.inject({ method, url } as never);
      expect([statusCode, headers.allow], `${method} ${url}`).toEqual([405, allow]);
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
      if (method !== 'HEAD') expect(body).toContain(`"code":"method_not_allowed"`);
    }
  });

  it('internal: the answer hides the cause, and the log has it', async () => {
    const log: string[] = [];
    const failing = await createTestService({ log });
    failing.app.catalog.health = () => {
      throw new Error('password is hunter2');
    };
    const answer = await get(failing, '/readyz');
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter2/);
    expect(log.join('')).toMatch(new RegExp(`${answer.body.request_id}.*hunter2`));
    await failing.close();
  });

  it('failures of the store, on routes that read or sign', async () => {
    // More offers than are read at once: the old ones are read when a client needs them.
    await releaseUnread(service);
    const ask = async (status: number, code: ErrorCode) => {
      await produce(CHECK_UPDATE, status, code, {
        payload: { ...GOOD, current_version: '2.0.0', format: 'msi' },
      });
      await produce(LATEST_VERSION, status, code);
      const download = `${DOWNLOAD}/{platform}`;
      await produce(download, status, code, { url: `${DOWNLOAD}/windows?version=2.0.3` });
      await produce(FEED, status, code, { url: `${ELECTRON}/2.0.3/App.exe` });
    };
    for (const code of ['store_unavailable', 'store_denied'] as const) {
      broken.failWith(code);
      await ask(503, code);
    }
    broken.failWith(undefined);
  });

  it('overloaded', async () => {
    load.set(true);
    await produce(CHECK_UPDATE, 503, 'overloaded', { payload: GOOD });
    await produce(LATEST_VERSION, 503, 'overloaded');
    await produce(`${DOWNLOAD}/{platform}`, 503, 'overloaded', { url: `${DOWNLOAD}/linux` });
    await produce(FEED, 503, 'overloaded', { url: `${ELECTRON}/latest.yml` });
    load.set(false);
  });

  it('are exactly those that the OpenAPI document lists, route by route', async () => {
    const { body } = await get(service, '/openapi.json');
    ledger.expectDocumented(body, ['desktop']);
    // A dialect that takes its questions by POST, and the signed metadata, have tests of their own.
    ledger.expectDocumentedTogether(body, `GET ${FEED}`, (operation) =>
      operation.startsWith('GET /feeds/'),
    );
  });
});

/** Replaces the stored bytes of the files of a version behind the back of the service. */
async function replaceBytes({ store }: TestService, version: string, text: string): Promise<void> {
  for (const { key } of await collect(store.list('apps/desktop/artifacts/'))) {
    if (!key.includes(`App-${version}-`)) continue;
    await store.delete(key);
    await store.create(key, Buffer.from(text));
  }
}

/**
 * 2.0.1 is the only msi. The service reads 2.0.66 and 3.0.0 ahead; 2.0.65 is the newest x64 release for all clients.
 */
async function releaseUnread(service: TestService): Promise<void> {
  const directory = `${service.directory}/many`;
  const artifact = await makeArtifact(directory);
  const msi = await makeArtifact(directory, { format: 'msi', filename: 'App.msi' });
  for (let patch = 1; patch <= 66; patch++) {
    const artifacts = [patch === 1 ? msi : artifact];
    const rollout = patch === 66 ? { rollout: { text: '10%', freezeWindows: [] } } : {};
    await publish(service, { version: `2.0.${patch}`, artifacts, ...rollout });
  }
  await release(service, '3.0.0', ['windows universal nsis']);
}
