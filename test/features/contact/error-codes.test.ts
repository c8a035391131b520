import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/system.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createErrorLedger, get } from '../../server/support.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** As `test/server/error-codes.test.ts`, for the contact form. */

const CONTACT = 'POST /api/v1/contact';
const MESSAGE = { name: 'Ada', email: 'ada@example.org', subject: 'Hi', message: 'Hello' };

const ledger = createErrorLedger();

describe('error codes of contact', () => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  const services: TestService[] = [];
  let service: TestService;
  // Stands for the captcha's service: the token says what it answers.
  const captcha = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const token = new URLSearchParams(body).get('response');
      if (token === 'outage') response.writeHead(500).end();
      else response.end(JSON.stringify({ success: token === 'good' }));
    });
  });

  const open = async (options: Parameters<typeof createTestService>[0] = {}) => {
    const opened = await createTestService(options);
    services.push(opened);
    return opened;
  };
  const post = (
    status: number,
    code: ErrorCode,
    request: Record<string, unknown>,
    from: TestService = service,
  ) => ledger.produce(from, CONTACT, status, code, request);

  beforeAll(async () => {
    captcha.listen(0, '127.0.0.1');
    await once(captcha, 'listening');
    const { port } = captcha.address() as AddressInfo;
    service = await open({
      store,
      env: {
        CAPTCHA_PROVIDER: 'turnstile',
        CAPTCHA_SECRET: 'secret',
        CAPTCHA_VERIFY_URL: `http://127.0.0.1:${port}`,
        CONTACT_PER_ADDRESS: '1000',
      },
    });
  });
  afterAll(async () => {
    await Promise.all(services.map((one) => one.close()));
    captcha.close();
  });

  it('contact', async () => {
    const json = { 'content-type': 'application/json' };
    const good = { ...MESSAGE, captcha_token: 'good' };
    await post(400, 'invalid_request', { payload: { ...good, email: 'ada' } });
    await post(400, 'malformed_json', { payload: '{', headers: json });
    await post(413, 'body_too_large', { payload: { ...good, padding: 'x'.repeat(33_000) } });
    await post(415, 'unsupported_media_type', {
      payload: 'a=b',
      headers: { 'content-type': 'text/csv' },
    });
    await post(403, 'captcha_refused', { payload: { ...good, captcha_token: 'bad' } });
    await post(503, 'captcha_unavailable', { payload: { ...good, captcha_token: 'outage' } });
    const headers = { 'idempotency-key': 'once' };
    const { statusCode, body } = await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/contact',
      headers,
      payload: good,
    });
    if (statusCode !== 202) throw new Error(body);
    await post(409, 'idempotency_key_reused', { payload: { ...good, subject: 'Other' }, headers });
    const { id } = JSON.parse(body) as { id: string };
    await store.delete(`contact/${id}/1.json`);
    await store.create(`contact/${id}/1.json`, Buffer.from('corrupt'));
    await post(503, 'document_corrupt', { payload: good, headers });
    const settings = { CONTACT_PER_ADDRESS: '1' };
    const strict = await open({ env: settings });
    await get(strict, '/livez');
    await strict.app.http.inject({ method: 'POST', url: '/api/v1/contact', payload: MESSAGE });
    await post(429, 'too_many_requests', { payload: MESSAGE }, strict);
    const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://updates.example.com' };
    await post(501, 'not_configured', { payload: MESSAGE }, await open({ env: production }));
  });

  it('contact, and failures of the store', async () => {
    const payload = { ...MESSAGE, captcha_token: 'good' };
    const headers = { 'idempotency-key': 'another' };
    for (const code of ['store_denied', 'store_full', 'store_nonconforming'] as const) {
      store.setPlan(({ method }) =>
        method === 'create' ? { when: 'before', code, reason: 'private' } : undefined,
      );
      await post(503, code, { payload });
    }
    store.setPlan(({ method }) =>
      method === 'create' ? { when: 'after', reason: 'private' } : undefined,
    );
    await post(503, 'outcome_unknown', { payload });
    store.setPlan(() => ({ when: 'before', reason: 'private' }));
    await post(503, 'store_unavailable', { payload, headers });
    store.setPlan(undefined);
  }, 30_000);

  it('are exactly those that the document lists', async () => {
    const { body } = await get(service, '/openapi.json');
    ledger.expectDocumented(body, ['contact']);
  });
});
