import { createHash, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { readMultipart } from '../http/bytes/multipart-reader.ts';
import { type Certificate, makeCertificate } from '../support/certificate.ts';
import { seededBytes } from '../support/electron-build.ts';
import { freePorts, killAll, type Running, startServer } from '../support/process.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { type S3Server, s3Environment, useBucket } from '../support/s3-server.ts';
import { createProxyClient, type ProxyClient } from './proxy-client.ts';
import type { ProxyProcess } from './proxy-process.ts';

/** What every proxy in front of two processes must do, with the files of `deploy/`. */

/** Where the service is: at the root of a host, or below a path of it. */
export interface Variant {
  readonly name: string;
  readonly host: string;
  /** Empty for the root. */
  readonly basePath: string;
}

export interface ProxySetting {
  readonly variant: Variant;
  /** For the files of the proxy. */
  readonly directory: string;
  readonly certificate: Certificate;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Ports of the two processes, on 127.0.0.1. */
  readonly upstreamPorts: readonly [number, number];
}

export interface StartedProxy extends ProxyProcess {
  /** Everything that the proxy logged so far, in files and on its output. */
  readonly logged: () => Promise<string>;
}

export interface ProxyKind {
  readonly variants: readonly Variant[];
  start(setting: ProxySetting): Promise<StartedProxy>;
}

/** More than the sockets between the process and the client buffer. */
const SIZE = 24 * 1024 * 1024;
const CONTENT = seededBytes(SIZE, 'behind a proxy');
const FEED = '/feeds/desktop/stable/electron';
const DOCUMENT = `${FEED}/latest.yml`;
const FILE = `${FEED}/2.0.0/App-Setup.exe`;
const CHECK = '/api/v1/desktop/check-update';
/** Tries a minute from one address, for each of the two processes. */
const TRIES = 6;
const PERSON = { email: 'ada@example.com', password: 'correct horse' };

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export function defineProxySuite(server: S3Server, kind: ProxyKind): void {
  const bucket = useBucket(server);
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const artifact = await makeArtifact(directory.path, { content: CONTENT });
    const parts = { store: bucket.store(), clock: systemClock, randomness: systemRandomness };
    const notes = { und: 'Repairs what was broken. '.repeat(200) };
    await publish(parts, { version: '2.0.0', artifacts: [artifact], notes });
  });
  afterAll(() => directory.remove());

  describe.each(kind.variants)('$name', (variant) => {
    const { host, basePath } = variant;
    let proxy: StartedProxy;
    let client: ProxyClient;
    let start: (index: 0 | 1) => Promise<Running>;
    const processes: Running[] = [];

    beforeAll(async () => {
      const [httpPort = 0, httpsPort = 0, first = 0, second = 0] = await freePorts(4);
      const upstreamPorts = [first, second] as const;
      start = async (index) => {
        const process = startServer({
          ...s3Environment(server, bucket.name),
          PORT: String(upstreamPorts[index]),
          PUBLIC_URL: `https://${host}${basePath}`,
          TRUST_PROXY: '127.0.0.1',
          IDENTITY_PROVIDER: 'embedded',
          AUTH_PER_ADDRESS: String(TRIES),
          DATA_DIR: path.join(directory.path, `data-${host}`),
        });
        await process.url();
        return process;
      };
      // One after the other: the second takes the keys that the first has made in DATA_DIR.
      processes.push(await start(0), await start(1));
      const place = path.join(directory.path, host);
      await mkdir(place);
      const certificate = await makeCertificate(place, [`DNS:${host}`]);
      const setting = { variant, directory: place, certificate, upstreamPorts };
      proxy = await kind.start({ ...setting, httpPort, httpsPort });
      const { certificate: authority } = certificate;
      client = createProxyClient({ host, httpPort, httpsPort, authority });
    }, 120_000);
    afterAll(async () => {
      client?.close();
      await proxy?.stop();
      killAll();
    });

    const ask: ProxyClient['ask'] = (address, asked) => client.ask(`${basePath}${address}`, asked);
    const post = (address: string, body: object | Buffer, from?: string) =>
      ask(address, { method: 'POST', body, ...(from === undefined ? {} : { from }) });

    it('a check is answered, and its link leads to the bytes in the store', async () => {
      const machine = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };
      const { status, headers, body } = await post(CHECK, machine);
      expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
      const { download } = JSON.parse(body.toString());
      expect(download.sha256).toBe(sha256(CONTENT));
      expect(new URL(download.url).origin).toBe(server.endpoint);
      const file = Buffer.from(await (await fetch(download.url)).arrayBuffer());
      expect(sha256(file)).toBe(sha256(CONTENT));
    });

    it('a download is redirected to the store, unaltered', async () => {
      const { status, headers } = await ask(FILE);
      expect(status).toBe(302);
      expect(headers['cache-control']).toBe('no-store');
      const location = String(headers.location);
      expect(new URL(location).origin).toBe(server.endpoint);
      const file = Buffer.from(await (await fetch(location)).arrayBuffer());
      expect(sha256(file)).toBe(sha256(CONTENT));
      const ranged = await ask(FILE, { headers: { range: 'bytes=5-9' } });
      expect(ranged.status).toBe(302);
    });

    it('addresses that the service makes lead back through the proxy', async () => {
      const appcast = await ask('/feeds/desktop/stable/winsparkle/appcast.xml');
      expect(appcast.status).toBe(200);
      const url = new URL(String(/url="([^"]+)"/.exec(appcast.body.toString())?.[1]));
      expect(url.origin).toBe(`https://${host}`);
      expect((await client.ask(`${url.pathname}${url.search}`)).status).toBe(302);
    });

    it('a document has an ETag, and an unchanged one is 304 without a body', async () => {
      const { status, headers, body } = await ask(DOCUMENT);
      expect(status).toBe(200);
      expect(body.toString()).toContain("version: '2.0.0'");
      expect(headers['content-encoding']).toBeUndefined();
      expect(headers.etag).toMatch(/^(W\/)?"[^"]+"$/);
      expect(headers['cache-control']).toMatch(/^public, max-age=60/);
      const same = await ask(DOCUMENT, { headers: { 'if-none-match': String(headers.etag) } });
      expect([same.status, same.body.length]).toEqual([304, 0]);
      const other = await ask(DOCUMENT, { headers: { 'if-none-match': '"other"' } });
      expect(other.status).toBe(200);
    });

    it('a compressed document has another ETag or a weak one, which is 304 as well', async () => {
      const encoding = { 'accept-encoding': 'gzip' };
      const [plain, packed] = [await ask(DOCUMENT), await ask(DOCUMENT, { headers: encoding })];
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(packed.headers.vary).toMatch(/accept-encoding/i);
      expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
      expect(packed.body.length).toBeLessThan(plain.body.length / 2);
      // A strong ETag stands for one sequence of bytes (RFC 9110, section 8.8.1).
      const etag = String(packed.headers.etag);
      if (!etag.startsWith('W/')) expect(etag).not.toBe(plain.headers.etag);
      for (const headers of [{ 'if-none-match': etag, ...encoding }, { 'if-none-match': etag }]) {
        const same = await ask(DOCUMENT, { headers });
        expect([same.status, same.body.length]).toEqual([304, 0]);
      }
      const first = { 'if-none-match': String(plain.headers.etag), ...encoding };
      expect((await ask(DOCUMENT, { headers: first })).status).toBe(304);
    });

    it('a file is never compressed, and keeps its strong ETag', async () => {
      const headers = { range: 'bytes=0-99,200-299', 'accept-encoding': 'gzip, br, zstd' };
      const answer = await ask(FILE, { headers });
      expect(answer.status).toBe(206);
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(answer.headers.etag).toMatch(/^"/);
    });

    describe.each(['HTTP/1.1', 'HTTP/2'])('by %s', (version) => {
      it('1,000 ranges come in one answer', async () => {
        const spans = Array.from({ length: 1_000 }, (_, n) => 12_345_678 + n * 11_000).map(
          (start) => [start, start + 700] as const,
        );
        const range = `bytes=${spans.map(([start, end]) => `${start}-${end}`).join(', ')}`;
        expect(range.length).toBeGreaterThan(18_000);
        const headers = { range };
        const {
          status,
          headers: answered,
          body,
        } = version === 'HTTP/2'
          ? await client.askHttp2(`${basePath}${FILE}`, headers)
          : await ask(FILE, { headers });
        expect(status).toBe(206);
        const parts = readMultipart(String(answered['content-type']), body);
        expect(parts).toHaveLength(1_000);
        for (const [index, [start, end]] of spans.entries()) {
          const part = parts[index];
          expect(part?.range).toBe(`bytes ${start}-${end}/${SIZE}`);
          expect(part?.bytes.equals(CONTENT.subarray(start, end + 1))).toBe(true);
        }
      });
    });

    it('If-Range gets the range of the same file, or the whole file', async () => {
      const { etag } = (await ask(FILE, { headers: { range: 'bytes=0-1,4-5' } })).headers;
      const range = 'bytes=1000-1999';
      const same = await ask(FILE, { headers: { range, 'if-range': String(etag) } });
      expect([same.status, same.headers['content-range']]).toEqual([
        206,
        `bytes 1000-1999/${SIZE}`,
      ]);
      expect(same.body.equals(CONTENT.subarray(1_000, 2_000))).toBe(true);
      // A client that pauses: the proxy must not collect the file on its disk.
      const stale = { range, 'if-range': '"another file"' };
      const whole = await ask(FILE, { headers: stale, pauseMs: 1_000 });
      expect([whole.status, whole.headers['content-length']]).toEqual([200, String(SIZE)]);
      expect(sha256(whole.body)).toBe(sha256(CONTENT));
      expect(await proxy.logged()).not.toContain('temporary file');
    });

    it('a range beyond the file is 416 with its size', async () => {
      const { status, headers } = await ask(FILE, { headers: { range: `bytes=${SIZE}-` } });
      expect([status, headers['content-range']]).toEqual([416, `bytes */${SIZE}`]);
    });

    it('the access token arrives', async () => {
      expect((await ask('/api/v1/account')).status).toBe(401);
      expect([200, 202, 409]).toContain((await post('/api/v1/auth/register', PERSON)).status);
      const device = { id: 'laptop-1', name: 'Laptop' };
      const session = await post('/api/v1/auth/login', { ...PERSON, platform: 'linux', device });
      expect([session.status, session.headers['cache-control']]).toEqual([200, 'no-store']);
      const { access_token: token } = JSON.parse(session.body.toString());
      const authorization = { authorization: `Bearer ${token}` };
      const account = await ask('/api/v1/account', { headers: authorization });
      expect(JSON.parse(account.body.toString())).toMatchObject({ email: PERSON.email });
      // A client would send its token on to the store with a redirected range.
      const ranged = await ask(FILE, { headers: { ...authorization, range: 'bytes=10-19' } });
      expect([ranged.status, ranged.body.equals(CONTENT.subarray(10, 20))]).toEqual([206, true]);
    });

    it('a client cannot choose its address', async () => {
      const forge = (from: string, n: number) =>
        ask('/api/v1/auth/request-reset', {
          method: 'POST',
          from,
          body: { email: `visitor-${n}@example.com` },
          headers: {
            'x-forwarded-for': `203.0.113.${n}`,
            forwarded: `for=203.0.113.${n}`,
            'x-real-ip': `203.0.113.${n}`,
          },
        });
      const statuses = [];
      for (let n = 0; n < 2 * TRIES + 8; n++) statuses.push((await forge('127.0.0.9', n)).status);
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(8);
      // Another client is not limited by that.
      expect((await forge('127.0.0.10', 1)).status).not.toBe(429);
      const marker = randomUUID();
      const headers = { 'x-forwarded-for': '203.0.113.7' };
      await ask(`/api/v1/${marker}`, { from: '127.0.0.9', headers });
      const line = () =>
        processes
          .flatMap(({ output }) => output().split('\n'))
          .find((text) => text.includes(marker) && text.includes('"msg":"request"'));
      await expect.poll(line).toBeDefined();
      expect(JSON.parse(String(line()))).toMatchObject({ remote_address: '127.0.0.9' });
    });

    it('HEAD has the headers of GET and no body', async () => {
      const [head, get] = [await ask(DOCUMENT, { method: 'HEAD' }), await ask(DOCUMENT)];
      expect([head.status, head.body.length]).toEqual([200, 0]);
      expect(head.headers.etag).toBe(get.headers.etag);
      expect((await ask(FILE, { method: 'HEAD' })).status).toBe(302);
      expect((await ask('/livez', { method: 'HEAD' })).status).toBe(200);
    });

    it('"no update" is 204 without a body, on a connection that stays open', async () => {
      const poll = '/feeds/desktop/stable/tauri/windows/x86_64/2.0.0';
      for (let n = 0; n < 5; n++) {
        const { status, body } = await ask(poll);
        expect([status, body.length]).toEqual([204, 0]);
      }
    });

    it('the metrics are not reachable, and /readyz names no problem', async () => {
      for (const address of ['/metrics', '/%6Detrics', '//metrics', '/metrics/', '/metrics?x=1']) {
        const { status, body } = await ask(address);
        expect([address, status]).toEqual([address, 404]);
        expect(body.toString()).not.toContain('slipway_');
      }
      const ready = await ask('/readyz');
      expect(ready.status).toBe(200);
      expect(ready.body.toString()).not.toContain('"problems"');
    });

    it('a body that is too large is 413', async () => {
      for (const size of [70 * 1024, 4 * 1024 * 1024]) {
        const { status } = await post(CHECK, { current_version: 'x'.repeat(size) });
        expect([size, status]).toEqual([size, 413]);
      }
      expect((await ask('/livez')).status).toBe(200);
    });

    it('plain HTTP leads to HTTPS, and a POST stays one', async () => {
      const address = `${basePath}${DOCUMENT}?a=b%20c`;
      const get = await client.askPlain(address);
      expect([301, 308]).toContain(get.status);
      expect(new URL(String(get.headers.location)).protocol).toBe('https:');
      expect(String(get.headers.location)).toMatch(new RegExp(`^https://${host}(:\\d+)?/`));
      expect(String(get.headers.location).endsWith(address)).toBe(true);
      const sent = { method: 'POST', body: {} };
      expect((await client.askPlain(`${basePath}${CHECK}`, sent)).status).toBe(308);
    });

    it('the log has no query, no token and no presigned link', async () => {
      const [signature, token] = [randomUUID(), randomUUID()];
      const headers = { authorization: `Bearer ${token}` };
      const marker = randomUUID();
      await ask(`/files/${marker}?signature=${signature}`, { headers });
      const location = String((await ask(FILE)).headers.location);
      const presigned = String(new URL(location).searchParams.get('X-Amz-Signature'));
      expect(presigned).toMatch(/^[0-9a-f]{64}$/);
      await expect.poll(() => proxy.logged()).toContain(marker);
      const logged = await proxy.logged();
      for (const secret of [signature, token, presigned]) expect(logged).not.toContain(secret);
    });

    it('a process that stops fails no GET, and neither does one that is killed', async () => {
      for (const [index, signal] of [
        [0, 'SIGTERM'],
        [1, 'SIGKILL'],
      ] as const) {
        const statuses: (number | string)[] = [];
        let isDone = false;
        const clients = Array.from({ length: 8 }, async () => {
          while (!isDone) {
            const answer = ask(DOCUMENT).then(({ status }) => status);
            statuses.push(await answer.catch((error: Error) => error.message));
          }
        });
        await sleep(500);
        processes[index]?.process.kill(signal);
        await processes[index]?.exit;
        const countAtEnd = statuses.length;
        await sleep(1_000);
        isDone = true;
        await Promise.all(clients);
        console.log(`${variant.name}: ${statuses.length} GETs around ${signal}`);
        expect(statuses.length).toBeGreaterThan(countAtEnd + 20);
        expect([...new Set(statuses)]).toEqual([200]);
        processes[index] = await start(index);
        // nginx leaves a process out for a second after it failed.
        await sleep(2_000);
      }
    });

    it('a download that breaks off is not completed by the proxy', async () => {
      const stale = { range: 'bytes=0-9', 'if-range': '"another file"' };
      const download = ask(FILE, { headers: stale, pauseMs: 1_500 });
      const outcome = download.then(({ body }) => `${body.length} bytes`, String);
      await sleep(1_000);
      for (const { process } of processes) process.kill('SIGKILL');
      expect(await outcome).toMatch(/aborted|ECONNRESET|closed/);
      await Promise.all([start(0), start(1)]);
    });
  });
}
