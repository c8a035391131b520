import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../../../src/core/errors.ts';
import { listMessages } from '../../../src/features/contact/inspect.ts';
import { createIntake } from '../../../src/features/contact/intake.ts';
import { contactAnswerSchema, registerContact } from '../../../src/features/contact/route.ts';
import type { Captcha } from '../../../src/server/captcha/captcha.ts';
import type { App } from '../../../src/server/deps.ts';
import { problemSchema } from '../../../src/server/http/error-responses.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';

const CONTACT = '/api/v1/contact';
const GOOD = {
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  subject: 'The engine',
  message: 'It weaves algebraic patterns.',
  captcha_token: 'good',
};

const apps: App[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

async function open({ configured = true, perMinute = 1_000 } = {}) {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  const visitors: { token: string | undefined; remoteAddress: string }[] = [];
  const captcha: Captcha = {
    required: true,
    configured,
    probe: async () => {},
    verify: async (visitor) => {
      visitors.push(visitor);
      if (visitor.token === 'good') return;
      const isOut = visitor.token === 'outage';
      throw new AppError(isOut ? 'captcha_unavailable' : 'captcha_refused', 'No.', {
        ...(isOut ? { retryAfterSeconds: 15 } : {}),
      });
    },
  };
  const { submit } = createIntake({ store, clock, randomness: createSeededRandomness(3), captcha });
  const addresses: string[] = [];
  const addressLimit = {
    consume: async (address: string) => {
      addresses.push(address);
      if (addresses.length > perMinute) {
        throw new AppError('too_many_requests', 'Too many.', { retryAfterSeconds: 42 });
      }
    },
  };
  const app = await buildBase(
    { logger: pino({ level: 'silent' }), trustProxy: false },
    new Registry(),
  );
  registerContact(app, { submit, captcha, addressLimit });
  await app.ready();
  apps.push(app);
  const post = async (payload: unknown, headers: Record<string, string> = {}) => {
    const response = await app.inject({
      method: 'POST',
      url: CONTACT,
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    });
    return { status: response.statusCode, headers: response.headers, body: response.json() };
  };
  const stored = () => listMessages(store, { state: undefined, limit: 100, hasMail: true });
  return { app, store, visitors, addresses, post, stored };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function expectProblem(
  answer: ReturnType<Opened['post']>,
  status: number,
  code: ErrorCode,
): Promise<Awaited<ReturnType<Opened['post']>>> {
  const answered = await answer;
  expect([answered.status, answered.body.code]).toEqual([status, code]);
  problemSchema.parse(answered.body);
  expect(answered.headers['cache-control']).toBe('no-store');
  const hasRetryAfter = answered.headers['retry-after'] !== undefined;
  expect(hasRetryAfter).toBe(status === 503 || status === 429);
  return answered;
}

describe('POST /api/v1/contact', () => {
  it('answers 202 once the message is stored', async () => {
    const { post, stored, visitors, addresses } = await open();
    const { status, headers, body } = await post({ ...GOOD, name: '  Ada Lovelace\t', extra: 1 });
    expect(status).toBe(202);
    expect(headers['cache-control']).toBe('no-store');
    expect(contactAnswerSchema.parse(body)).toEqual({ id: body.id, status: 'accepted' });
    expect(await stored()).toMatchObject([
      { id: body.id, name: 'Ada Lovelace', email: GOOD.email, message: GOOD.message },
    ]);
    expect(visitors).toEqual([{ token: 'good', remoteAddress: '127.0.0.1' }]);
    expect(addresses).toEqual(['127.0.0.1']);
  });

  it('accepts fields of the maximum length, and line breaks and tabs in the text', async () => {
    const { post, stored } = await open();
    const longest = {
      ...GOOD,
      name: 'n'.repeat(100),
      email: `${'e'.repeat(60)}@${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.org`,
      subject: 'ß'.repeat(150),
      message: `${'界'.repeat(4_994)}\r\n\tend`,
    };
    expect((await post(longest)).status).toBe(202);
    const { captcha_token: _token, ...kept } = longest;
    expect(await stored()).toMatchObject([kept]);
  });

  it.each<[string, string, unknown]>([
    ['/name', 'name', ''],
    ['/name', 'name', ' \n '],
    ['/name', 'name', 'n'.repeat(101)],
    ['/name', 'name', 'Ada\r\nBcc: x@example.net'],
    ['/name', 'name', 'Ada\u2028Bcc'],
    ['/name', 'name', 7],
    ['/name', 'name', undefined],
    ['/email', 'email', 'ada'],
    ['/email', 'email', 'a@example.org,b@example.org'],
    ['/email', 'email', 'Ada <ada@example.org>'],
    ['/email', 'email', 'ada@example.org\nBcc: x@example.net'],
    ['/email', 'email', `${'e'.repeat(250)}@example.org`],
    ['/subject', 'subject', 's'.repeat(151)],
    ['/subject', 'subject', 'a\0b'],
    ['/subject', 'subject', 'half \ud83d of a character'],
    ['/message', 'message', 'm'.repeat(5_001)],
    ['/message', 'message', 'bell \u0007'],
    ['/message', 'message', 'escape \u001b[2J'],
    ['/message', 'message', 'half \ud83d of a character'],
    ['/message', 'message', ['a']],
    ['/captcha_token', 'captcha_token', 'c'.repeat(8_193)],
    ['/website', 'website', {}],
  ])('answers 400 with a pointer to %s', async (pointer, field, value) => {
    const { post, stored, visitors } = await open();
    const { body } = await expectProblem(post({ ...GOOD, [field]: value }), 400, 'invalid_request');
    expect(body.errors[0].pointer).toBe(pointer);
    expect([await stored(), visitors]).toEqual([[], []]);
  });

  it('answers a filled honeypot with the same 202, stores nothing and asks for no captcha', async () => {
    const { post, stored, visitors } = await open();
    const { status, body } = await post({ ...GOOD, website: 'http://spam.example' });
    expect(status).toBe(202);
    contactAnswerSchema.parse(body);
    expect([await stored(), visitors]).toEqual([[], []]);
    expect((await post({ ...GOOD, website: '' })).status).toBe(202);
    expect(await stored()).toHaveLength(1);
  });

  it('checks the Idempotency-Key: the same one, another one, malformed ones', async () => {
    const { post, stored, visitors } = await open();
    const key = { 'idempotency-key': '0b7e6f0a-6b0d-4c0e-9d5e-1f2a3b4c5d6e' };
    const first = await post(GOOD, key);
    expect(await post({ ...GOOD, captcha_token: 'used up' }, key)).toMatchObject({
      status: 202,
      body: first.body,
    });
    expect(visitors).toHaveLength(1);
    await expectProblem(post({ ...GOOD, subject: 'Other' }, key), 409, 'idempotency_key_reused');
    for (const bad of ['', 'with space', 'k'.repeat(129), 'ü', 'a, b']) {
      const { body } = await expectProblem(
        post(GOOD, { 'idempotency-key': bad }),
        400,
        'invalid_request',
      );
      expect(body.errors[0].pointer).toBe('/idempotency-key');
    }
    expect((await post(GOOD, { 'idempotency-key': `!${'~'.repeat(127)}` })).status).toBe(202);
    expect(await stored()).toHaveLength(2);
  });

  it('stores one message for 20 requests at once with one key', async () => {
    const { post, stored } = await open();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(GOOD, { 'idempotency-key': 'once' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await stored()).toHaveLength(1);
  });

  it('refuses bodies that are not JSON, too large or of another media type', async () => {
    const { post } = await open();
    await expectProblem(post('{"name":'), 400, 'malformed_json');
    await expectProblem(post(''), 400, 'malformed_json');
    await expectProblem(post('[]'), 400, 'invalid_request');
    await expectProblem(post({ ...GOOD, padding: 'x'.repeat(33_000) }), 413, 'body_too_large');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await expectProblem(post('name=Ada', form), 415, 'unsupported_media_type');
  });

  it('answers 403 when the captcha is refused, and 503 when the service is unavailable', async () => {
    const { post, stored } = await open();
    await expectProblem(post({ ...GOOD, captcha_token: 'bad' }), 403, 'captcha_refused');
    const { captcha_token: _token, ...without } = GOOD;
    await expectProblem(post(without), 403, 'captcha_refused');
    const outage = post({ ...GOOD, captcha_token: 'outage' });
    expect((await expectProblem(outage, 503, 'captcha_unavailable')).headers['retry-after']).toBe(
      '15',
    );
    expect(await stored()).toEqual([]);
  });

  it('answers 429 after too many requests from one address', async () => {
    const { post, stored } = await open({ perMinute: 1 });
    expect((await post(GOOD)).status).toBe(202);
    const { headers } = await expectProblem(post(GOOD), 429, 'too_many_requests');
    expect(headers['retry-after']).toBe('42');
    // The limit counts requests with a filled honeypot too.
    await expectProblem(post({ ...GOOD, website: 'x' }), 429, 'too_many_requests');
    expect(await stored()).toHaveLength(1);
  });

  it('answers 501 when a captcha is required and not configured', async () => {
    const { post, stored } = await open({ configured: false });
    const { body } = await expectProblem(post(GOOD), 501, 'not_configured');
    expect(body.detail).toMatch(/no captcha is configured/);
    expect(await stored()).toEqual([]);
  });

  it('does not accept a message when the store fails', async () => {
    const { post, store } = await open();
    const key = { 'idempotency-key': 'k1' };
    store.goDown();
    const unknown = await expectProblem(post(GOOD), 503, 'outcome_unknown');
    expect(unknown.body.detail).toMatch(/Send it again/);
    await expectProblem(post(GOOD, key), 503, 'store_unavailable');
    store.comeUp();
    for (const code of ['store_denied', 'store_full'] as const) {
      store.setPlan(() => ({ when: 'before', code }));
      const { body } = await expectProblem(post(GOOD), 503, code);
      expect(body.detail).not.toMatch(/contact\//);
    }
    store.setPlan(undefined);
    const { body } = await post(GOOD, key);
    await store.delete(`contact/${body.id}/1.json`);
    await store.create(`contact/${body.id}/1.json`, Buffer.from('corrupt'));
    await expectProblem(post(GOOD, key), 503, 'document_corrupt');
  });
});
