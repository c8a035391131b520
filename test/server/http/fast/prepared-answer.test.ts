import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../../../src/server/deps.ts';
import { prepareHeaders } from '../../../../src/server/http/fast/prepared-headers.ts';
import { createConnections } from '../../../../src/server/limits/connections.ts';
import { buildBase } from '../../../../src/server/set-up/base-server.ts';
import { createFixedClock } from '../../../support/clock.ts';
import { usesUndocumented } from '../../limits/node-parts.ts';

const PREPARED = prepareHeaders({ 'content-type': 'text/plain; charset=utf-8' });
const HEADERS = PREPARED.record;
const LARGE = 'ü'.repeat(10_000);

const opened: App[] = [];

/** Listens on a free port. */
async function open(heldBytesMax = 1_000_000) {
  const draining = new AbortController();
  const logger = pino({ level: 'silent' });
  const clock = createFixedClock();
  const connections = createConnections({
    limits: { connectionsMax: 10, heldBytesMax, because: '' },
    bodyBytesMax: 1_000,
    clock,
    log: logger,
  });
  const settings = { logger, clock, trustProxy: false, connections, draining: draining.signal };
  const app = await buildBase(settings, new Registry());
  app.get('/small', (_request, reply) => reply.sendPrepared(200, PREPARED, 'grüße'));
  app.get('/large', (_request, reply) => reply.sendPrepared(200, PREPARED, LARGE));
  app.get('/shared', (_request, reply) => reply.sendPrepared(200, PREPARED, Buffer.from(LARGE)));
  app.get('/unchanged', (_request, reply) => reply.sendPrepared(304, PREPARED, null));
  app.get('/elsewhere', (_request, reply) =>
    reply.sendPrepared(302, PREPARED, '', { location: '/small' }),
  );
  app.get('/latin', (_request, reply) => reply.sendPrepared(200, PREPARED, '', { 'x-own': 'ü' }));
  app.get('/split', (_request, reply) =>
    reply.sendPrepared(200, PREPARED, '', { 'x-own': 'a\r\nx-added: b' }),
  );
  app.get('/nothing', (_request, reply) => reply.sendPrepared(204, PREPARED, null));
  app.get('/nowhere', (_request, reply) =>
    reply.sendPrepared(302, PREPARED, null, { location: '/small' }),
  );
  app.get('/ordinary', (_request, reply) => reply.send('grüße'));
  opened.push(app);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { redirect: 'manual', ...init });
  return { ask, draining, connections };
}

describe('a prepared answer', () => {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((app) => app.close()));
  });

  it('has its body, its length in bytes, the id of the request and the security headers', async () => {
    const { ask } = await open();
    const answer = await ask('/small', { headers: { 'x-request-id': 'id-1' } });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('grüße');
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({ ...HEADERS, 'content-length': '7', 'x-request-id': 'id-1' });
    // Each of its security headers equals the header of an ordinary answer.
    const ordinary = Object.fromEntries((await ask('/ordinary')).headers);
    for (const name of Object.keys(HEADERS)) expect(ordinary[name]).toBe(headers[name]);
  });

  it('has the headers that Node adds to an ordinary answer, with the time of the clock', async () => {
    const { ask } = await open();
    const names = async (path: string, headers = {}) =>
      [...(await ask(path, { headers })).headers.keys()].filter((name) => !(name in HEADERS));
    const added = ['connection', 'content-length', 'date', 'keep-alive', 'x-request-id'];
    expect(await names('/small')).toEqual(added);
    expect(await names('/ordinary')).toEqual(expect.arrayContaining(added));
    if (usesUndocumented) {
      expect((await ask('/small')).headers.get('date')).toBe('Sat, 21 Nov 2026 09:00:00 GMT');
    }
    expect((await ask('/small')).headers.get('keep-alive')).toBe('timeout=60');
    const closing = await ask('/small', { headers: { connection: 'close' } });
    expect(closing.headers.get('connection')).toBe('close');
    expect(closing.headers.get('keep-alive')).toBeNull();
    expect(await closing.text()).toBe('grüße');
  });

  it('is written by Node when a value is not plain, so that no value adds a header', async () => {
    const { ask } = await open();
    expect((await ask('/latin')).headers.get('x-own')).toBe('ü');
    const split = await ask('/split');
    expect([split.status, split.headers.get('x-added')]).toEqual([500, null]);
  });

  it('is answered to HEAD with the same headers and no body', async () => {
    const { ask } = await open();
    const answer = await ask('/small', { method: 'HEAD' });
    expect(await answer.text()).toBe('');
    expect(Object.fromEntries(answer.headers)).toMatchObject({ ...HEADERS, 'content-length': '7' });
  });

  it('may have no body', async () => {
    const { ask } = await open();
    const unchanged = await ask('/unchanged');
    expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
    expect(unchanged.headers.get('transfer-encoding')).toBeNull();
    const elsewhere = await ask('/elsewhere');
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([302, '/small']);
    expect(elsewhere.headers.get('content-length')).toBe('0');
    // Otherwise the client would wait for a body.
    expect((await ask('/nowhere')).headers.get('content-length')).toBe('0');
    const nothing = await ask('/nothing');
    expect([nothing.status, nothing.headers.get('content-length')]).toEqual([204, null]);
  });

  it('is refused when there is no memory for it; bytes that answers share need none', async () => {
    const { ask, connections } = await open(10_000);
    const refused = await ask('/large');
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'overloaded' });
    expect(await (await ask('/shared')).text()).toBe(LARGE);
    expect(connections.counts().heldBytes).toBe(0);
  });

  it('asks the client to close the connection once the service stops', async () => {
    const { ask, draining } = await open();
    expect((await ask('/small')).headers.get('connection')).toBe('keep-alive');
    draining.abort();
    const last = await ask('/small');
    expect(last.headers.get('connection')).toBe('close');
    expect(await last.text()).toBe('grüße');
  });
});
