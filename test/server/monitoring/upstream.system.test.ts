import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createMonitoringUpstream,
  type MonitoringUpstreamDeps,
} from '../../../src/server/monitoring/upstream.ts';
import { createFixedClock } from '../../support/clock.ts';
import { type MonitoringStub, startMonitoringStub } from './stub.ts';

const LIMIT = 256 * 1024;
/** Long enough for a loaded machine; only answers that never come take so long. */
const TIMEOUT_MS = 800;

/** Made beforehand: it takes about as long as the view waits. */
const SWELLING = gzipSync(Buffer.alloc(50 * LIMIT));

describe('the monitoring upstream', () => {
  let stub: MonitoringStub;
  beforeEach(async () => {
    stub = await startMonitoringStub();
  });
  afterEach(() => stub.close());

  function open(options: Partial<MonitoringUpstreamDeps> = {}) {
    const clock = createFixedClock();
    const log: string[] = [];
    const outcomes: [boolean, string][] = [];
    const write = (level: string) => (_facts: object, message: string) =>
      void log.push(`${level} ${message}`);
    const upstream = createMonitoringUpstream({
      baseUrl: stub.baseUrl,
      clock,
      log: { info: write('info'), warn: write('warn'), error: write('error') },
      onOutcome: (ok, sentence) => void outcomes.push([ok, sentence]),
      timeoutMs: TIMEOUT_MS,
      ...options,
    });
    const view = async (name: 'health' | 'overview' = 'health') => {
      const { contentType, body, ageSeconds } = await upstream.view(name, 'req-1');
      return { contentType, text: body.toString(), ageSeconds };
    };
    return { clock, log, outcomes, view };
  }

  const typed =
    (type: string, body: string | Buffer, status = 200): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, { 'content-type': type }).end(body);

  it('asks for the two documents and passes them on', async () => {
    const { view, outcomes, log } = open();
    stub.answerJson({ status: 'fine' });
    expect(await view('health')).toEqual({
      contentType: 'application/json; charset=utf-8',
      text: '{"status":"fine"}',
      ageSeconds: 0,
    });
    stub.answerWith(typed('Text/Plain;charset=x', 'all is well'));
    expect(await view('overview')).toEqual({
      contentType: 'text/plain; charset=utf-8',
      text: 'all is well',
      ageSeconds: 0,
    });
    expect(stub.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /monitoring/health',
      'GET /monitoring/overview',
    ]);
    expect(outcomes).toEqual([
      [true, ''],
      [true, ''],
    ]);
    expect(log).toEqual([]);
  });

  it('asks below the path of its address', async () => {
    stub.answerJson({});
    await open({ baseUrl: `${stub.baseUrl}/inner` }).view();
    expect(stub.requests[0]?.url).toBe('/inner/monitoring/health');
  });

  it('sends the request id and what it accepts, and nothing about the client', async () => {
    stub.answerJson({});
    await open().view();
    const { headers = {} } = stub.requests[0] ?? {};
    expect(headers['x-request-id']).toBe('req-1');
    expect(headers.accept).toBe('application/json, text/plain;q=0.5');
    const known = ['accept', 'accept-encoding', 'accept-language', 'connection', 'host'];
    expect(
      Object.keys(headers)
        .filter((name) => !known.includes(name))
        .sort(),
    ).toEqual(['sec-fetch-mode', 'user-agent', 'x-request-id']);
  });

  it.each<[string, RegExp, RequestListener]>([
    ['a hanging answer', /does not answer/, () => undefined],
    [
      'a body that stops half-way',
      /does not answer/,
      (_request, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).write('{"a":'),
    ],
    [
      'a body cut off',
      /does not answer/,
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
        response.write('short', () => response.destroy());
      },
    ],
    ['a reset connection', /does not answer/, (request) => void request.socket.destroy()],
    ['a refusal', /status 500/, typed('application/json', '{"secret":1}', 500)],
    ['an empty success', /status 204/, (_request, response) => void response.writeHead(204).end()],
    ['a partial answer', /status 206/, typed('application/json', '{}', 206)],
    ['a web page', /type that is not passed on/, typed('text/html', '<script>alert(1)</script>')],
    ['an unknown type', /type that/, typed('constructor', 'x')],
    ['a script', /type that/, typed('application/javascript', 'alert(1)')],
    ['no type', /type that/, (_request, response) => void response.end('{}')],
    ['a large body', /more than 262144 bytes/, typed('text/plain', 'x'.repeat(LIMIT + 1))],
    [
      'a small one that swells',
      /more than 262144 bytes/,
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
          .end(SWELLING),
    ],
  ])('does not pass on %s', async (_case, sentence, listener) => {
    const { view, outcomes, log } = open();
    stub.answerWith(listener);
    await expect(view()).rejects.toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringMatching(sentence),
      retryAfterSeconds: expect.any(Number),
    });
    expect(outcomes).toEqual([[false, expect.stringMatching(sentence)]]);
    expect(outcomes[0]?.[1]).not.toMatch(/127\.0\.0\.1|secret|script/);
    expect(log).toEqual(['warn monitoring fails']);
  });

  it('takes a body of exactly the size that is allowed', async () => {
    stub.answerWith(typed('text/plain', 'x'.repeat(LIMIT)));
    expect((await open().view()).text).toHaveLength(LIMIT);
  });

  it('ends the connection of an endless body long before the timeout', async () => {
    let sent = 0;
    const closed = new Promise((resolve) => {
      stub.answerWith((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const write = (): void => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        };
        response.on('drain', write).on('close', resolve);
        write();
      });
    });
    const { view } = open({ timeoutMs: 60_000 });
    await expect(view()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    await closed;
    // What the buffers of both ends hold, and no more.
    expect(sent).toBeLessThan(64 * LIMIT);
  });

  it('ends the connection of an endless body that is refused', async () => {
    const closed = new Promise((resolve) => {
      stub.answerWith((_request, response) => {
        response.on('close', resolve).writeHead(500).write('x');
      });
    });
    await expect(open({ timeoutMs: 60_000 }).view()).rejects.toMatchObject({
      message: expect.stringMatching(/status 500/),
    });
    // At once, and not when the collector happens to find it.
    await closed;
  }, 3_000);

  it.each([301, 302, 303, 307, 308])('follows no redirect: %i', async (status) => {
    stub.answerWith((request, response) => {
      if (request.url !== '/monitoring/health') {
        response.setHeader('content-type', 'application/json').end('{"followed":true}');
      } else response.writeHead(status, { location: `${stub.baseUrl}/inner` }).end();
    });
    await expect(open().view()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(stub.requests.map(({ url }) => url)).toEqual(['/monitoring/health']);
  });

  it('fails when the connection is refused', async () => {
    const { view, log } = open();
    await stub.close();
    await expect(view()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(log).toHaveLength(1);
  });

  it('sends one request for all clients that ask at the same time', async () => {
    const { view } = open({ timeoutMs: 10_000 });
    const answers = new Promise<() => void>((resolve) => {
      stub.answerWith((_request, response) =>
        resolve(() => response.setHeader('content-type', 'text/plain').end('here')),
      );
    });
    const flood = Array.from({ length: 200 }, () => view());
    (await answers)();
    expect(new Set((await Promise.all(flood)).map(({ text }) => text))).toEqual(new Set(['here']));
    expect(stub.requests).toHaveLength(1);
  });

  it('asks at most once a second for each view, whether it works or not', async () => {
    const { clock, view } = open();
    stub.answerJson({ n: 1 });
    await view();
    await view('overview');
    clock.advance(999);
    for (let turn = 0; turn < 50; turn++) await view();
    expect(stub.requests).toHaveLength(2);
    clock.advance(1);
    stub.answerJson({ n: 2 });
    expect((await view()).text).toBe('{"n":2}');
    expect(stub.requests).toHaveLength(3);

    const failing = open();
    stub.answerWith(typed('text/html', '', 500));
    for (let turn = 0; turn < 50; turn++) await expect(failing.view()).rejects.toThrow(/500/);
    expect(stub.requests).toHaveLength(4);
    // A clock that was set back does not silence it.
    failing.clock.advance(-60_000);
    stub.answerJson({ n: 3 });
    expect((await failing.view()).text).toBe('{"n":3}');
  });

  it('serves the last good answer with its age for an hour, and continues to ask', async () => {
    const { clock, view, log, outcomes } = open();
    stub.answerJson({ n: 1 });
    await view();
    stub.answerWith(typed('text/html', 'broken', 502));
    clock.advance(90_500);
    expect(await view()).toMatchObject({ text: '{"n":1}', ageSeconds: 90 });
    clock.advance(3_600_000 - 90_500);
    expect(await view()).toMatchObject({ text: '{"n":1}', ageSeconds: 3_600 });
    await vi.waitFor(() => expect(outcomes).toHaveLength(3));
    clock.advance(1_000);
    await expect(view()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(log).toEqual(['warn monitoring fails']);
    stub.answerJson({ n: 2 });
    clock.advance(1_000);
    expect(await view()).toMatchObject({ text: '{"n":2}', ageSeconds: 0 });
    expect(log).toEqual(['warn monitoring fails', 'info monitoring answers again']);
    expect(outcomes.map(([ok]) => ok)).toEqual([true, false, false, false, true]);
  });

  it('answers at once from the last good answer when the upstream just failed', async () => {
    const { clock, view, outcomes } = open({ timeoutMs: 60_000 });
    stub.answerJson({ n: 1 });
    await view();
    stub.answerWith(typed('text/plain', 'no', 500));
    clock.advance(1_000);
    await view();
    const asked = new Promise<() => void>((resolve) => {
      stub.answerWith((_request, response) => resolve(() => response.destroy()));
    });
    clock.advance(1_000);
    // It hangs, and would for a minute.
    expect(await view()).toMatchObject({ text: '{"n":1}', ageSeconds: 2 });
    (await asked)();
    await vi.waitFor(() => expect(outcomes).toHaveLength(3));
  });

  it('has one timeout for the whole answer', async () => {
    const { view } = open();
    // It never ends by itself.
    stub.answerWith(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('.'), 20);
      await once(response, 'close');
      clearInterval(timer);
    });
    await expect(view()).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('is refused with credentials in its address, which are not repeated', () => {
    const baseUrl = 'https://ada:hunter2@monitoring.example.com';
    expect(() => open({ baseUrl })).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.not.stringContaining('hunter2'),
      }),
    );
  });
});
