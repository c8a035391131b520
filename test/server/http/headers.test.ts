import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, get, LATEST_VERSION, release } from '../support.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('headers that every answer has', () => {
  const log: string[] = [];
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ log });
    await release(service, '2.0.0', ['windows x64 nsis']);
  });
  afterAll(() => service.close());

  const ADDRESSES = [
    LATEST_VERSION,
    `${DOWNLOAD}/windows`,
    '/livez',
    '/readyz',
    '/nothing',
    '/%zz',
  ];

  it.each(ADDRESSES)('x-request-id on %s: kept when plain, replaced when hostile', async (url) => {
    for (const sane of ['a', 'req-1', '0f.a:B_9', 'x'.repeat(64)]) {
      expect((await get(service, url, { 'x-request-id': sane })).headers['x-request-id']).toBe(
        sane,
      );
    }
    for (const hostile of ['', 'x'.repeat(65), 'a b', '{"a":1}', '<script>', 'ünï', 'a,b']) {
      const answer = await get(service, url, { 'x-request-id': hostile });
      expect(answer.headers['x-request-id']).toMatch(UUID);
    }
    const ids = await Promise.all([get(service, url), get(service, url)]);
    expect(ids[0]?.headers['x-request-id']).not.toBe(ids[1]?.headers['x-request-id']);
  });

  it('the request id is in the problem and in the log', async () => {
    log.length = 0;
    const { body } = await get(service, '/nothing', { 'x-request-id': 'find-me' });
    expect(body.request_id).toBe('find-me');
    const lines = log.map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({ request_id: 'find-me', url: '/nothing', status: 404 }),
    );
  });

  it('a client cannot write long lines into the log', async () => {
    log.length = 0;
    const long = '\u0000\u001f"'.repeat(2_000);
    const url = `/${encodeURIComponent(long)}${'"'.repeat(10_000)}?${'x'.repeat(1_000)}`;
    await get(service, url, {
      'x-request-id': 'x'.repeat(9_000),
      'x-forwarded-for': 'x'.repeat(9_000),
      'user-agent': 'x'.repeat(9_000),
      authorization: `Bearer ${'x'.repeat(9_000)}`,
      host: 'x'.repeat(900),
    });
    await get(service, `${LATEST_VERSION}?channel=${'x'.repeat(9_000)}`);
    expect(log).toHaveLength(2);
    for (const line of log) expect(line.length).toBeLessThan(1_000);
  });

  it.each(ADDRESSES.slice(0, 5))('security headers on %s', async (url) => {
    const { headers } = await get(service, url);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers.server).toBeUndefined();
  });

  it('pages of any origin may read the open routes and their errors, without credentials', async () => {
    for (const url of [LATEST_VERSION, `${LATEST_VERSION}?platform=amiga`, `${DOWNLOAD}/linux`]) {
      const { headers } = await get(service, url, { origin: 'https://example.org' });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers['access-control-expose-headers']).toMatch(/x-request-id/);
    }
    const health = await get(service, '/readyz', { origin: 'https://example.org' });
    expect(health.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('answers the preflight of a check-update with a JSON body', async () => {
    const { statusCode, headers } = await service.app.http.inject({
      method: 'OPTIONS',
      url: CHECK_UPDATE,
      headers: {
        origin: 'https://example.org',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(statusCode).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '86400',
    });
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('an unknown address is answered with a problem document that no cache stores', async () => {
    const { status, headers, body } = await get(service, '/nothing?here=1');
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      type: 'urn:slipway:problem:route_not_found',
      title: 'Not Found',
      status: 404,
      detail: 'There is nothing at this address.',
      code: 'route_not_found',
      request_id: headers['x-request-id'],
    });
  });

  it('addresses in answers come from PUBLIC_URL, never from Host', async () => {
    const { body } = await get(service, LATEST_VERSION, {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
    });
    expect(JSON.stringify(body)).not.toMatch(/evil/);
    const { headers } = await get(service, `${DOWNLOAD}/windows`, { host: 'evil.example' });
    expect(headers.location).not.toMatch(/evil/);
  });
});
