import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { seededBytes } from '../support/electron-build.ts';
import { freePorts } from '../support/process.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { createTestService, type TestService } from '../support/service.ts';
import type { ProxyKind, StartedProxy } from './proxied.ts';
import { createProxyClient, type ProxyClient } from './proxy-client.ts';

/** A proxy that sends the files of a directory store, in front of two replicas: see FILES_OFFLOAD. */

const VARIANT = { name: '', host: 'updates.example.com', basePath: '', extent: 'whole' } as const;
const SIZE = 300_000;
const CONTENT = seededBytes(SIZE, 'handed over');
/** The store escapes such a name on the disk, and the header escapes the escaped name again. */
const HARD_NAME = 'Größe %41 & “2”;#?.AppImage';
const PLAIN_NAME = 'My-App_1.0.0.AppImage';
const DOWNLOAD = '/api/v1/desktop/download';

/** Headers that say which process answered when, and by which connection. */
const VARYING = ['date', 'connection', 'keep-alive', 'x-request-id', 'server', 'via', 'alt-svc'];
const HANDED_OVER = ['x-accel-redirect', 'x-sendfile'];

type Headers = Readonly<Record<string, string>>;

const WHOLE: readonly Headers[] = [{}, { 'accept-encoding': 'gzip, br' }];
const RANGES: readonly Headers[] = [
  ...['0-0', '0-', '5-9', `${SIZE - 1}-`, `1000-${SIZE * 2}`, '-1', '-1000', `-${SIZE + 5}`],
  ...[`0-${SIZE - 1}`, `0-${SIZE}`, `-${SIZE}`],
].map((range) => ({ range: `bytes=${range}` }));
const OTHER_RANGES: readonly Headers[] = [
  ...['bytes=7-3', 'bytes=-', 'bytes=b', 'bytes=0-1, 5-9', 'bytes=0-1,7-3', 'bytes=,5-9'],
  ...['bytes= 5-9', 'bytes=5-9,', 'BYTES=5-9', 'lines=1-2', `bytes=${SIZE}-`, 'bytes=-0'],
  ...['bytes=5-99999999999999999999', 'bytes=99999999999999999999-', '5-9'],
].map((range) => ({ range }));

function conditionsOf(etag: string, modified: string): readonly Headers[] {
  const past = 'Thu, 01 Jan 1970 00:00:00 GMT';
  const range = 'bytes=5-9';
  return [
    ...[etag, '"other"', `W/${etag}`, modified, past].map((value) => ({
      range,
      'if-range': value,
    })),
    ...[etag, '"other"', '*'].flatMap((value) => [
      { 'if-none-match': value },
      { 'if-match': value },
      { range, 'if-match': value },
      { range, 'if-none-match': value },
    ]),
    ...[modified, past].flatMap((value) => [
      { 'if-modified-since': value },
      { 'if-unmodified-since': value, range },
    ]),
  ];
}

/** @param header the value of FILES_OFFLOAD for this proxy */
export function defineHandedOver(header: string, start: ProxyKind['start']): void {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let replicas: readonly TestService[];
  let urls: readonly string[];
  let proxy: StartedProxy;
  let client: ProxyClient;
  let link: string;
  let hardLink: string;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const dataDirectory = path.join(directory.path, 'data');
    const env = {
      DATA_DIR: dataDirectory,
      PUBLIC_URL: `https://${VARIANT.host}`,
      TRUST_PROXY: '127.0.0.1',
      FILES_OFFLOAD: header,
    };
    const first = await createTestService({ env });
    const linux = { platform: 'linux', format: 'appimage', filename: PLAIN_NAME } as const;
    const artifacts = await Promise.all([
      makeArtifact(directory.path, { ...linux, content: CONTENT }),
      makeArtifact(directory.path, { filename: HARD_NAME, content: CONTENT.subarray(0, 1_000) }),
    ]);
    await publish(first, { version: '1.0.0', artifacts });
    await first.refresh();
    replicas = [first, await createTestService({ env })];
    urls = await Promise.all(replicas.map((replica) => replica.listen()));
    ({ proxy, client } = await startProxy(path.join(dataDirectory, 'objects')));
    link = await linkOf('linux');
    hardLink = await linkOf('windows');
  }, 120_000);
  afterAll(async () => {
    client?.close();
    await proxy?.stop();
    await Promise.all((replicas ?? []).map((replica) => replica.close()));
    await directory.remove();
  });

  const linkOf = async (platform: string): Promise<string> => {
    const { headers } = await client.ask(`${DOWNLOAD}/${platform}`);
    const { pathname, search } = new URL(String(headers.location));
    return pathname + search;
  };

  const startProxy = async (objects: string) => {
    const place = await makeTemporaryDirectory();
    const certificate = await makeCertificate(place.path, [`DNS:${VARIANT.host}`]);
    const [httpPort = 0, httpsPort = 0] = await freePorts(2);
    const [one, other] = urls.map((url) => Number(new URL(url).port));
    const started = await start({
      ...{ variant: VARIANT, directory: place.path, certificate, httpPort, httpsPort, objects },
      upstreamPorts: [Number(one), Number(other)],
    });
    const authority = certificate.certificate;
    return {
      proxy: { ...started, stop: () => started.stop().then(place.remove) },
      client: createProxyClient({ host: VARIANT.host, httpPort, httpsPort, authority }),
    };
  };

  const askDirectly = async (headers: Headers, method = 'GET', address = link) => {
    const response = await fetch(urls[0] + address, { method, headers });
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: Object.fromEntries(response.headers), body };
  };

  const expectEqual = async (headers: Headers, method = 'GET', address = link): Promise<void> => {
    const expected = await askDirectly(headers, method, address);
    const { status, headers: answered, body } = await client.ask(address, { method, headers });
    const what = `${method} ${JSON.stringify(headers)}`;
    expect([what, status]).toEqual([what, expected.status]);
    expect([what, lasting(answered)]).toEqual([what, lasting(expected.headers)]);
    expect(textOf(answered, body).equals(textOf(expected.headers, expected.body)), what).toBe(true);
  };

  it('clients get the answers of the service: whole files, ranges, conditions, and HEAD', async () => {
    const { etag = '', 'last-modified': modified = '' } = (await askDirectly({})).headers;
    const all = [...WHOLE, ...RANGES, ...OTHER_RANGES, ...conditionsOf(etag, modified)];
    for (const headers of all) await expectEqual(headers);
    for (const headers of [{}, { range: 'bytes=5-9' }]) {
      await expectEqual(headers, 'HEAD');
      await expectEqual(headers, 'GET', hardLink);
    }
    for (const address of [`${link}x`, link.replace('expires=', 'expires=9')]) {
      await expectEqual({}, 'GET', address);
    }
  });

  it('any single range has the same bytes', async () => {
    const range = fc.tuple(fc.nat(SIZE), fc.nat(SIZE));
    await fc.assert(
      fc.asyncProperty(range, ([first, length]) =>
        expectEqual({ range: `bytes=${first}-${first + (length % 70_000)}` }),
      ),
      { numRuns: rounds(15, 100) },
    );
  });

  it('the service hands over only whole files and plain ranges, and only to a trusted proxy', async () => {
    const forwarded = { 'x-forwarded-for': '203.0.113.7' };
    for (const headers of [...WHOLE, ...RANGES]) {
      const answer = await askDirectly({ ...headers, ...forwarded });
      expect([headers, answer.body.length]).toEqual([headers, 0]);
      const status = headers.range === undefined || header === 'x-sendfile' ? 200 : 206;
      expect(answer.status).toBe(status);
      expect(answer.headers[header]).toMatch(/^\/[\w/.!%-]+$/);
    }
    const { etag = '', 'last-modified': modified = '' } = (await askDirectly({})).headers;
    for (const headers of [...OTHER_RANGES, ...conditionsOf(etag, modified)]) {
      const { headers: answered } = await askDirectly({ ...headers, ...forwarded });
      expect([headers, answered[header]]).toEqual([headers, undefined]);
    }
    expect((await askDirectly(forwarded, 'HEAD')).headers[header]).toBeUndefined();
    const hard = (await askDirectly(forwarded, 'GET', hardLink)).headers[header];
    if (header === 'x-sendfile') expect(hard).toBeUndefined();
    else expect(hard).toContain('%252541%2520%2526%2520');
  });

  it('clients cannot reach the place of the file', async () => {
    const { headers } = await askDirectly({ 'x-forwarded-for': '203.0.113.7' });
    const place = String(headers[header]);
    const addresses = [place, `/${place}`, place.replace('/s', '/%73'), `${place}?${link}`];
    for (const address of [...addresses, '/slipway-files/apps/../accounts/1.json']) {
      const answer = await client.ask(address);
      expect([address, answer.status]).toEqual([address, 404]);
    }
    // The service ignores these headers of a client.
    const asked = await client.ask(`${DOWNLOAD}/linux`, { headers: { [header]: place } });
    expect([asked.status, asked.body.length]).toEqual([302, 0]);
  });

  it('a file that is deleted before the proxy opens it is 404, and its place stays secret', async () => {
    const empty = path.join(directory.path, 'empty');
    await mkdir(path.join(empty, 'apps'), { recursive: true });
    const other = await startProxy(empty);
    try {
      const { status, headers, body } = await other.client.ask(link);
      expect(status).toBe(404);
      expect(body.length).toBeLessThan(1_000);
      expect(headers['content-type']).not.toBe('application/octet-stream');
      expect(headers['cache-control'] ?? 'no-store').toMatch(/no-store|max-age=0/);
      for (const name of HANDED_OVER) expect(headers[name]).toBeUndefined();
    } finally {
      other.client.close();
      await other.proxy.stop();
      await rm(empty, { recursive: true });
    }
  });
}

/** Every problem document has the id of its request. */
const isProblem = (headers: Readonly<Record<string, unknown>>): boolean =>
  String(headers['content-type']).includes('problem');

const textOf = (headers: Readonly<Record<string, unknown>>, body: Buffer): Buffer =>
  isProblem(headers) ? Buffer.from(JSON.parse(body.toString() || '{}').code ?? '') : body;

const lasting = (headers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !VARYING.includes(name))
      .filter(([name]) => name !== 'content-length' || !isProblem(headers))
      .sort(),
  );
