import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort, killAll, startServer } from '../../support/process.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createTestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION } from '../support.ts';
import { closeAll, openMany, type openSilent, requestText } from './flood.ts';

/** More connections than a process may have descriptors. */

const DESCRIPTORS = 1_024;
const FLOOD = 1_300;

describe(`${FLOOD} connections to a process with ${DESCRIPTORS} descriptors`, () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let data: string;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    data = path.join(directory.path, 'data');
    const publisher = await createTestService({ env: { DATA_DIR: data }, start: false });
    const content = Buffer.alloc(8 * 1024 * 1024, 7);
    const artifact = await makeArtifact(directory.path, { content });
    await publish(publisher, { version: '2.0.0', artifacts: [artifact] });
    await publisher.close();
  });
  afterEach(killAll);
  afterAll(() => directory.remove());

  async function start() {
    const metricsPort = await freePort();
    const env = { DATA_DIR: data, METRICS_PORT: String(metricsPort) };
    const service = startServer(env, { descriptors: DESCRIPTORS });
    const url = await service.url();
    return {
      service,
      url,
      port: Number(new URL(url).port),
      metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      descriptors: () => readdirSync(`/proc/${service.process.pid}/fd`).length,
    };
  }

  it('idle ones: other clients are answered all the time, and the log warns the operator', async () => {
    const { service, url, port, metrics, descriptors } = await start();
    const sockets = await openMany(port, FLOOD);
    // A request may be on its way to those that were just opened.
    await sleep(1_500);
    for (let n = 0; n < 20; n++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => fetch(`${url}${LATEST_VERSION}`)),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(descriptors()).toBeLessThan(DESCRIPTORS * 0.75);
      await sleep(100);
    }
    expect(service.process.exitCode, service.errors()).toBeNull();
    const lines = service
      .output()
      .split('\n')
      .filter((line) => line.includes('too many connections'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/1024 files and sockets.*ulimit -n/);
    const text = await metrics();
    expect(text).toMatch(/^slipway_http_connections\{kind="max"\} 384$/m);
    expect(text).toMatch(/^slipway_http_connections_cut_total\{reason="crowded"\} [1-9]/m);
    closeAll(sockets);
  });

  it('bodies that never end: others are answered', async () => {
    const { url, port } = await start();
    const head = `POST ${CHECK_UPDATE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const sockets = await openMany(port, 450, `${head}Content-Length: 60000\r\n\r\n{`);
    const drip = setInterval(() => {
      for (const socket of sockets) socket.write(' ');
    }, 1_000);
    try {
      for (let n = 0; n < 20; n++) {
        for (const path of ['/livez', '/readyz', LATEST_VERSION]) {
          expect((await fetch(`${url}${path}`)).status, path).toBe(200);
        }
        await sleep(100);
      }
    } finally {
      clearInterval(drip);
      closeAll(sockets);
    }
  });

  it('busy ones: the process survives, and answers afterwards', async () => {
    const { service, url, port, descriptors } = await start();
    const link = await fetch(`${url}${DOWNLOAD}/windows`, { redirect: 'manual' });
    const { pathname, search } = new URL(String(link.headers.get('location')));
    // Each of them holds the file open as well.
    const sockets = await openMany(port, FLOOD, requestText('GET', pathname + search));
    await sleep(1_000);
    expect(descriptors()).toBeLessThan(DESCRIPTORS);
    expect(service.process.exitCode, service.errors()).toBeNull();
    const answers = await Promise.all(sockets.map(firstLine));
    const counts = new Map<string, number>();
    for (const line of answers) counts.set(line, (counts.get(line) ?? 0) + 1);
    console.log(`busy connections: ${JSON.stringify([...counts])}`);
    expect(counts.get('HTTP/1.1 200 OK')).toBeGreaterThan(300);
    // How many of each depends on how quickly they are answered.
    const expected = ['', 'HTTP/1.1 200 OK', 'HTTP/1.1 503 Service Unavailable'];
    // On a loaded machine, the process reads some requests only after their time is over.
    expected.push('HTTP/1.1 408 Request Timeout');
    for (const line of counts.keys()) expect(expected).toContain(line);
    closeAll(sockets);
    await expect
      .poll(() => fetch(`${url}/livez`).then(({ status }) => status, String), { timeout: 5_000 })
      .toBe(200);
  });
});

/** What came of it so far; empty when it was closed without an answer. */
async function firstLine(socket: Awaited<ReturnType<typeof openSilent>>): Promise<string> {
  if (socket.destroyed) return '';
  socket.resume();
  const nothing = () => '';
  const data = once(socket, 'data').then(
    ([chunk]) => String(chunk).split('\r\n')[0] ?? '',
    nothing,
  );
  const closed = once(socket, 'close').then(nothing, nothing);
  return Promise.race([data, closed]).finally(() => socket.destroy());
}
