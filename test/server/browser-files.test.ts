import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BrowserFiles,
  builtOutput,
  openBrowserFiles,
  readBuilt,
} from '../../src/web/browser-files.ts';
import { buildBrowserFiles } from '../../src/web/build-browser-files.ts';
import { createTestService, type TestService } from '../support/service.ts';

let service: TestService;
let files: BrowserFiles;

beforeAll(async () => {
  service = await createTestService();
  files = await openBrowserFiles();
});
afterAll(() => service.close());

describe('the files for browsers', () => {
  it('have a name with a hash of their content, and may be kept for good', async () => {
    const name = files.nameOf('pages.css');
    expect(name).toMatch(/^assets\/pages-[0-9A-Z]{8}\.css$/);
    const answer = await service.app.http.inject({ url: `/${name}` });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/css; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.rawPayload).toEqual(Buffer.from(files.file(name)?.bytes ?? []));
  });

  it('are compressed for clients that accept it, and answered with 304 to those that have them', async () => {
    const url = `/${files.nameOf('console.js')}`;
    const headers = { 'accept-encoding': 'br, gzip;q=0.8' };
    const answer = await service.app.http.inject({ url, headers });
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(answer.rawPayload)).toEqual(
      (await service.app.http.inject({ url, headers: { 'accept-encoding': 'gzip;q=0' } }))
        .rawPayload,
    );
    const etag = String(answer.headers.etag);
    const again = await service.app.http.inject({
      url,
      headers: { ...headers, 'if-none-match': etag },
    });
    expect(again.statusCode).toBe(304);
  });

  it('that do not exist are answered with a problem document', async () => {
    for (const file of ['pages-00000000.css', '..%2Ffiles.json', '__proto__']) {
      const answer = await service.app.http.inject({ url: `/assets/${file}` });
      expect([answer.statusCode, answer.json().code], file).toEqual([404, 'route_not_found']);
    }
  });

  it('are the same from the package as from the sources', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'slipway-browser-'));
    try {
      const built = await buildBrowserFiles();
      for (const [name, bytes] of builtOutput(built)) {
        await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
        await writeFile(path.join(directory, name), bytes);
      }
      const read = await readBuilt(directory);
      for (const { name, bytes } of built.files) {
        expect(Buffer.from(read.file(name)?.bytes ?? [])).toEqual(Buffer.from(bytes));
      }
      expect(read.nameOf('console.js')).toBe(files.nameOf('console.js'));
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
