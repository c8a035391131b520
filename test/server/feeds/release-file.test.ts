import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { makeArtifact } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { makeContent } from '../bytes/bytes-server.ts';
import { readMultipart } from '../bytes/multipart-reader.ts';
import { createBreakableStore, release, setStatus } from '../support.ts';

const CONTENT = makeContent(10_000);
const FEED = '/feeds/desktop/stable/electron';
const FILE = `${FEED}/1.0.0/App-1.0.0.exe`;
const TOKEN = { authorization: 'Bearer secret-token' };

describe('the stable address of a file', () => {
  const broken = createBreakableStore(createMemoryStore({ clock: systemClock }));
  let service: TestService;
  const countLink = vi.fn();

  const publishWith = async (version: string, channel = 'stable', name = `App-${version}.exe`) => {
    const directory = `${service.directory}/${channel}-${version}`;
    const map = await makeArtifact(directory, {
      filename: `${name}.blockmap`,
      content: `map of ${version} on ${channel}`,
    });
    const companions = [{ ...map, kind: 'blockmap' as const }];
    const artifact = { machine: 'windows x64 nsis', filename: name, content: CONTENT, companions };
    await release(service, version, [artifact], { channel });
  };

  beforeAll(async () => {
    const tiers = { free: [], pro: ['channel:desktop/insider'] };
    service = await createTestService({
      store: broken.store,
      env: { TIERS: JSON.stringify(tiers) },
    });
    await publishWith('1.0.0');
    await publishWith('1.1.0');
    await publishWith('2.0.0-beta.1', 'beta');
    await publishWith('3.0.0', 'insider');
    await publishWith('4.0.0', 'stable', 'Unversioned.exe');
    await setStatus(service, 'yank', '1.1.0');
    vi.spyOn(service.app.usage, 'countLink').mockImplementation(countLink);
  });
  beforeEach(() => {
    countLink.mockClear();
    broken.failWith(undefined);
  });
  afterAll(() => service.close());

  const ask = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    service.app.http.inject({ method, url, headers });

  it.each([
    ['the whole file', {}],
    ['the whole file with a token', TOKEN],
    ['one range', { range: 'bytes=0-9' }],
    ['one range to the end', { range: 'bytes=-9' }],
    ['a malformed range', { range: 'bytes=9-1' }],
    ['another unit', { range: 'lines=1-2,3-4' }],
    ['ranges of three times the file', { range: 'bytes=0-,0-,0-' }],
    ['If-Range without a range', { 'if-range': '"x"' }],
  ])('redirects %s to the store', async (_what, headers: Record<string, string>) => {
    const { statusCode, headers: answered } = await ask(FILE, headers);
    expect(statusCode).toBe(302);
    expect(answered.location).toMatch(
      /^memory:apps\/desktop\/artifacts\/.*App-1\.0\.0\.exe\?method=GET/,
    );
    expect(answered.location).not.toContain('secret-token');
    expect(answered['cache-control']).toBe('no-store');
  });

  it('answers several ranges itself', async () => {
    const { statusCode, headers, rawPayload } = await ask(FILE, { range: 'bytes=7-8,0-4999,-1' });
    expect(statusCode).toBe(206);
    expect(headers).toMatchObject({
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'content-length': String(rawPayload.length),
      etag: expect.stringMatching(/^".+"$/),
    });
    expect(headers['content-disposition']).toContain('App-1.0.0.exe');
    expect(readMultipart(String(headers['content-type']), rawPayload)).toEqual([
      { range: 'bytes 7-8/10000', bytes: CONTENT.subarray(7, 9) },
      { range: 'bytes 0-4999/10000', bytes: CONTENT.subarray(0, 5_000) },
      { range: 'bytes 9999-9999/10000', bytes: CONTENT.subarray(9_999) },
    ]);
  });

  it('answers one range itself when the client sends a token, which it would send on to the store', async () => {
    const headers = { ...TOKEN, range: 'bytes=10-19' };
    const { statusCode, headers: answered, rawPayload } = await ask(FILE, headers);
    expect([statusCode, answered.location]).toEqual([206, undefined]);
    expect(answered['content-range']).toBe('bytes 10-19/10000');
    expect(rawPayload.equals(CONTENT.subarray(10, 20))).toBe(true);
  });

  it('answers If-Range itself: the range of the same version, or the whole file', async () => {
    const etag = String((await ask(FILE, { range: 'bytes=0-1,2-3' })).headers.etag);
    const modified = String((await ask(FILE, { range: 'bytes=0-1,2-3' })).headers['last-modified']);
    const get = (ifRange: string, range = 'bytes=0-9') => ask(FILE, { range, 'if-range': ifRange });
    for (const current of [etag, modified]) {
      const { statusCode, rawPayload } = await get(current);
      expect([statusCode, rawPayload.length]).toEqual([206, 10]);
    }
    for (const stale of ['"other"', `W/${etag}`, 'Thu, 01 Jan 1970 00:00:00 GMT']) {
      const { statusCode, rawPayload } = await get(stale);
      expect([statusCode, rawPayload.equals(CONTENT)]).toEqual([200, true]);
      expect((await get(stale, 'bytes=99999-')).statusCode).toBe(200);
    }
    expect((await get(etag, 'bytes=99999-')).statusCode).toBe(416);
  });

  it.each([
    ['bytes=10000-', {}],
    ['bytes=-0', {}],
    ['bytes=10000-,20000-30000', {}],
    ['bytes=10000-', TOKEN],
  ])('answers %s with 416 and the size', async (range, headers) => {
    const { statusCode, headers: answered, body } = await ask(FILE, { range, ...headers });
    expect(statusCode).toBe(416);
    expect(answered['content-range']).toBe('bytes */10000');
    expect(JSON.parse(body)).toMatchObject({ code: 'range_not_satisfiable' });
    expect(countLink).not.toHaveBeenCalled();
  });

  it('ignores the ranges of HEAD', async () => {
    for (const range of ['bytes=0-1', 'bytes=0-1,2-3', 'bytes=99999-']) {
      const { statusCode, headers } = await ask(FILE, { range }, 'HEAD');
      expect([statusCode, headers.location]).toEqual([302, expect.stringContaining('method=HEAD')]);
    }
    expect(countLink).not.toHaveBeenCalled();
  });

  it('says 503 when the store does not answer, and never a short body', async () => {
    broken.failWith('store_unavailable');
    const { statusCode, headers, body } = await ask(FILE, { range: 'bytes=0-1,2-3' });
    expect(statusCode).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.parse(body)).toMatchObject({ code: 'store_unavailable' });
    expect(countLink).not.toHaveBeenCalled();
  });

  it('lets a page of another origin read ranges', async () => {
    const page = { origin: 'https://example.org', range: 'bytes=0-1,2-3' };
    expect((await ask(FILE, page)).headers['access-control-allow-origin']).toBe('*');
  });

  describe('is counted', () => {
    it('once, however many ranges the client asks for, with the fall-back to the whole file', async () => {
      const client = { 'x-user-staging-id': 'an installation' };
      for (const range of ['bytes=0-1,2-3', 'bytes=4-5', 'bytes=6-7', 'bytes=-1']) {
        await ask(FILE, { ...client, range });
      }
      await ask(FILE, client);
      await ask(`${FILE}.blockmap`, client);
      const file = { application: 'desktop', channel: 'stable', platform: 'windows' };
      const link = { ...file, version: '1.0.0' };
      expect(countLink.mock.calls).toEqual([
        [link, 'differential'],
        [link, 'fallback'],
      ]);
      await ask(FILE, { 'x-user-staging-id': 'another one', range: 'bytes=5-' });
      expect(countLink).toHaveBeenLastCalledWith(link, 'resumed');
    });

    it('as not known when a client without an id asks for the whole file after ranges', async () => {
      for (const range of ['bytes=0-1,2-3', 'bytes=4-5']) await ask(FILE, { range });
      await ask(FILE);
      expect(countLink.mock.calls.map(([, kind]) => kind)).toEqual(['differential', 'not_known']);
    });
  });

  describe('without a version', () => {
    const locationOf = async (name: string, headers = {}, feed = FEED) => {
      const { statusCode, headers: answered, body } = await ask(`${feed}/${name}`, headers);
      return statusCode === 302
        ? new URL(String(answered.location)).pathname.split('/').at(-1)
        : `${statusCode} ${JSON.parse(body).code}`;
    };

    it('finds the file by the version in its name', async () => {
      expect(await locationOf('App-1.0.0.exe')).toBe('App-1.0.0.exe');
      expect(await locationOf('App-1.0.0.exe.blockmap')).toBe('App-1.0.0.exe.blockmap');
    });

    it('finds a file of another channel that the client may open', async () => {
      expect(await locationOf('App-2.0.0-beta.1.exe')).toBe('App-2.0.0-beta.1.exe');
      const beta = '/feeds/desktop/beta/electron';
      expect(await locationOf('App-1.0.0.exe', {}, beta)).toBe('App-1.0.0.exe');
    });

    it('answers several ranges as well', async () => {
      expect((await ask(`${FEED}/App-1.0.0.exe`, { range: 'bytes=0-1,5-6' })).statusCode).toBe(206);
    });

    it('finds nothing on a channel that is closed to the client', async () => {
      expect(await locationOf('App-3.0.0.exe')).toBe('404 unknown_file');
      expect(await locationOf('App-3.0.0.exe.blockmap')).toBe('404 unknown_file');
      expect(await locationOf('3.0.0/App-3.0.0.exe.blockmap')).toBe('404 unknown_version');
    });

    it('finds no file without a version in its name, and says why', async () => {
      expect(await locationOf('Unversioned.exe')).toBe('404 unknown_file');
      const { body } = await ask(`${FEED}/Unversioned.exe`);
      expect(JSON.parse(body).detail).toContain('needs one in the name of its file');
      expect(await locationOf('4.0.0/Unversioned.exe')).toBe('Unversioned.exe');
      expect(await locationOf('App-9.0.0.exe')).toBe('404 unknown_file');
      expect(await locationOf('Other-1.0.0.exe')).toBe('404 unknown_file');
    });
  });

  describe('of a block map', () => {
    const statusOf = async (path: string, feed = FEED) => {
      const { statusCode } = await ask(`${feed}/${path}`);
      return statusCode;
    };

    it('is served while its release is listed, also when it was yanked; the file itself is not', async () => {
      expect(await statusOf('1.1.0/App-1.1.0.exe.blockmap')).toBe(302);
      expect(await statusOf('1.1.0/App-1.1.0.exe')).toBe(410);
      expect(await statusOf('App-1.1.0.exe.blockmap')).toBe(302);
      expect(await statusOf('App-1.1.0.exe')).toBe(410);
    });

    it('is found on the channel that the client comes from', async () => {
      expect(await statusOf('2.0.0-beta.1/App-2.0.0-beta.1.exe.blockmap')).toBe(302);
      expect(await statusOf('2.0.0-beta.1/App-2.0.0-beta.1.exe')).toBe(404);
      const beta = '/feeds/desktop/beta/electron';
      expect(await statusOf('1.0.0/App-1.0.0.exe.blockmap', beta)).toBe(302);
    });

    it('is 404 for an unknown version and an unknown name', async () => {
      const codeOf = async (path: string) => JSON.parse((await ask(`${FEED}/${path}`)).body).code;
      expect(await codeOf('9.0.0/App-9.0.0.exe.blockmap')).toBe('unknown_version');
      expect(await codeOf('1.0.0/Other.exe.blockmap')).toBe('unknown_file');
    });
  });
});
