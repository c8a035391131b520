import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createElectronProvider } from '../../src/client/electron-provider.ts';
import type { ElectronProviderOptions } from '../../src/client/types.ts';
import { openClient, update } from '../e2e/differential.ts';
import {
  blockmapOf,
  editedBytes,
  publishBuild,
  publishWebBuild,
  type ShippedBuild,
  type ShippedWebBuild,
  seededBytes,
} from '../support/electron-build.ts';
import type { ElectronClient, ElectronClientOptions } from '../support/electron-updater.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createSignedService, type SignedService } from '../support/signed-service.ts';

/** The real electron-updater with the provider, in front of a service that fills the disk. */

const OLD = seededBytes(1024 * 1024, 'build');
const NEW = editedBytes(OLD, 10, 'next build');
/** What the hostile service sends in an answer when no client stops it. */
const ENDLESS_BYTES = 64 * 1024 * 1024;
/** What the buffers of a connection may hold, beyond the signed bytes. */
const BUFFERS_BYTES = 12 * 1024 * 1024;
const KINDS = ['nsis', 'mac', 'appimage'] as const;
const CLIENTS = ['current', 'next', 'previous'] as const;

const temporary = await makeTemporaryDirectory();
let signed: SignedService;
const builds: Record<string, { readonly old: ShippedBuild; readonly next: ShippedBuild }> = {};
let web: { readonly old: ShippedWebBuild; readonly next: ShippedWebBuild };
/** The address of the hostile service. */
let front: string;
let closeFront: () => void;
/** Answers a request in place of the honest service; false passes the request on. */
let attack: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
let sent = 0;

beforeAll(async () => {
  signed = await createSignedService();
  const { service, trust } = signed;
  for (const kind of KINDS) {
    const parts = { ...service, trust, directory: path.join(temporary.path, kind) };
    const old = await publishBuild(parts, { kind, version: '1.0.0', bytes: OLD });
    const next = await publishBuild(parts, { kind, version: '2.0.0', bytes: NEW });
    builds[kind] = { old, next };
  }
  const parts = { ...service, trust, directory: path.join(temporary.path, 'web') };
  const beta = { channel: 'beta' };
  web = {
    old: await publishWebBuild(parts, { version: '1.0.1', bytes: OLD }, beta),
    next: await publishWebBuild(parts, { version: '2.0.1', bytes: NEW }, beta),
  };
  await service.refresh();
  const url = await service.listen();
  const server = createServer(async (request, response) => {
    if (attack(request, response)) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { range, 'content-type': type } = request.headers;
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { ...(range && { range }), ...(type && { 'content-type': type }) },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const kept = ['content-type', 'content-range', 'content-length', 'accept-ranges'];
    const headers = kept.flatMap((name) => [[name, answer.headers.get(name) ?? ''] as const]);
    const stated = headers.filter(([, value]) => value !== '');
    response.writeHead(answer.status, Object.fromEntries(stated));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  front = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closeFront = () => {
    server.closeAllConnections();
    server.close();
  };
});
afterEach(() => {
  attack = () => false;
  sent = 0;
});
afterAll(async () => {
  closeFront();
  await signed.close();
  await temporary.remove();
});

/** Sends these bytes, and then others for as long as the client reads. */
async function flood(response: ServerResponse, first: Buffer): Promise<void> {
  const chunk = Buffer.alloc(256 * 1024, 'x');
  const closed = once(response, 'close');
  let written = 0;
  for (let next = first; written < ENDLESS_BYTES && !response.destroyed; next = chunk) {
    written += next.length;
    sent += next.length;
    // A closed connection never drains.
    if (!response.write(next)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}

const floodFor =
  (name: RegExp, headers: object = {}, first: Buffer = Buffer.alloc(0)): typeof attack =>
  ({ url = '', headers: { range } }, response) => {
    if (!name.test(url)) return false;
    response.writeHead(range === undefined ? 200 : 206, { ...headers });
    void flood(response, first);
    return true;
  };

let caches = 0;

async function openVerified(
  client: (typeof CLIENTS)[number],
  options: Pick<ElectronClientOptions, 'kind'> & Partial<ElectronClientOptions>,
  given: Partial<ElectronProviderOptions> = {},
  feed: object = {},
): Promise<ElectronClient> {
  const updateProvider = createElectronProvider({
    root: await readFile(signed.rootFile),
    cache: path.join(temporary.path, `cache-${++caches}`),
    url: front,
    app: 'desktop',
    arch: 'x64',
    ...(options.kind === 'appimage' ? { format: 'appimage' } : {}),
    ...given,
  });
  return openClient(signed.service, {
    client,
    ...options,
    configure: (updater) => {
      updater.setFeedURL({ provider: 'custom', updateProvider, ...feed });
    },
  });
}

const asInstalled = (kind: (typeof KINDS)[number]) => {
  const { old, next } = builds[kind] ?? {};
  if (old === undefined || next === undefined) throw new Error(kind);
  return { kind, installed: old.file, next: next.file } as const;
};

describe.each(CLIENTS)('electron-updater, %s', (client) => {
  it('an endless file is cut off at its signed size', async () => {
    attack = floodFor(/Setup-2\.0\.0\.exe$/);
    const opened = await openVerified(client, { kind: 'nsis' });
    expect(await opened.check()).toBe('2.0.0');
    await expect(opened.download()).rejects.toThrow(/checksum/);
    expect(sent).toBeLessThan(NEW.length + BUFFERS_BYTES);
  });

  it('an endless file behind a redirect is cut off, too', async () => {
    const endless = floodFor(/elsewhere/);
    attack = (request, response) => {
      if (endless(request, response)) return true;
      if (!request.url?.endsWith('Setup-2.0.0.exe')) return false;
      response.writeHead(302, { location: `${front}/elsewhere` }).end();
      return true;
    };
    const opened = await openVerified(client, { kind: 'nsis' });
    expect(await opened.check()).toBe('2.0.0');
    await expect(opened.download()).rejects.toThrow(/checksum/);
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(NEW.length + BUFFERS_BYTES);
  });

  it('endless bytes after the right file change nothing', async () => {
    const { next } = asInstalled('nsis');
    attack = floodFor(/Setup-2\.0\.0\.exe$/, {}, next);
    const { bytes } = await update(await openVerified(client, { kind: 'nsis' }));
    expect(bytes.equals(next)).toBe(true);
    expect(sent).toBeLessThan(NEW.length + BUFFERS_BYTES);
  });

  it('endless parts: the client falls back to the whole file', async () => {
    await expectFallback(client, 'application/octet-stream', { useMultipleRangeRequest: false });
  });

  it.each([
    ['new', /Setup-2\.0\.0\.exe\.blockmap$/],
    ['old', /Setup-1\.0\.0\.exe\.blockmap$/],
  ])('an endless %s block map is cut off', async (_name, pattern) => {
    const { next, ...options } = asInstalled('nsis');
    attack = floodFor(pattern);
    const opened = await openVerified(client, options);
    const { bytes } = await update(opened);
    expect(bytes.equals(next)).toBe(true);
    expect(sent).toBeLessThan(8 * 1024 * 1024 + BUFFERS_BYTES);
    expect(opened.log.join('\n')).toMatch(/Blockmap .* is empty/);
  });
});

async function expectFallback(
  client: (typeof CLIENTS)[number],
  type: string,
  feed: object,
): Promise<void> {
  const { next, ...options } = asInstalled('nsis');
  const endless = floodFor(/Setup-2\.0\.0\.exe$/, { 'content-type': type });
  attack = (request, response) => request.headers.range !== undefined && endless(request, response);
  const opened = await openVerified(client, options, {}, feed);
  expect((await update(opened)).bytes.equals(next)).toBe(true);
  const answers = opened.requests.filter(({ range }) => range !== undefined).length;
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(answers * BUFFERS_BYTES);
  expect(opened.log.join('\n')).toMatch(/fallback to full download/);
}

// electron-updater waits ten seconds when an answer ends before its last part.
it('endless parts in one answer: the client falls back to the whole file', async () => {
  await expectFallback('current', 'multipart/byteranges; boundary=b', {});
}, 30_000);

/** A map that would make the client copy one block of the installed file again and again. */
function greedyMap(map: Buffer, size: number): Buffer {
  const { version, files } = JSON.parse(map.toString());
  const [{ sizes, checksums }] = files;
  const copies = 2_000;
  const all = [...Array.from({ length: copies }, () => sizes[0]), size - copies * sizes[0]];
  const names = [...all.slice(1).map(() => checksums[0]), 'AAAA'];
  const file = { name: 'file', offset: 0, sizes: all, checksums: names };
  return Buffer.from(JSON.stringify({ version, files: [file] }));
}

describe('a map that makes the client fill the disk with the installed file', () => {
  it('beside the file is refused', async () => {
    const { next, ...options } = asInstalled('nsis');
    const map = gunzipSync(await blockmapOf(OLD));
    const greedy = gzipSync(greedyMap(map, next.length));
    attack = ({ url = '' }, response) => {
      if (!url.endsWith('2.0.0.exe.blockmap')) return false;
      response.end(greedy);
      return true;
    };
    const opened = await openVerified('current', options);
    expect((await update(opened)).bytes.equals(next)).toBe(true);
    expect(opened.log.join('\n')).toMatch(/Blockmap .* is empty/);
  });

  it('inside the file is refused', async () => {
    const { next, installed, kind } = asInstalled('appimage');
    const mapSize = next.readUInt32BE(next.length - 4);
    const oldSize = installed.readUInt32BE(installed.length - 4);
    const oldMap = inflateRawSync(installed.subarray(-4 - oldSize, -4));
    const greedy = deflateRawSync(greedyMap(oldMap, next.length - mapSize - 4));
    const tail = Buffer.concat([greedy, Buffer.alloc(mapSize + 4 - greedy.length)]);
    attack = ({ url = '', headers: { range = '' } }, response) => {
      if (!url.endsWith('.AppImage') || !range.endsWith(`-${next.length - 1}`)) return false;
      response.writeHead(206).end(tail);
      return true;
    };
    const opened = await openVerified('current', { kind, installed });
    expect((await update(opened)).bytes.equals(next)).toBe(true);
    expect(opened.log.join('\n')).toMatch(/Received data length 0/);
  });
});

describe('a web installer', () => {
  const open = () =>
    openVerified(
      'current',
      { kind: 'nsis', installed: web.old.installer, installedPackage: web.old.package },
      { channel: 'beta', format: 'nsis-web' },
    );

  it('gets its package as before', async () => {
    const updated = await update(await open(), '2.0.1');
    expect(updated.package?.equals(web.next.package)).toBe(true);
  });

  it('an endless package is cut off at its signed size', async () => {
    attack = floodFor(/app-2\.0\.1-x64\.nsis\.7z$/);
    const opened = await open();
    expect(await opened.check()).toBe('2.0.1');
    await expect(opened.download()).rejects.toThrow(/checksum/);
    expect(sent).toBeLessThan(2 * NEW.length + 2 * BUFFERS_BYTES);
  });
});

describe('useMultipleRangeRequest: false', () => {
  it.each([
    ['in setFeedURL', { feed: { useMultipleRangeRequest: false }, config: {} }],
    ['in app-update.yml', { feed: {}, config: { useMultipleRangeRequest: false } }],
  ])('%s: each request has one range', async (_name, { feed, config }) => {
    const { next, ...options } = asInstalled('nsis');
    const opened = await openVerified('current', { ...options, config }, {}, feed);
    expect((await update(opened)).bytes.equals(next)).toBe(true);
    const ranges = opened.requests.flatMap(({ range }) => range ?? []);
    expect(ranges.length).toBeGreaterThan(5);
    expect(ranges.filter((range) => range.includes(','))).toEqual([]);
    expect(opened.log.join('\n')).not.toMatch(/fallback/);
  });
});
