import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/server/limits/connection.ts';
import type { ConnectionLimits } from '../../../src/server/limits/connections.ts';
import {
  createSlowReaders,
  parseConnections,
  READING_RULES,
  type Unacknowledged,
} from '../../../src/server/limits/slow-reader.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { openSilent, requestText } from '../http/flood.ts';
import { DOWNLOAD, get, release } from '../support.ts';

/** The production rules, a thousand times as fast. */
const FASTER = 1_000;
const LIMITS: ConnectionLimits = {
  connectionsMax: 100,
  heldBytesMax: 64 * 1024 * 1024,
  because: '',
  reading: {
    bytesPerSecondMin: READING_RULES.bytesPerSecondMin * FASTER,
    pauseMaxMs: 2_000,
    unseenPauseMaxMs: 2_000,
    stalledAfterMs: 1_000,
    idleMaxMs: 1_000,
    checkedEveryMs: 100,
  },
};
/** More than the system's buffers hold. */
const SIZE = 8 * 1024 * 1024;

describe('a client that reads slowly', () => {
  let service: TestService;
  let port: number;
  let file: string;

  beforeAll(async () => {
    service = await createTestService({ store: 'directory', limits: LIMITS });
    const content = Buffer.alloc(SIZE, 7);
    await release(service, '1.0.0', [{ machine: 'windows x64 nsis', content }]);
    port = Number(new URL(await service.listen()).port);
    const { headers } = await get(service, `${DOWNLOAD}/windows`);
    const { pathname, search } = new URL(String(headers.location));
    file = pathname + search;
  });
  afterAll(() => service.close());

  const cutCount = async (reason: string) => {
    const text = await service.app.metrics.metrics();
    return Number(new RegExp(`cut_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1]);
  };

  /** Reads a piece, waits, reads on. */
  async function readSlowly(
    socket: Socket,
    pauseMs: number,
    isOver: () => Promise<boolean> = async () => false,
  ): Promise<number> {
    let size = 0;
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      socket.pause();
    });
    while (size < SIZE && !(await isOver())) {
      socket.resume();
      await sleep(pauseMs);
    }
    return size;
  }

  it('is cut when it reads nothing, even if it keeps sending', async () => {
    const before = await cutCount('slow_reader');
    const silent = await openSilent(port, requestText('GET', file));
    const busy = await openSilent(port, requestText('GET', file));
    const drip = setInterval(() => busy.write('\r\n'), 50);
    try {
      await expect.poll(() => cutCount('slow_reader'), { timeout: 30_000 }).toBe(before + 2);
    } finally {
      clearInterval(drip);
    }
    for (const socket of [silent, busy]) socket.destroy();
  });

  it('holds 128 KiB of memory, which is counted until it leaves', async () => {
    const heldBytes = async () =>
      Number(/held_bytes (\d+)/.exec(await service.app.metrics.metrics())?.[1]);
    const socket = await openSilent(port, requestText('GET', file));
    await expect.poll(heldBytes).toBe(128 * 1024);
    socket.destroy();
    await expect.poll(heldBytes).toBe(0);
  });

  it('is cut when it reads below the minimum rate', async () => {
    const before = await cutCount('slow_reader');
    const socket = await openSilent(port, requestText('GET', file));
    const isCut = async () => (await cutCount('slow_reader')) > before;
    expect(await readSlowly(socket, 1_000, isCut)).toBeLessThan(SIZE);
    expect(await isCut()).toBe(true);
    socket.destroy();
  });

  it('gets the whole file when it reads at twice the minimum rate', async () => {
    const socket = await openSilent(port, requestText('GET', file));
    // 64 KiB each time.
    expect(await readSlowly(socket, 25)).toBeGreaterThanOrEqual(SIZE);
    socket.destroy();
  });

  it('is cut when it keeps a connection open without a request', async () => {
    const before = await cutCount('idle');
    const socket = await openSilent(port, requestText('GET', '/livez'));
    socket.resume();
    const drip = setInterval(() => socket.write('\r\n'), 50);
    await once(socket, 'close');
    clearInterval(drip);
    expect(await cutCount('idle')).toBe(before + 1);
  });
});

describe('the progress of a reader', () => {
  const NONE: Unacknowledged = new Map();

  /** A connection whose kernel takes all at once, and what the rules make of what is acknowledged. */
  async function isCut(
    kernels: readonly (Unacknowledged | undefined)[],
  ): Promise<string | undefined> {
    let reason: string | undefined;
    const connection = {
      answeredCount: 0,
      current: { req: { complete: true } },
      socket: {
        writableLength: 1,
        localPort: 8080,
        remoteAddress: '::ffff:10.0.0.9',
        remotePort: 50_000,
        _handle: { bytesWritten: 3_000_000, writeQueueSize: 0 },
      },
      cut: (why: string) => {
        reason ??= why;
      },
    } as unknown as Connection;
    let turn = 0;
    const readers = createSlowReaders(READING_RULES, async () => kernels[turn++]);
    while (turn < kernels.length) await readers.check([connection]);
    return reason;
  }

  const queued = (bytes: number): Unacknowledged => new Map([['8080 10.0.0.9 50000', bytes]]);
  const turns = <T>(length: number, make: (turn: number) => T): T[] =>
    Array.from({ length }, (_, turn) => make(turn));
  const MINUTE_TURNS = 60_000 / READING_RULES.checkedEveryMs;

  it('a client of 2 kB/s is not cut, though the kernel reports it in steps of 375 kB', async () => {
    const steps = turns(20 * MINUTE_TURNS, (turn) =>
      queued(2_500_000 - 375_000 * Math.floor((turn * READING_RULES.checkedEveryMs) / 187_000)),
    );
    expect(await isCut(steps)).toBeUndefined();
  });

  it('a few bytes a minute are too few', async () => {
    const trickle = turns(6 * MINUTE_TURNS, (turn) => queued(2_500_000 - 10 * turn));
    expect(await isCut(trickle)).toBe('slow_reader');
  });

  it('without numbers from the kernel, a longer pause is allowed: its buffers may hide progress', async () => {
    expect(await isCut(turns(14 * MINUTE_TURNS, () => undefined))).toBeUndefined();
    expect(await isCut(turns(16 * MINUTE_TURNS, () => undefined))).toBe('slow_reader');
    expect(await isCut(turns(6 * MINUTE_TURNS, () => NONE))).toBe('slow_reader');
  });

  it('a client that stopped reading is stalled; one that keeps the rate is not; a closed one is ignored', async () => {
    const open = (remotePort: number, destroyed = false) => {
      const address = destroyed ? {} : { remoteAddress: '10.0.0.9', remotePort };
      const handle = { bytesWritten: 3_000_000, writeQueueSize: 0 };
      const socket = { writableLength: 1, localPort: 8080, destroyed, ...address, _handle: handle };
      const cut = (): void => undefined;
      return {
        answeredCount: 0,
        current: { req: { complete: true } },
        socket,
        isStalled: false,
        cut,
      } as unknown as Connection;
    };
    const [stopped, reading, gone] = [open(1), open(2), open(3, true)];
    let left = 2_000_000;
    const readers = createSlowReaders(READING_RULES, async () => {
      left -= READING_RULES.checkedEveryMs;
      return new Map([
        ['8080 10.0.0.9 1', 1_000_000],
        ['8080 10.0.0.9 2', left],
      ]);
    });
    const stalled = async () => {
      await readers.check([stopped, gone, reading]);
      return [stopped, reading, gone].map(({ isStalled }) => isStalled);
    };
    expect(await stalled()).toEqual([false, false, false]);
    expect(await stalled()).toEqual([false, false, false]);
    expect(await stalled()).toEqual([true, false, false]);
  });

  it('is read from the tables of Linux', () => {
    const text = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 7 1 0 100 0 0 10 0',
      '   1: 0100007F:1F90 0900000A:C350 01 0027AC40:00000000 01:00000014 00000000  1000        0 8 2 0 20 4 30 10 -1',
      '   2: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000A00000A:C351 01 00000010:00000000 00:00000000 00000000 0 0 9 1 0 20 4 30 10 -1',
      '   3: 00000000000000000000000001000000:1F90 B80D0120000000000000000001000000:C352 01 00000020:00000000 00:00000000 00000000 0 0 9 1 0 20 4 30 10 -1',
    ].join('\n');
    expect([...parseConnections(text)]).toEqual([
      ['8080 10.0.0.9 50000', 2_600_000],
      ['8080 10.0.0.10 50001', 16],
      ['8080 2001:db8::1 50002', 32],
    ]);
  });
});
