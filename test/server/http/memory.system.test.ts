import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort, killAll, type Running, startServer } from '../../support/process.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';
import { createTestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION } from '../support.ts';
import { closeAll, openMany, requestText } from './flood.ts';

/** Clients that do not read their answers, against a process with a small heap. */

const HEAP_MB = 256;
/** By at most 50 sockets; and by hundreds, beside the heap: buffers of sockets, what the allocator keeps. */
const GROWTH_MAX_MB = 150;
const GROWTH_MAX_BY_MANY_MB = 500;
const NOTES_BYTES = 700 * 1024;
/** Of a file: more than the buffers of both systems take. */
const SIZE = 16 * 1024 * 1024;
const CHECK = JSON.stringify({ current_version: '1.0.0', platform: 'windows', arch: 'x64' });
const LOGIN = '/api/v1/auth/login';

describe('requests whose answers are not read', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let service: Running;
  let url: string;
  let port: number;
  let metricsPort: number;
  let file: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const data = path.join(directory.path, 'data');
    env = { DATA_DIR: data, URL_SIGNING_SECRET: 'a-secret-of-thirty-two-characters' };
    const publisher = await createTestService({ env: { DATA_DIR: data }, start: false });
    const content = Buffer.alloc(SIZE, 7);
    const artifacts = [
      await makeArtifact(directory.path, { content }),
      await makeArtifact(directory.path, {
        filename: 'App.tar.gz',
        platform: 'macos',
        arch: 'universal',
        format: 'tar.gz',
        signatures: [{ scheme: 'minisign', keyId: '1', value: 'signed' }],
      }),
    ];
    const notes = { und: 'A long story. '.repeat(NOTES_BYTES / 14) };
    await publish(publisher, { version: '2.0.0', artifacts, notes });
    await publisher.close();
  });
  beforeEach(async () => {
    metricsPort = await freePort();
    const settings = { ...env, METRICS_PORT: String(metricsPort) };
    service = startServer(settings, { heapMb: HEAP_MB });
    url = await service.url();
    port = Number(new URL(url).port);
    const link = await fetch(`${url}${DOWNLOAD}/windows`, { redirect: 'manual' });
    const { pathname, search } = new URL(String(link.headers.get('location')));
    file = pathname + search;
  });
  afterEach(killAll);
  afterAll(() => directory.remove());

  function memoryMb(): number {
    const status = readFileSync(`/proc/${service.process.pid}/status`, 'latin1');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  async function expectAlive(what: string, baselineMb: number, growthMaxMb: number): Promise<void> {
    const answers = async (address: string, init: RequestInit = {}) => {
      const signal = AbortSignal.timeout(5_000);
      const response = await fetch(address, { ...init, signal }).catch((error) => error);
      return response.status ?? String(response);
    };
    await expect.poll(() => answers(`${url}/livez`), { timeout: 20_000 }).toBe(200);
    const asked = {
      method: 'POST',
      body: CHECK,
      headers: { 'content-type': 'application/json' },
    };
    await expect.poll(() => answers(url + CHECK_UPDATE, asked), { timeout: 20_000 }).toBe(200);
    const grownMb = Math.round(memoryMb() - baselineMb);
    console.log(`${what}: ${grownMb} MB more than before`);
    expect(service.process.exitCode, service.errors()).toBeNull();
    expect(grownMb, what).toBeLessThan(growthMaxMb);
  }

  /** Sends, waits while the process works on it, looks, and leaves. */
  async function flood(
    what: string,
    sockets: number,
    bytes: string | Buffer,
    to = port,
  ): Promise<void> {
    const before = memoryMb();
    const opened = await openMany(to, sockets, bytes);
    await sleep(1_000);
    await expectAlive(what, before, sockets <= 50 ? GROWTH_MAX_MB : GROWTH_MAX_BY_MANY_MB);
    closeAll(opened);
    await sleep(200);
  }

  const routes = (): readonly (readonly [string, string])[] => [
    ['the public document', requestText('GET', '/openapi.json')],
    ['the document again', requestText('GET', '/docs/json')],
    ['the document as YAML', requestText('GET', '/docs/yaml')],
    ['the script of the docs', requestText('GET', '/docs/static/swagger-ui-bundle.js')],
    ['the latest version', requestText('GET', LATEST_VERSION)],
    ['electron-updater', requestText('GET', '/feeds/desktop/stable/electron/latest.yml')],
    ['Tauri', requestText('GET', '/feeds/desktop/stable/tauri/darwin/aarch64/1.0.0')],
    ['checks', requestText('POST', CHECK_UPDATE, CHECK)],
    ['a file', requestText('GET', file)],
    ['the status', requestText('GET', '/api/v1/system/status')],
    ['the overview', requestText('GET', '/monitoring/overview')],
    ['what is not there', requestText('GET', `/${'x'.repeat(200)}`)],
    ['refused bodies', requestText('POST', LOGIN, `{"email":"${'x'.repeat(30_000)}"}`)],
  ];

  const PIPELINED = rounds(600, 5_000);
  it(`${PIPELINED} pipelined requests on one socket, of every kind`, async () => {
    for (const [what, request] of routes()) await flood(what, 1, request.repeat(PIPELINED));
  }, 180_000);

  it(`${PIPELINED} pipelined requests to the port of the metrics`, async () => {
    for (const path of ['/metrics', '/readyz', '/nothing']) {
      await flood(path, 1, requestText('GET', path).repeat(PIPELINED), metricsPort);
      await flood(path, 16, requestText('GET', path).repeat(PIPELINED / 10), metricsPort);
    }
  }, 120_000);

  const largeAnswers = () =>
    routes().filter(([what]) => /document$|script|latest|checks|file|bodies/.test(what));

  const PIPELINING = rounds(60, 400);
  it(`64 pipelined requests on each of ${PIPELINING} sockets`, async () => {
    for (const [what, request] of largeAnswers()) await flood(what, PIPELINING, request.repeat(64));
  }, 300_000);

  const SOCKETS = rounds(150, 2_000);
  it(`one request on each of ${SOCKETS} sockets`, async () => {
    // One answer of each source: text in memory, a file of the package, a file of the store, a refusal.
    const ofEachSource = largeAnswers().filter(([what]) =>
      /document|script|file|bodies/.test(what),
    );
    for (const [what, request] of ofEachSource) await flood(what, SOCKETS, request);
  }, 300_000);

  it('incomplete headers, on the maximum number of connections', async () => {
    const tiny = 'a:b\r\n'.repeat(900);
    await flood('many headers', 9_000, `GET /livez HTTP/1.1\r\nHost: x\r\n${tiny}`);
    await flood('a long one', 9_000, `GET /livez HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(15_000)}`);
  }, 120_000);

  it('incomplete bodies', async () => {
    const head = requestText('POST', LOGIN, 'x'.repeat(64_000)).slice(0, -1);
    const sockets = rounds(600, 4_000);
    await flood('half-sent bodies', sockets, head);
    const chunk = `fa00\r\n${'x'.repeat(64_000)}\r\n`;
    const chunked = `POST ${LOGIN} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`;
    await flood('half-sent bodies in chunks', sockets, chunked);
  }, 120_000);

  /** 64,000 chunks of one byte, and no end. */
  const inTinyChunks = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(64_000)}`;

  it('bodies in chunks of one byte', async () => {
    const sockets = rounds(6, 40);
    await flood('read by a route', sockets, inTinyChunks('POST', LOGIN));
    await flood('read by no route', sockets, inTinyChunks('GET', file));
    await flood('of a kind that is refused', sockets, inTinyChunks('POST', '/nothing'));
    const behind = requestText('GET', file) + inTinyChunks('POST', LOGIN);
    await flood('of a request that waits', sockets, behind);
    await flood(
      'to the port of the metrics',
      rounds(3, 16),
      inTinyChunks('GET', '/metrics'),
      metricsPort,
    );
  }, 120_000);

  it('thousands of requests in one read, after a request whose answer is not read', async () => {
    const tiny = 'GET / HTTP/1.1\r\n\r\n'.repeat(3_600);
    for (const sockets of [50, rounds(150, 600)]) {
      await flood('requests of 18 bytes', sockets, requestText('GET', file) + tiny);
    }
  }, 120_000);

  it('are cut for new downloads, and do not interrupt a download that is read', async () => {
    const honest = await openMany(port, 20, requestText('GET', file));
    // By the time that has passed, because the flood delays this process.
    let readAt = performance.now();
    const pace = setInterval(() => {
      const bytes = Math.round((performance.now() - readAt) * 160);
      readAt = performance.now();
      for (const socket of honest) socket.read(Math.min(socket.readableLength, bytes));
    }, 100);
    const statusOf = async () => {
      const answer = await fetch(url + file, { signal: AbortSignal.timeout(5_000) });
      await answer.body?.cancel();
      return answer.status;
    };
    await sleep(12_000);
    const silent = await openMany(port, 1_500, requestText('GET', file));
    // New ones are answered 503 while there is no room, which is not for long.
    await expect.poll(statusOf, { timeout: 40_000, interval: 1_000 }).toBe(200);
    clearInterval(pace);
    const isCut = ({ destroyed, bytesRead }: Socket) => destroyed && bytesRead < SIZE;
    expect(honest.filter(isCut)).toEqual([]);
    // The buffers of the silent clients take the kernel's memory for TCP. Short of it, the kernel drops what the others
    // get, and sends it again only after minutes.
    closeAll(silent);
    for (const socket of honest) socket.resume();
    const rest = () =>
      honest
        .filter((socket) => socket.bytesRead < SIZE)
        .map(({ destroyed, bytesRead }) => `${destroyed ? 'cut' : 'open'} after ${bytesRead}`);
    await expect.poll(rest, { timeout: 180_000 }).toEqual([]);
    closeAll(honest);
  }, 300_000);
});
