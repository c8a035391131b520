import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import { PROTOCOLS } from '../../src/updaters/registry.ts';
import { makeArtifact, publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';

/** The behaviour that all dialects have in common over HTTP. */

const FEED = '/feeds/desktop/stable';
const YAML = `${FEED}/electron/latest.yml`;
const TAURI = `${FEED}/tauri/windows/x86_64/1.0.0`;
const LATEST = `${FEED}/tauri/latest.json`;

let service: TestService;

beforeAll(async () => {
  service = await createTestService({
    store: 'directory',
    env: { PUBLIC_URL: 'https://updates.example/base' },
  });
  const signatures = [{ scheme: 'minisign', keyId: 'AB', value: 'the .sig' }] as const;
  for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
    const directory = `${service.directory}/${version}`;
    const content = `program ${version}`;
    const artifact = await makeArtifact(directory, { signatures, content });
    await publish(service, { version, artifacts: [artifact] });
  }
  const yanked = { application: 'desktop', channel: undefined, reason: null, version: '3.0.0' };
  await changeStatus({ ...service, actor: 'test' }, 'yank', yanked);
  await service.refresh();
});

afterAll(() => service.close());

function ask(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  return service.app.http.inject({ method, url, headers });
}

describe('the same address', () => {
  it('is answered by the headers of each client', async () => {
    const versionFor = async (headers: Record<string, string> = {}) =>
      /version: '(.*)'/.exec((await ask(YAML, headers)).body)?.[1];
    expect(await versionFor()).toBe('2.0.0');
    expect(await versionFor({ 'x-current-version': '9.0.0' })).toBe('9.0.0');
    expect(await versionFor({ 'x-current-version': '8.0.0' })).toBe('8.0.0');
    expect(await versionFor()).toBe('2.0.0');
  });

  it('is answered from a new revision', async () => {
    const other = await createTestService();
    const artifact = await makeArtifact(service.directory, { filename: 'Other.exe' });
    const answers: unknown[] = [];
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      await publish(other, { version, artifacts: [artifact] });
      await other.refresh();
      const { body } = await other.app.http.inject({ url: YAML });
      answers.push(/version: '(.*)'/.exec(body)?.[1]);
    }
    expect(answers).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    await other.close();
  });
});

describe.each([
  ['electron', YAML, 'text/yaml; charset=utf-8', 'x-current-version'],
  ['tauri', TAURI, 'application/json; charset=utf-8', undefined],
  ['tauri, latest.json', LATEST, 'application/json; charset=utf-8', undefined],
])('%s: a document', (_name, url, type, vary) => {
  it('may be cached for a minute, for each value of the headers that it depends on', async () => {
    const { statusCode, headers } = await ask(url);
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe(type);
    expect(headers['cache-control']).toContain('public, max-age=60');
    expect(headers.vary).toBe(vary);
    expect(headers['access-control-allow-origin']).toBe('*');
  });

  it('is answered 304 to its own entity tag', async () => {
    const first = await ask(url);
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await ask(url, { 'if-none-match': tag });
      expect([again.statusCode, again.body]).toEqual([304, '']);
      expect(again.headers.etag).toBe(etag);
      expect(again.headers['cache-control']).toBe(first.headers['cache-control']);
      expect(again.headers.vary).toBe(first.headers.vary);
    }
    expect((await ask(url, { 'if-none-match': '"other"' })).statusCode).toBe(200);
  });

  it('has the same headers for HEAD as for GET', async () => {
    const get = await ask(url);
    const head = await ask(url, {}, 'HEAD');
    expect([head.statusCode, head.body]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'vary']) {
      expect(head.headers[name]).toBe(get.headers[name]);
    }
  });
});

describe('no update', () => {
  it('is 204 to Tauri, and no cache stores it', async () => {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers, body } = await ask(TAURI.replace('1.0.0', '2.0.0'), {}, method);
      expect([statusCode, body, headers['cache-control']]).toEqual([204, '', 'no-store']);
    }
  });

  it("is the client's own version to electron-updater, even when that is newer than every release", async () => {
    const { statusCode, body } = await ask(YAML, { 'x-current-version': '9.0.0' });
    expect(statusCode).toBe(200);
    expect(body).toContain("version: '9.0.0'");
  });

  it.each(['latest-mac.yml', 'latest-linux-arm64.yml', 'latest.yml?arch=ia32'])(
    'is a document without files to electron-updater that does not state its version: %s',
    async (document) => {
      const { statusCode, headers, body } = await ask(`${FEED}/electron/${document}`);
      expect(statusCode).toBe(200);
      expect(headers['content-type']).toContain('yaml');
      expect(body).toContain('files: []');
    },
  );

  it.each(['one', '1.0', '1.0.0.4', ''])(
    'an installed application that sends the version %j gets an answer',
    async (version) => {
      const { statusCode, body } = await ask(YAML, { 'x-current-version': version });
      expect(statusCode).toBe(200);
      expect(body).toContain("version: '2.0.0'");
    },
  );
});

describe('a file', () => {
  it.each(PROTOCOLS.map(({ name }) => name))(
    'of %s redirects, and no cache stores the redirect',
    async (name) => {
      for (const method of ['GET', 'HEAD'] as const) {
        const { statusCode, headers } = await ask(
          `${FEED}/${name}/2.0.0/App-Setup.exe`,
          {},
          method,
        );
        expect(statusCode).toBe(302);
        expect(headers['cache-control']).toBe('no-store');
        const link = new URL(String(headers.location));
        expect(link.href).toContain('https://updates.example/base/files/');
        const file = await ask(link.pathname.replace('/base', '') + link.search, {}, method);
        expect(file.statusCode).toBe(200);
        expect(file.headers['content-length']).toBe('13');
        expect(file.body).toBe(method === 'GET' ? 'program 2.0.0' : '');
      }
    },
  );

  it('is found under its version with a leading v', async () => {
    const { statusCode } = await ask(`${FEED}/electron/v2.0.0/App-Setup.exe`);
    expect(statusCode).toBe(302);
  });

  it('is at the address that a feed names', async () => {
    const { url } = (await ask(TAURI)).json();
    expect(url).toBe('https://updates.example/base/feeds/desktop/stable/tauri/2.0.0/App-Setup.exe');
  });
});

describe('problems', () => {
  it.each([
    [404, 'unknown_application', '/feeds/other/stable/electron/latest.yml'],
    [404, 'unknown_channel', '/feeds/desktop/nightly/electron/latest.yml'],
    [404, 'unknown_channel', `${FEED}/electron/nightly.yml`],
    [404, 'unknown_channel', '/feeds/desktop/nightly/electron/2.0.0/App-Setup.exe'],
    [404, 'unknown_file', `${FEED}/omaha/latest.yml`],
    [404, 'unknown_file', `${FEED}/electron/`],
    [404, 'unknown_file', `${FEED}/electron/latest.txt`],
    [404, 'unknown_file', `${FEED}/electron/2.0.0/other.exe`],
    [404, 'unknown_file', `${FEED}/electron/2.0.0/more/App-Setup.exe`],
    [400, 'invalid_request', `${FEED}/electron/2.0.0/..%2F..%2Fsecret`],
    [400, 'invalid_request', `${FEED}/electron/2.0.0/..%5C..%5Csecret`],
    [400, 'invalid_request', `${FEED}/electron/2.0.0/App%00.exe`],
    [404, 'unknown_file', `${FEED}/electron/App-Setup.exe`],
    [404, 'unknown_file', `${FEED}/electron/App-9.9.9.exe`],
    [404, 'unknown_version', `${FEED}/electron/4.0.0/App-Setup.exe`],
    [400, 'invalid_request', `${FEED}/electron/%00/App-Setup.exe`],
    [400, 'invalid_version', `${FEED}/electron/one/App-Setup.exe`],
    [410, 'release_withdrawn', `${FEED}/electron/3.0.0/App-Setup.exe`],
    [400, 'unknown_arch', `${FEED}/electron/latest-linux-mips.yml`],
    [400, 'unknown_arch', `${YAML}?arch=mips`],
    [400, 'unknown_platform', `${FEED}/tauri/beos/x86_64/1.0.0`],
    [400, 'unknown_arch', `${FEED}/tauri/linux/mips/1.0.0`],
    [400, 'invalid_version', `${FEED}/tauri/linux/x86_64/one`],
    [400, 'unknown_format', `${TAURI}/floppy`],
    [400, 'invalid_request', `${FEED}/electron/${'a'.repeat(1025)}`],
    [404, 'route_not_found', FEED],
  ])('%i %s: %s', async (status, code, url) => {
    const { statusCode, headers, body } = await ask(url);
    expect(JSON.parse(body)).toMatchObject({ status, code });
    expect(statusCode).toBe(status);
    expect(headers['content-type']).toContain('application/problem+json');
    expect(headers['cache-control']).toBe('no-store');
    expect((await ask(url, {}, 'HEAD')).statusCode).toBe(status);
  });

  it.each([YAML, TAURI, `${FEED}/electron/2.0.0/App-Setup.exe`])(
    '503 while the catalog is not loaded: %s',
    async (url) => {
      const blind = await createTestService({ start: false });
      try {
        const headers = { 'x-current-version': '1.0.0' };
        const answer = await blind.app.http.inject({ url, headers });
        expect(answer.json()).toMatchObject({ status: 503, code: 'catalog_unavailable' });
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        expect(answer.headers['cache-control']).toBe('no-store');
      } finally {
        await blind.close();
      }
    },
  );
});
