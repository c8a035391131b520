import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/http/error-responses.ts';
import { connectionLimits } from '../../../src/http/server/connection-limits.ts';
import { systemClock } from '../../../src/system.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { DOWNLOAD, get, release } from '../support.ts';
import { closeAll, openMany, openSilent, requestText } from './flood.ts';

const MAX = 40;

describe('at the limit of connections', () => {
  const log: string[] = [];
  let service: TestService;
  let port: number;
  let file: string;

  beforeAll(async () => {
    const limits = { connectionsMax: MAX, heldBytesMax: 64 * 1024 * 1024, because: 'Raise it.' };
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
  const warnings = () => log.filter((line) => line.includes('too many connections'));

  it('requests of a surplus connection are answered 503, and further connections are closed', async () => {
    const busy = await openBusy(MAX * 0.95);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain('Raise it.');
    const surplus = await openSilent(port, requestText('GET', '/livez'));
    const [head = '', body = ''] = (await answerOf(surplus)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 503 /);
    expect(head).toMatch(/^retry-after: \d+$/im);
    expect(head).toMatch(/^connection: close$/im);
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject({ code: 'overloaded' });
    const waiting = await openMany(port, MAX * 0.05);
    const beyond = await openSilent(port, requestText('GET', '/livez'));
    expect(await answerOf(beyond)).toBe('');
    const metrics = await service.app.metrics.metrics();
    expect(metrics).toMatch(/^slipway_http_connections\{kind="open"\} 40$/m);
    expect(metrics).toMatch(/^slipway_http_connections_refused_total [3-9]$/m);
    // The log warns once, not for each connection.
    expect(warnings()).toHaveLength(1);
    closeAll([...busy, ...waiting]);
  });

  it('idle connections are closed to make room, except one that was just opened', async () => {
    await expect
      .poll(() => service.app.metrics.metrics())
      .toMatch(/^slipway_http_connections\{kind="open"\} 0$/m);
    const idle = await openMany(port, MAX);
    await sleep(200);
    expect(idle.filter((socket) => socket.destroyed)).toEqual([]);
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
