import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTH, UNLIMITED } from '../../features/accounts/routes/account-support.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { exchange } from './raw-client.ts';

/** Shorter than in production, so that the tests are quick. */
const REQUEST_TIMEOUT_MS = 300;
const CHECKED_EVERY_MS = 50;

describe('a slow client', () => {
  let service: TestService;
  let port: number;
  let settings: { requestTimeout: number; headersTimeout: number; keepAliveTimeout: number };

  beforeAll(async () => {
    service = await createTestService({ env: UNLIMITED });
    const { server } = service.app.http;
    const { requestTimeout, headersTimeout, keepAliveTimeout } = server;
    settings = { requestTimeout, headersTimeout, keepAliveTimeout };
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    // Must not exceed requestTimeout: Node swaps the two otherwise.
    server.headersTimeout = REQUEST_TIMEOUT_MS;
    (server as { connectionsCheckingInterval?: number }).connectionsCheckingInterval =
      CHECKED_EVERY_MS;
    port = Number(new URL(await service.listen()).port);
  });
  afterAll(() => service.close());

  const HEAD = `POST ${AUTH}/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n`;

  /** Sends a byte from time to time until the server closes the connection; resolves to the answer. */
  function trickle(start: string, byte: string): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      const socket: Socket = connect(port, '127.0.0.1', () => socket.write(start));
      const drip = setInterval(() => socket.write(byte), 20);
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(drip);
        resolve(text);
      });
    });
  }

  it('has fifteen seconds for a request, and a minute between requests', () => {
    expect(settings.requestTimeout).toBe(15_000);
    expect(settings.keepAliveTimeout).toBe(60_000);
    expect(settings.headersTimeout).toBeGreaterThan(0);
  });

  it('has no more time for its headers than for the whole request', () => {
    expect(settings.headersTimeout).toBeLessThanOrEqual(settings.requestTimeout);
  });

  it.each([
    ['a body', `${HEAD}Content-Length: 60000\r\n\r\n{`, ' '],
    ['a body in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
    ['headers', HEAD, 'X: y\r\n'],
  ])(
    '%s that arrives slowly is cut off, and other clients are answered meanwhile',
    async (_what, start, byte) => {
      const slow = Array.from({ length: 20 }, () => trickle(start, byte));
      const answer = await fetch(`http://127.0.0.1:${port}/livez`);
      expect(answer.status).toBe(200);
      // Without the limit, each would take twenty minutes.
      for (const text of await Promise.all(slow)) {
        // Nothing, or a problem document: never an answer to half a request.
        expect(text).toMatch(/^$|^HTTP\/1\.1 4\d\d /);
      }
    },
  );

  it.each([
    ['a token', `Authorization: Bearer ${'x'.repeat(20_000)}`],
    ['a cookie', `Cookie: __Host-slipway_session=${'x'.repeat(20_000)}`],
    [
      'a hundred and thirty headers',
      Array.from({ length: 130 }, (_, n) => `X${n}: y`).join('\r\n'),
    ],
    ['two thousand headers', Array.from({ length: 2_000 }, (_, n) => `X${n}: y`).join('\r\n')],
  ])('%s too large is refused', async (_what, lines) => {
    const answer = await exchange(port, `${HEAD}${lines}\r\nContent-Length: 2\r\n\r\n{}`);
    expect(answer?.status).toBeGreaterThanOrEqual(400);
    expect(answer?.status).toBeLessThan(500);
    expect(answer?.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  });

  it.each([
    ['a header', `X: ${'x'.repeat(40_000)}`],
    ['a token', `Authorization: Bearer ${'x'.repeat(40_000)}`],
    ['a list of ranges', `Range: bytes=${'123456789-123456799, '.repeat(1_800)}0-1`],
  ])('%s of 40 kB is refused with the limit', async (_what, lines) => {
    const answer = await exchange(port, `${HEAD}${lines}\r\nContent-Length: 2\r\n\r\n{}`);
    expect(answer?.status).toBe(431);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({
      code: 'headers_too_long',
      detail: expect.stringContaining('32768 bytes'),
    });
  });

  it.each([
    ['with its length', (body: string) => [`Content-Length: ${body.length}`, body]],
    [
      'in chunks',
      (body: string) => [
        'Transfer-Encoding: chunked',
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ],
    ],
  ])('a body that is too large, %s, is received before its 413', async (_what, framed) => {
    const [header, body = ''] = framed('x'.repeat(70_000));
    const events: string[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(`${HEAD}${header}\r\n\r\n`));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', ({ message }) => events.push(message));
    socket.on('data', (chunk) => events.push(String(chunk).slice(0, 12)));
    // An answer in between would close the connection while the client sends.
    for (const part of [body.slice(0, 69_000), body.slice(69_000)]) {
      await sleep(REQUEST_TIMEOUT_MS / 10);
      events.push('sent');
      socket.write(part);
    }
    await closed;
    expect(events).toEqual(['sent', 'sent', 'HTTP/1.1 413']);
  });

  it('an announced body takes no memory before it arrives', async () => {
    const answer = await exchange(port, `${HEAD}Content-Length: 999999999\r\n\r\n{}`);
    expect(answer?.status).toBe(413);
  });
});
