import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import type { ObjectStore } from '../../../../src/store/object-store.ts';
import { createFixedClock } from '../../../support/clock.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { createSwitchedLoad } from '../../support.ts';

/** Compares a service that repeats answers from its memory with a service whose routes answer every request. */

export const FEED = '/feeds/desktop/stable/electron/latest.yml';
export const MACHINES = ['windows x64 nsis', 'linux x64 appimage', 'macos arm64 zip'];
const ENV = {
  PUBLIC_URL: 'https://updates.example/base',
  TRUST_PROXY: '127.0.0.1',
  LEGACY_ADDRESSES: 'hazel',
  TIERS: '{"free":[],"pro":["channel:desktop/insider"]}',
};

/** Two services on the same objects, with one clock: only one of them repeats answers from its memory. */
export async function openPair(given?: ObjectStore) {
  // The time stands still, because both services must answer at the same moment. Background tasks really wait.
  const clock = { ...createFixedClock(), sleep: systemClock.sleep };
  const store = given ?? createMemoryStore({ clock });
  const load = createSwitchedLoad();
  const open = async (remembersAnswers: boolean) => {
    const log: string[] = [];
    const service = await createTestService({
      env: ENV,
      clock,
      store,
      load,
      log,
      remembersAnswers,
    });
    return { service, log, port: Number(new URL(await service.listen()).port) };
  };
  const [remembering, plain] = [await open(true), await open(false)];
  const both = [remembering, plain] as const;
  return {
    ...{ clock, load, remembering, plain },
    publisher: remembering.service,
    refresh: () => Promise.all(both.map(({ service }) => service.refresh())),
    close: () => Promise.all(both.map(({ service }) => service.close())),
  };
}

export type Pair = Awaited<ReturnType<typeof openPair>>;

/** Sends the bytes on one connection, and returns everything that the server sends until it closes the connection. */
export async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.setTimeout(5_000, () => socket.destroy(new Error(`no end of the answers to:\n${bytes}`)));
  socket.write(bytes, 'latin1');
  await once(socket, 'end');
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}

/** Leaves out the ids that the service makes, because they are random, and the time, which Node may write. */
export const withoutIds = (answer: string): string =>
  answer
    .replace(/"?\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID')
    .replace(/\bDate: [^\r]*/g, 'Date: TIME');

const lineFacts = (line: string): unknown => {
  const { time, duration_ms: duration, request_id: id, ...facts } = JSON.parse(line);
  return { ...facts, id: withoutIds(String(id)), types: [typeof time, typeof duration] };
};

/** Sorted, because a service may log the last request of one connection after the first request of the next one. */
const requestLines = (log: readonly string[]): string[] =>
  log
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.stringify(lineFacts(line)))
    .sort();

async function countsOf({ app }: TestService): Promise<string[]> {
  const counts = /^slipway_(?:http_request_duration_seconds_count|checks|offers|links)/;
  return (await app.metrics.metrics()).split('\n').filter((line) => counts.test(line));
}

/** Counts the requests that reach a route of the service that remembers answers. */
export function countRouted({ remembering }: Pair) {
  let count = 0;
  const started = 'tracing:fastify.request.handler:start';
  const onStart = (message: unknown): void => {
    const { request } = message as { readonly request: { readonly raw: IncomingMessage } };
    if (request.raw.socket.localPort === remembering.port) count++;
  };
  subscribe(started, onStart);
  return { count: () => count, stop: () => unsubscribe(started, onStart) };
}

export async function expectSame(pair: Pair, bytes: string): Promise<void> {
  const [from, to] = await Promise.all([
    answerTo(pair.remembering.port, bytes),
    answerTo(pair.plain.port, bytes),
  ]);
  expect(withoutIds(from)).toBe(withoutIds(to));
}

export async function expectSameRecords(pair: Pair): Promise<void> {
  await expect
    .poll(() => requestLines(pair.remembering.log).length)
    .toBe(requestLines(pair.plain.log).length);
  expect(requestLines(pair.remembering.log)).toEqual(requestLines(pair.plain.log));
  expect(await countsOf(pair.remembering.service)).toEqual(await countsOf(pair.plain.service));
  for (const { log } of [pair.remembering, pair.plain]) log.length = 0;
}
