import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort, killAll, startServer as start } from './support/process.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from './support/release.ts';
import { createTestService } from './support/service.ts';

/** The service in its own process. */

const CHECK = '/api/v1/desktop/check-update';
const SECRET = 'a-signing-secret-that-must-not-be-logged';
/** More bytes than the sockets of a connection buffer. */
const SIZE = 32 * 1024 * 1024;
const S3_SECRET = 'the-s3-secret-that-must-not-be-logged';

const ask = (url: string, body: object = {}) =>
  fetch(`${url}${CHECK}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ current_version: '1.0.0', platform: 'windows', arch: 'x64', ...body }),
  });

afterEach(killAll);

describe('the service as a process', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let data: string;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    data = path.join(directory.path, 'data');
    const publisher = await createTestService({ env: { DATA_DIR: data }, start: false });
    const content = Buffer.alloc(SIZE, 7);
    const artifact = await makeArtifact(directory.path, { content });
    await publish(publisher, { version: '2.0.0', artifacts: [artifact] });
    await publisher.close();
  });
  afterAll(() => directory.remove());

  it('SIGTERM under load: requests in progress are completed, then the exit code is 0', async () => {
    const service = start({ DATA_DIR: data, URL_SIGNING_SECRET: SECRET });
    const url = await service.url();
    const { download } = (await (await ask(url)).json()) as { download: { url: string } };
    // These downloads have begun, but the test reads their bodies later.
    const slow = await Promise.all([1, 2, 3].map(() => fetch(download.url)));
    const counts = { answered: 0, refused: 0, broken: 0 };
    let stopping = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (counts.refused < 8) {
        const response = await ask(url).catch(() => undefined);
        if (response === undefined) {
          // No request may fail before the signal. After it, the service may refuse new connections.
          counts[stopping ? 'refused' : 'broken'] += 1;
          if (stopping) return;
        } else {
          expect(response.status).toBe(200);
          await response.json();
          counts.answered += 1;
        }
      }
    });
    await sleep(300);
    stopping = true;
    const stoppedAt = Date.now();
    service.process.kill('SIGTERM');
    await sleep(200);
    const sizes = await Promise.all(
      slow.map(async (file) => (await file.arrayBuffer()).byteLength),
    );
    expect(sizes).toEqual([SIZE, SIZE, SIZE]);
    // The exit code is 1 when the service does not stop within ten seconds.
    expect(await service.exit).toBe(0);
    await Promise.all(clients);
    expect(counts.broken).toBe(0);
    expect(counts.answered).toBeGreaterThan(20);
    console.log(`stopped in ${Date.now() - stoppedAt} ms after ${counts.answered} answers`);

    const lines = service.output().trim().split('\n');
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const requests = logged.filter(({ msg }) => msg === 'request');
    expect(requests.length).toBeGreaterThan(20);
    for (const line of requests) expect(line.request_id).toEqual(expect.any(String));
    expect(logged.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['stopping', 'stopped']));
    expect(requests.some((line) => String(line.url).startsWith('/files/'))).toBe(true);
    expect(service.output()).not.toMatch(/signature=|must-not-be-logged/);
    expect(service.errors()).toBe('');
  });

  it('SIGTERM: no keep-alive connection is cut during a request', async () => {
    const service = start({ DATA_DIR: data });
    const url = `${await service.url()}/livez`;
    const counts = { answered: 0, resets: 0 };
    const clients = Array.from({ length: 60 }, async (_, index) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (;;) {
        const { status, isReused } = await askAlive(url, agent);
        if (status === 200) counts.answered += 1;
        else {
          if (isReused) counts.resets += 1;
          return agent.destroy();
        }
        await sleep(index % 7);
      }
    });
    await sleep(500);
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    await Promise.all(clients);
    console.log(`SIGTERM: ${counts.answered} answers on keep-alive connections`);
    expect(counts.answered).toBeGreaterThan(100);
    expect(counts.resets).toBe(0);
  });

  it('SIGTERM: a slow download has nearly the whole grace period', async () => {
    const service = start({ DATA_DIR: data, URL_SIGNING_SECRET: SECRET });
    const url = await service.url();
    // On a busy machine the service may listen before it has read the catalog.
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    const { download } = (await (await ask(url)).json()) as { download: { url: string } };
    const [file] = (await once(get(download.url), 'response')) as [IncomingMessage];
    file.pause();
    service.process.kill('SIGTERM');
    await sleep(7_000);
    let size = 0;
    for await (const chunk of file) size += (chunk as Buffer).length;
    expect(size).toBe(SIZE);
    expect(await service.exit).toBe(0);
    expect(service.output()).not.toContain('too slow');
  });

  it('SIGTERM: the last counts are stored, and the next process reports them', async () => {
    const env = {
      DATA_DIR: data,
      URL_SIGNING_SECRET: SECRET,
      COUNTERS_FLUSH_INTERVAL: '1h',
      PUBLIC_GROUP_MIN: '1',
    };
    const first = start(env);
    const url = await first.url();
    for (let n = 0; n < 7; n++) {
      await fetch(`${url}/api/v1/desktop/download/windows`, { redirect: 'manual' });
    }
    first.process.kill('SIGTERM');
    expect(await first.exit).toBe(0);
    const second = start(env);
    const live = `${await second.url()}/api/v1/metrics/public/live?app=desktop`;
    await expect
      .poll(async () => (await fetch(live)).json(), { timeout: 15_000 })
      .toMatchObject({ download_links: { all_time: 7 } });
    second.process.kill('SIGTERM');
    expect(await second.exit).toBe(0);
  });

  it('SIGTERM: a client that never finishes its request does not prevent the exit or lose the counts', async () => {
    const env = {
      DATA_DIR: path.join(directory.path, 'slow'),
      URL_SIGNING_SECRET: SECRET,
      COUNTERS_FLUSH_INTERVAL: '1h',
    };
    const publisher = await createTestService({ env, start: false });
    const artifact = await makeArtifact(directory.path, { content: 'small' });
    await publish(publisher, { version: '2.0.0', artifacts: [artifact] });
    await publisher.close();
    const service = start(env);
    const url = new URL(await service.url());
    await fetch(`${url.origin}/api/v1/desktop/download/windows`, { redirect: 'manual' });
    const slow = connect(Number(url.port), url.hostname);
    slow.on('error', () => {});
    await once(slow, 'connect');
    slow.write('POST /api/v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await sleep(100);
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    slow.destroy();
    const stored = await readdir(path.join(env.DATA_DIR, 'objects', 'usage', 'counters'));
    expect(stored).toHaveLength(1);
  });

  it('serves metrics on a separate port, and not on the public port', async () => {
    const port = await freePort();
    const service = start({ DATA_DIR: data, METRICS_PORT: String(port) });
    const url = await service.url();
    await ask(url);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(text).toMatch(/^slipway_catalog_revision\{app="desktop"\} 1$/m);
    expect(text).toMatch(/^slipway_http_request_duration_seconds_count\{.*check-update.*\} 1$/m);
    expect(text).toMatch(/^process_cpu_seconds_total/m);
    expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()).toEqual({
      status: 'ready',
      problems: [],
      catalogs: {
        desktop: { revision: 1, source: 'live', age_seconds: expect.any(Number), problems: [] },
      },
    });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    service.process.kill('SIGINT');
    expect(await service.exit).toBe(0);
  });

  it('keeps serving when a full disk prevents it from writing its log', async () => {
    const port = await freePort();
    const server = path.join(import.meta.dirname, '../src/server.ts');
    const service = spawn('sh', ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, server], {
      cwd: directory.path,
      env: { PATH: process.env.PATH, DATA_DIR: data, PORT: String(port), METRICS_PORT: '0' },
    });
    try {
      const status = () =>
        fetch(`http://127.0.0.1:${port}/livez`).then((answer) => answer.status, String);
      await expect.poll(status, { timeout: 15_000 }).toBe(200);
      // Each request logs a line; together these are more than the log buffer holds.
      for (let n = 0; n < 5_000; n++) expect(await status()).toBe(200);
      expect(service.exitCode).toBeNull();
    } finally {
      service.kill('SIGKILL');
    }
  });

  it('reports wrong settings with exit code 2, and ports in use with 1', async () => {
    const taken: Server = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const bad = start({ DATA_DIR: data, PORT: 'eighty', LOG_LEVEL: 'loud', OBJECT_STORE: 's3' });
    const busy = start({ DATA_DIR: data, PORT: String(port) });
    const busyMetrics = start({ DATA_DIR: data, METRICS_PORT: String(port) });
    expect(await bad.exit).toBe(2);
    expect(bad.errors()).toMatch(/^slipway: These settings are wrong/);
    for (const name of ['PORT', 'LOG_LEVEL', 'S3_BUCKET']) {
      expect(bad.errors()).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
    }
    const nowhere = start({ DATA_DIR: data, HOST: '192.0.2.1' });
    expect(await nowhere.exit).toBe(1);
    expect(nowhere.errors()).toMatch(
      /^slipway: .* address 192\.0\.2\.1\. Set HOST to an address of this machine.*\n$/,
    );
    for (const [process, setting] of [
      [busy, 'PORT'],
      [busyMetrics, 'METRICS_PORT'],
    ] as const) {
      expect(await process.exit).toBe(1);
      expect(process.errors()).toBe(
        `slipway: Port ${port} on 127.0.0.1 is in use by another program. Stop that program, or set ${setting} to another port; 0 selects a free one.\n`,
      );
    }
    for (const { errors } of [bad, busy, busyMetrics]) expect(errors()).not.toMatch(/^\s+at /m);
    taken.close();
  });

  it.each([
    ['refuses connections', false],
    ['accepts connections and does not answer', true],
  ])('starts without a catalog when the store %s', async (_name, isSilent) => {
    const silent = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const port = (silent.address() as AddressInfo).port;
    if (!isSilent) await new Promise((resolve) => silent.close(resolve));
    const service = start({
      DATA_DIR: path.join(directory.path, `cold-${isSilent}`),
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: S3_SECRET,
    });
    const url = await service.url();
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ status: 'not_ready' });
    const askedAt = Date.now();
    const answer = await ask(url);
    console.log(`cold start without a store: answered in ${Date.now() - askedAt} ms`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await answer.json()).toMatchObject({ code: 'catalog_unavailable' });
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.output()).not.toContain(S3_SECRET);
    if (isSilent) silent.close();
    else expect(service.output()).toContain(`127.0.0.1:${port}`);
  });
});

/** @returns no status when the connection was refused or reset */
function askAlive(
  url: string,
  agent: Agent,
): Promise<{ readonly status?: number | undefined; readonly isReused: boolean }> {
  return new Promise((resolve) => {
    const request = get(url, { agent });
    request.on('error', () => resolve({ isReused: request.reusedSocket }));
    request.on('response', (response) => {
      response.resume().on('close', () => {
        resolve({ status: response.statusCode, isReused: request.reusedSocket });
      });
    });
  });
}
