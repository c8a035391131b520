import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { problemSchema } from '../../../src/server/http/error-responses.ts';
import { connectionLimits } from '../../../src/server/limits/connection-limits.ts';
import { READING_RULES } from '../../../src/server/limits/slow-reader.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { closeAll, openMany, openSilent, requestText } from '../http/flood.ts';
import { exchange } from '../http/raw-client.ts';
import { CHECK_UPDATE, DOWNLOAD, get, LATEST_VERSION, release } from '../support.ts';
import { usesUndocumented } from './node-parts.ts';

const MAX = 40;
const HEAD = `POST ${CHECK_UPDATE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
const CLOSE = 'Connection: close\r\nHost';

describe('at the limit of connections', () => {
  /** Until a client that reads nothing may lose its place. */
  const STALLED_MS = 3_000;
  const log: string[] = [];
  let service: TestService;
  let port: number;
  let file: string;

  beforeAll(async () => {
    const reading = { ...READING_RULES, stalledAfterMs: STALLED_MS, checkedEveryMs: 500 };
    const heldBytesMax = 64 * 1024 * 1024;
    const limits = { connectionsMax: MAX, heldBytesMax, because: 'Raise it.', reading };
    service = await createTestService({ store: 'directory', clock: systemClock, limits, log });
    const content = Buffer.alloc(8 * 1024 * 1024, 7);
    await release(service, '1.0.0', [{ machine: 'windows x64 nsis', content }]);
    port = Number(new URL(await service.listen()).port);
    const { headers } = await get(service, `${DOWNLOAD}/windows`);
    const { pathname, search } = new URL(String(headers.location));
    file = requestText('GET', pathname + search);
  });
  afterAll(() => service.close());

  const answerOf = async (socket: Socket): Promise<string> => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.resume();
    if (!socket.destroyed) await once(socket, 'close').catch(() => undefined);
    return text;
  };
  const openBusy = async (count: number): Promise<Socket[]> => {
    const sockets = await openMany(port, count, file);
    await Promise.all(sockets.map((socket) => once(socket, 'readable')));
    return sockets;
  };
  const untilNoneIsOpen = () =>
    expect
      .poll(() => service.app.metrics.metrics())
      .toMatch(/^slipway_http_connections\{kind="open"\} 0$/m);
  const warnings = () => log.filter((line) => line.includes('too many connections'));

  it('requests of a surplus connection are answered 503, and further connections are closed', async () => {
    const busy = await openBusy(MAX * 0.95);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain('Raise it.');
    const surplus = await openSilent(port, requestText('GET', LATEST_VERSION));
    const [head = '', body = ''] = (await answerOf(surplus)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 503 /);
    expect(head).toMatch(/^retry-after: \d+$/im);
    expect(head).toMatch(/^connection: close$/im);
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject({ code: 'overloaded' });
    for (const path of ['/livez', '/readyz', '/%6civez']) {
      const probe = await openSilent(port, requestText('GET', path).replace('Host', CLOSE));
      expect(await answerOf(probe), path).toMatch(/^HTTP\/1\.1 200 /);
    }
    const waiting = await openMany(port, MAX * 0.05);
    // The service closes connections that have sent nothing, to make room for it.
    const beyond = await openSilent(port, requestText('GET', '/livez').replace('Host', CLOSE));
    expect(await answerOf(beyond)).toMatch(/^HTTP\/1\.1 200 /);
    const metrics = await service.app.metrics.metrics();
    expect(metrics).toMatch(/^slipway_http_connections\{kind="max"\} 40$/m);
    expect(metrics).toMatch(/^slipway_http_connections_refused_total [3-9]$/m);
    // The log warns once, not for each connection.
    expect(warnings()).toHaveLength(1);
    closeAll([...busy, ...waiting]);
  });

  it('clients that read nothing lose their places, and probes are answered meanwhile', async ({
    skip,
  }) => {
    skip(!usesUndocumented, 'The service does not see that a client reads nothing.');
    await untilNoneIsOpen();
    const busy = await openBusy(MAX * 0.95);
    const ask = (path: string) =>
      exchange(port, requestText('GET', path).replace('Host', CLOSE)).then(
        (answer) => answer?.status,
      );
    expect(await ask(LATEST_VERSION)).toBe(503);
    let isOver = false;
    let newest: Socket | undefined;
    // One of them opens its connection again as soon as the service closes it.
    const again = async (): Promise<void> => {
      while (!isOver) {
        newest = await openSilent(port, file);
        await answerOf(newest);
      }
    };
    const attack = again();
    const probes: unknown[] = [];
    try {
      await expect
        .poll(
          async () => {
            probes.push(await ask('/livez'), await ask('/readyz'));
            return ask(LATEST_VERSION);
          },
          { timeout: 20_000, interval: 20 },
        )
        .toBe(200);
    } finally {
      isOver = true;
      closeAll(busy);
      newest?.destroy();
      await attack;
    }
    expect(probes.filter((status) => status !== 200)).toEqual([]);
  });

  it('idle connections are closed to make room, except one that was just opened', async () => {
    await untilNoneIsOpen();
    const idle = await openMany(port, MAX);
    await sleep(200);
    expect(idle.filter((socket) => socket.destroyed).length).toBeLessThanOrEqual(MAX * 0.1);
    await sleep(2_100);
    for (let n = 0; n < 2 * MAX; n++) {
      const answer = await fetch(`http://127.0.0.1:${port}/livez`, {
        headers: { connection: 'close' },
      });
      expect(answer.status).toBe(200);
    }
    closeAll(idle);
  });
});

/** A client sends a byte a second of what follows the start. */
const UNFINISHED: readonly (readonly [what: string, start: string, drip: string])[] = [
  ['headers', `${HEAD}X: `, 'x'],
  ['a body', `${HEAD}Content-Length: 60000\r\n\r\n{`, ' '],
  ['a small body', `${HEAD}Content-Length: 300\r\n\r\n{`, ' '],
  ['a body in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
  ['the end of a body', `${HEAD}Content-Length: 30000\r\n\r\n${' '.repeat(29_990)}`, ' '],
  ['a second request', `${requestText('GET', '/livez')}${HEAD}Content-Length: 300\r\n\r\n`, ' '],
  ['nothing', '', ''],
  ['nothing after a request', requestText('GET', '/livez'), ''],
];

describe('more unfinished requests than there may be connections', () => {
  const BODY = JSON.stringify({ current_version: '0.9.0', platform: 'windows', arch: 'x64' });

  /** Opens more connections than the process may have, and opens each again when the service closes it. */
  function attack(port: number, start: string, drip: string): () => void {
    let isOver = false;
    const sockets = new Set<Socket>();
    const open = (): void => {
      if (isOver) return;
      const socket = connect(port, '127.0.0.1', () => socket.write(start));
      sockets.add(socket);
      const dripping = setInterval(() => socket.write(drip), 1_000);
      socket.resume();
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(dripping);
        sockets.delete(socket);
        setTimeout(open, 50);
      });
    };
    for (let n = 0; n < 2 * MAX; n++) open();
    return () => {
      isOver = true;
      closeAll([...sockets]);
    };
  }

  /**
   * A client that sends two hundred bytes a second, also when this machine is busy; resolves to the first line of the
   * answer.
   */
  async function askSlowly(port: number): Promise<string> {
    const text = requestText('POST', CHECK_UPDATE, BODY.padEnd(900)).replace('Host', CLOSE);
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => {});
    const begun = performance.now();
    for (let at = 0; at < text.length && !socket.destroyed; ) {
      const due = Math.ceil((performance.now() - begun) / 5);
      if (due > at) socket.write(text.slice(at, due));
      at = Math.max(at, due);
      await sleep(100);
    }
    if (!socket.destroyed) await once(socket, 'close');
    return answer.split('\r\n')[0] ?? '';
  }

  it.concurrent.each(UNFINISHED)(
    '%s: others are served, and a client on a slow link as well',
    async (_what, start, drip) => {
      const limits = { connectionsMax: MAX, heldBytesMax: 1024 * 1024, because: 'Raise it.' };
      const service = await createTestService({ clock: systemClock, limits });
      await release(service, '1.0.0', ['windows x64 nsis']);
      const port = Number(new URL(await service.listen()).port);
      const slow = askSlowly(port);
      let isSlowDone = false;
      slow.finally(() => {
        isSlowDone = true;
      });
      await sleep(2_500);
      const stop = attack(port, start, drip);
      const refused: unknown[] = [];
      try {
        while (!isSlowDone) {
          for (const request of [
            requestText('GET', '/livez'),
            requestText('GET', '/readyz'),
            requestText('GET', LATEST_VERSION),
            requestText('POST', CHECK_UPDATE, BODY),
            `${HEAD}Transfer-Encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
          ]) {
            const answer = await exchange(port, request.replace('Host', CLOSE));
            if (answer?.status !== 200) refused.push(answer ?? request);
          }
          await sleep(50);
        }
        expect(await slow).toBe('HTTP/1.1 200 OK');
        expect(refused).toEqual([]);
      } finally {
        stop();
        await service.close();
      }
    },
    30_000,
  );
});

describe('the limit of connections', () => {
  const MIB = 2 ** 20;

  it.each([
    [{ descriptors: 1_024, heapBytes: 4_096 * MIB }, 384, /1024 files and sockets.*ulimit -n/],
    [{ descriptors: 256, heapBytes: 4_096 * MIB }, 96, /ulimit -n/],
    [{ descriptors: 1_048_576, heapBytes: 512 * MIB }, 5_461, /512 MiB of heap/],
    [{ descriptors: Number.POSITIVE_INFINITY, heapBytes: 512 * MIB }, 5_461, /heap/],
    [{ descriptors: 3, heapBytes: 512 * MIB }, 1, /ulimit -n/],
  ])('%j', (process, connectionsMax, because) => {
    const limits = connectionLimits(process);
    expect(limits.connectionsMax).toBe(connectionsMax);
    expect(limits.heldBytesMax).toBe(process.heapBytes / 8);
    expect(limits.because).toMatch(because);
  });
});
