import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { createCaptcha } from '../../../src/server/captcha/captcha.ts';
import type { CaptchaProvider } from '../../../src/server/captcha/provider.ts';

/** A captcha service on loopback. The test chooses its answer. */
let answer: (response: ServerResponse, request: IncomingMessage) => void;
let forms: URLSearchParams[] = [];
let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    forms.push(new URLSearchParams(await text(request)));
    answer(response, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify`;
});
beforeEach(() => {
  forms = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const json =
  (verdict: object, status = 200) =>
  (response: ServerResponse) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(verdict));

/** Longer than an answer takes on a busy machine. */
const PATIENT_MS = 30_000;

const visitor = { token: 'token-1', remoteAddress: '192.0.2.7' };

describe.each<CaptchaProvider>(['turnstile', 'hcaptcha', 'recaptcha'])('%s', (kind) => {
  const outcomes: [boolean, string][] = [];
  beforeEach(() => {
    outcomes.length = 0;
  });
  const captchaFor = (hostnames: readonly string[] = [], timeoutMs = PATIENT_MS) =>
    createCaptcha(
      { kind, secret: new Secret('our-secret'), verifyUrl: url, hostnames },
      { timeoutMs, onOutcome: (ok, sentence) => void outcomes.push([ok, sentence]) },
    );
  const unavailable = { code: 'captcha_unavailable', kind: 'unavailable', retryAfterSeconds: 15 };

  it('sends secret, response and remoteip, and accepts a solved captcha', async () => {
    answer = json({ success: true, hostname: 'www.example.com', challenge_ts: '2026-11-21' });
    const captcha = captchaFor(['www.example.com']);
    expect(captcha).toMatchObject({ required: true, configured: true });
    await captcha.verify(visitor);
    expect(forms.map((form) => Object.fromEntries(form))).toEqual([
      { secret: 'our-secret', response: 'token-1', remoteip: '192.0.2.7' },
    ]);
    expect(outcomes).toEqual([[true, `${kind} answers.`]]);
  });

  it.each([
    ['invalid-input-response'],
    ['missing-input-response'],
    ['timeout-or-duplicate'],
    ['already-seen-response'],
    ['bad-request'],
    ['sitekey-secret-mismatch'],
  ])('refuses the token when the service answers %s', async (code) => {
    for (const status of [200, 400]) {
      answer = json({ success: false, 'error-codes': [code] }, status);
      await expect(captchaFor().verify(visitor)).rejects.toMatchObject({ code: 'captcha_refused' });
    }
    // The service works.
    expect(outcomes.every(([ok]) => ok)).toBe(true);
  });

  it('refuses a token from another website, or without a host name', async () => {
    for (const hostname of ['evil.example', '', null, undefined, 'www.example.com.evil.example']) {
      answer = json({ success: true, hostname });
      await expect(captchaFor(['www.example.com']).verify(visitor)).rejects.toMatchObject({
        code: 'captcha_refused',
      });
    }
    answer = json({ success: true, hostname: 'anywhere.example' });
    await captchaFor([]).verify(visitor);
  });

  it('refuses a missing token without asking the service', async () => {
    for (const token of [undefined, '']) {
      await expect(captchaFor().verify({ ...visitor, token })).rejects.toMatchObject({
        code: 'captcha_refused',
      });
    }
    expect(forms).toEqual([]);
  });

  it.each(['invalid-input-secret', 'missing-input-secret', 'internal-error'])(
    'is unavailable when the service answers %s, which no visitor can cause',
    async (code) => {
      answer = json({ success: false, 'error-codes': [code] });
      const error = await captchaFor()
        .verify(visitor)
        .catch((caught: Error) => caught);
      expect(error).toMatchObject(unavailable);
      expect((error as Error).message).not.toContain(code);
      expect(outcomes).toEqual([[false, expect.stringContaining(code)]]);
    },
  );

  it.each<[string, (response: ServerResponse) => void]>([
    ['500', json({ success: true }, 500)],
    ['429', json({ success: true }, 429)],
    ['an HTML page', (response) => void response.end('<html>maintenance</html>')],
    ['nothing', (response) => void response.end()],
    ['another shape', json({ success: 'true' })],
    ['a list', json([])],
    [
      'too many bytes',
      (response) => void response.end(`{"success":true,"x":"${'x'.repeat(20_000)}"}`),
    ],
    ['a broken connection', (response) => void response.destroy()],
    [
      'a redirect',
      (response) => void response.writeHead(307, { location: `${url}/elsewhere` }).end(),
    ],
  ])('is unavailable when the service answers with %s', async (_what, behavior) => {
    answer = behavior;
    await expect(captchaFor().verify(visitor)).rejects.toMatchObject(unavailable);
    expect(forms).toHaveLength(1);
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]?.[0]).toBe(false);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['silence', () => {}],
    ['half an answer', (response) => void response.writeHead(200).write('{"success":')],
  ])(
    'is unavailable after the time-out when the service answers with %s',
    async (_what, behavior) => {
      answer = behavior;
      await expect(captchaFor([], 300).verify(visitor)).rejects.toMatchObject(unavailable);
      expect(outcomes).toEqual([[false, expect.any(String)]]);
    },
  );

  it('logs the beginning and the end of an outage once each', async () => {
    const lines: string[] = [];
    const log = {
      info: (_facts: object, line: string) => void lines.push(line),
      warn: () => {},
      error: (facts: object, line: string) => void lines.push(JSON.stringify(facts) + line),
    };
    const captcha = createCaptcha(
      { kind, secret: new Secret('our-secret'), verifyUrl: url, hostnames: [] },
      { log, timeoutMs: PATIENT_MS },
    );
    for (const status of [503, 503, 200, 200]) {
      answer = json({ success: true }, status);
      await captcha.verify(visitor).catch(() => {});
    }
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain('our-secret');
  });
});

it('every visitor passes when no captcha is required, and no visitor when a required one is not configured', async () => {
  const none = createCaptcha({ kind: 'none' });
  expect(none).toMatchObject({ required: false, configured: true });
  await none.verify({ token: undefined, remoteAddress: '192.0.2.7' });
  const missing = createCaptcha({ kind: 'missing' });
  expect(missing.configured).toBe(false);
  await expect(missing.verify(visitor)).rejects.toMatchObject({ code: 'not_configured' });
});
