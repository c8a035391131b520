import { Writable } from 'node:stream';
import fc from 'fast-check';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/server/deps.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import { createFixedClock } from '../../support/clock.ts';
import { rounds } from '../../support/rounds.ts';

const opened: App[] = [];

async function open(requests: 'all' | 'errors') {
  const lines: string[] = [];
  const clock = createFixedClock();
  const write = (line: string): void => void lines.push(line);
  const accessLog = { requests, write, clock, facts: { pid: 7, hostname: 'build "7"' } };
  const logger = pino({ level: 'silent' });
  const app = await buildBase({ logger, accessLog, trustProxy: true }, new Registry());
  app.get('/found/*', (_request, reply) => reply.send('found'));
  opened.push(app);
  return { app, lines, clock };
}

describe('the access log', () => {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((app) => app.close()));
  });

  it('has one line for each request, with the fields of the other lines', async () => {
    const { app, lines, clock } = await open('all');
    await app.inject({ url: '/found/a?token=secret', headers: { 'x-request-id': 'id-1' } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[^\n]*\n$/);
    const line = JSON.parse(lines[0] ?? '');
    const sample: string[] = [];
    const sink = new Writable({
      write: (chunk, _encoding, done) => done(void sample.push(`${chunk}`)),
    });
    pino({}, sink).info('request');
    expect(Object.keys(line)).toEqual(
      expect.arrayContaining(Object.keys(JSON.parse(sample[0] ?? ''))),
    );
    expect(line).toEqual({
      ...{ level: 30, time: clock.now(), pid: 7, hostname: 'build "7"', msg: 'request' },
      ...{ request_id: 'id-1', method: 'GET', url: '/found/a', remote_address: '127.0.0.1' },
      ...{ status: 200, duration_ms: expect.any(Number) },
    });
  });

  it('is JSON for every address, whatever characters clients send', async () => {
    const { app, lines } = await open('all');
    const texts = fc.array(
      fc.constantFrom('"', '\\', '\u0000', '\n', '\u2028', 'ü', '%', '/', 'a', '?'),
    );
    await fc.assert(
      fc.asyncProperty(texts, texts, async (path, forwarded) => {
        lines.length = 0;
        const url = `/found/${encodeURIComponent(path.join(''))}"\\`;
        const headers = { 'x-forwarded-for': forwarded.join('') || '203.0.113.7' };
        await app.inject({ url, headers, method: 'GET' });
        expect(lines).toHaveLength(1);
        expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'request' });
        expect((lines[0] ?? '').split('\n')).toHaveLength(2);
      }),
      { numRuns: rounds(50, 100) },
    );
  });

  it('has only failed requests when the operator asks for errors', async () => {
    const { app, lines } = await open('errors');
    await app.inject('/found/a');
    await app.inject('/nothing');
    await app.inject({ url: '/found/a', method: 'POST' });
    expect(lines.map((line) => JSON.parse(line).status)).toEqual([404, 405]);
  });
});
