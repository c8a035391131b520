import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/server/deps.ts';
import { collectDocuments } from '../../../src/server/documentation/documents.ts';
import { registerCors } from '../../../src/server/http/cors.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import { catalogComponents, type ObservedCatalog } from '../../../src/server/status/components.ts';
import { createStatus } from '../../../src/server/status/status.ts';
import { STATUS_PATH, statusAnswerSchema } from '../../../src/server/status/status-answer.ts';
import { registerStatus } from '../../../src/server/status/status-route.ts';
import { createFixedClock } from '../../support/clock.ts';

describe('the status page', () => {
  const clock = createFixedClock();
  let health: ObservedCatalog;
  let app: App;
  const status = createStatus({
    clock,
    randomness: { fraction: () => 0.5, id: () => 'unused' },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    components: [
      { kind: 'probed', id: 'object_store', name: 'Object store', outageImpact: 'major' },
      catalogComponents({ health: () => health, clock, staleMaxMs: 3_600_000 }),
    ],
  });
  const observed = (ageMs: number): ObservedCatalog => ({
    ready: ageMs <= 3_600_000,
    problems: [],
    applications: {
      desktop: {
        revision: 4,
        source: 'live',
        confirmedAt: clock.now() - ageMs,
        problems: ageMs > 10_000 ? ['The object store cannot be read (store_unavailable).'] : [],
        storeFailing: ageMs > 10_000,
      },
    },
  });

  beforeAll(async () => {
    app = await buildBase({ logger: pino({ level: 'silent' }), trustProxy: false }, new Registry());
    await registerCors(app, { origins: [], ownOrigin: () => 'http://localhost' });
    await collectDocuments(app, { basePath: '', hasAccounts: true, tags: [] });
    await app.register(async (scope) =>
      registerStatus(scope, { status, clock, publicUrl: () => 'https://updates.example.com' }),
    );
  });
  afterAll(() => app.close());

  const get = async (headers = {}) => {
    const response = await app.inject({ url: STATUS_PATH, headers });
    return { code: response.statusCode, headers: response.headers, body: response.json() };
  };

  it('reports every component, to every origin, cacheable for five seconds', async () => {
    health = observed(2_000);
    const { code, headers, body } = await get({ origin: 'https://www.example.org' });
    expect(code).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=5',
      'access-control-allow-origin': '*',
      'content-type': expect.stringMatching(/^application\/json/),
    });
    expect(statusAnswerSchema.parse(body)).toEqual(body);
    const at = '2026-11-21T09:00:00.000Z';
    expect(body).toEqual({
      page: {
        name: 'Slipway',
        url: 'https://updates.example.com/api/v1/system/status',
        updated_at: at,
      },
      status: { indicator: 'none', description: 'All systems operational' },
      components: [
        {
          id: 'object_store',
          name: 'Object store',
          status: 'operational',
          description: 'Not checked yet.',
          updated_at: at,
          checked_at: null,
        },
        {
          id: 'catalog',
          name: 'Catalog',
          status: 'operational',
          description: 'Updates are answered.',
          updated_at: at,
          checked_at: at,
        },
      ],
    });
  });

  it('is answered 200 also during an outage', async () => {
    // An answer is at most one second old.
    clock.advance(1_000);
    health = observed(600_000);
    status.noteFailure('object_store', 'Does not answer.');
    expect(await get()).toMatchObject({
      code: 200,
      body: {
        status: { indicator: 'major' },
        components: [{ status: 'major_outage' }, { status: 'degraded_performance' }],
      },
    });
    clock.advance(1_000);
    health = observed(3_600_001);
    const down = await get();
    expect(down).toMatchObject({ code: 200, body: { status: { indicator: 'critical' } } });
    expect(statusAnswerSchema.parse(down.body)).toEqual(down.body);
    // Operators find the applications at the port of the metrics.
    expect(JSON.stringify(down.body)).not.toMatch(/desktop|[Rr]evision/);
    status.noteSuccess('object_store');
  });

  it('is rendered once a second for all clients, with an entity tag', async () => {
    clock.advance(1_000);
    health = observed(0);
    const first = await get();
    status.noteFailure('object_store', 'Does not answer.');
    expect((await get()).body).toEqual(first.body);
    const known = { 'if-none-match': String(first.headers.etag) };
    expect((await app.inject({ url: STATUS_PATH, headers: known })).statusCode).toBe(304);
    clock.advance(1_000);
    expect((await get()).body.status.indicator).toBe('major');
    expect((await app.inject({ url: STATUS_PATH, headers: known })).statusCode).toBe(200);
    status.noteSuccess('object_store');
    clock.advance(1_000);
  });

  it('answers HEAD with the same headers and nothing else', async () => {
    health = observed(0);
    const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url: STATUS_PATH });
    expect([statusCode, body]).toEqual([200, '']);
    expect(headers['cache-control']).toBe('public, max-age=5');
    expect(Number(headers['content-length'])).toBeGreaterThan(100);
  });

  it('accepts no other method, and ignores the query', async () => {
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      expect((await app.inject({ method, url: STATUS_PATH })).statusCode).toBe(405);
    }
    const odd = await app.inject({ url: `${STATUS_PATH}?a=1&a=2&__proto__=x` });
    expect(odd.statusCode).toBe(200);
  });

  it('is in the public OpenAPI document', () => {
    const document = app.swagger() as { paths?: Record<string, { get?: { tags?: string[] } }> };
    expect(document.paths?.[STATUS_PATH]?.get).toMatchObject({
      tags: ['status'],
      responses: {
        200: { content: { 'application/json': { schema: { additionalProperties: false } } } },
        503: { content: { 'application/problem+json': {} } },
      },
    });
  });
});
