import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import type { App } from '../../../src/server/deps.ts';
import { collectDocuments } from '../../../src/server/documentation/documents.ts';
import { registerCors } from '../../../src/server/http/cors.ts';
import { problemSchema } from '../../../src/server/http/error-responses.ts';
import {
  type MonitoringRouteDeps,
  registerMonitoring,
} from '../../../src/server/monitoring/monitoring.ts';
import {
  healthAnswerSchema,
  overviewAnswerSchema,
} from '../../../src/server/monitoring/monitoring-answer.ts';
import { createMonitoringUpstream } from '../../../src/server/monitoring/upstream.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import { catalogComponents } from '../../../src/server/status/components.ts';
import { createStatus } from '../../../src/server/status/status.ts';
import { createWorld, STALE_MAX_MS, type World } from '../../catalog/live/live-catalog.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { exchange } from '../http/raw-client.ts';
import { type MonitoringStub, startMonitoringStub } from './stub.ts';

const HEALTH = '/monitoring/health';
const OVERVIEW = '/monitoring/overview';
const VIEWS = [HEALTH, OVERVIEW];

describe('monitoring', () => {
  let world: World;
  let catalog: Catalog;
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let stub: MonitoringStub;
  const apps: App[] = [];

  beforeEach(async () => {
    world = createWorld();
    directory = await makeTemporaryDirectory();
    stub = await startMonitoringStub();
    const artifacts = [await makeArtifact(directory.path)];
    await publish(world.parts, { version: '1.0.0', artifacts });
    await publish(world.parts, { version: '2.0.0', artifacts, channel: 'insider' });
    catalog = world.open();
    await catalog.start();
  });
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    await Promise.all([catalog.stop(), stub.close()]);
    await directory.remove();
  });

  async function open(deps: Partial<MonitoringRouteDeps> = {}): Promise<App> {
    const { clock } = world;
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const health = () => catalog.health();
    const app = await buildBase(
      { logger: pino({ level: 'silent' }), trustProxy: false },
      new Registry(),
    );
    apps.push(app);
    await registerCors(app, { origins: [], ownOrigin: () => 'http://localhost' });
    await collectDocuments(app, { basePath: '', hasAccounts: true, tags: [] });
    await app.register(async (scope) =>
      registerMonitoring(scope, {
        catalog,
        clock,
        isPublic: (_application, channel) => channel !== 'insider',
        publicUrl: () => 'https://updates.example.com',
        pulse: () => ({ checks_per_minute: 12 }),
        status: createStatus({
          clock,
          randomness: { fraction: () => 0.5, id: () => 'unused' },
          log,
          components: [catalogComponents({ health, clock, staleMaxMs: STALE_MAX_MS })],
        }),
        upstream: undefined,
        ...deps,
      }),
    );
    return app;
  }

  const openProxy = (timeoutMs = 1_000) => {
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const { baseUrl } = stub;
    return open({
      upstream: createMonitoringUpstream({ baseUrl, clock: world.clock, log, timeoutMs }),
    });
  };

  describe('without an upstream', () => {
    it('health reports ok, degraded or down, always with 200 and no-store', async () => {
      const app = await open();
      const read = async () => {
        const response = await app.inject(HEALTH);
        expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-store']);
        return healthAnswerSchema.parse(response.json());
      };
      expect(await read()).toEqual({
        status: 'ok',
        indicator: 'none',
        description: 'All systems operational',
        updated_at: expect.stringMatching(/^2026-11-21T/),
        components: [{ id: 'catalog', status: 'operational' }],
      });
      world.store.goDown();
      await world.clock.advance(60_000);
      expect(await read()).toMatchObject({ status: 'degraded', indicator: 'minor' });
      await world.clock.advance(STALE_MAX_MS);
      expect(await read()).toMatchObject({ status: 'down', indicator: 'critical' });
    });

    it('overview has status, pulse, overview and arsenal', async () => {
      const app = await open();
      const response = await app.inject(OVERVIEW);
      expect(response.statusCode).toBe(200);
      expect(response.headers['cache-control']).toBe('public, max-age=5');
      const body = overviewAnswerSchema.parse(response.json());
      expect(body).toEqual({
        status: expect.objectContaining({
          status: { indicator: 'none', description: 'All systems operational' },
        }),
        pulse: { checks_per_minute: 12 },
        overview: {
          applications: 1,
          applications_unavailable: 0,
          channels: 1,
          releases: 1,
          newest: [
            {
              app: 'desktop',
              channel: 'stable',
              releases: 1,
              newest: { version: '1.0.0', released_at: expect.stringMatching(/^2026/) },
            },
          ],
        },
        arsenal: {
          applications: [
            {
              app: 'desktop',
              available: true,
              catalog_revision: 2,
              channels: ['stable'],
              machines: [{ platform: 'windows', arch: 'x64', formats: ['nsis'] }],
            },
          ],
          dialects: expect.arrayContaining([{ name: 'tauri', title: expect.any(String) }]),
        },
      });
      // A channel that requires a tier.
      expect(response.body).not.toMatch(/insider|2\.0\.0/);
    });

    it('overview lists unavailable applications, and describes the catalog at most once a second', async () => {
      let calls = 0;
      const counted = {
        health: () => {
          calls++;
          return catalog.health();
        },
        application: (name: string) => catalog.application(name),
      };
      const app = await open({ catalog: counted });
      await Promise.all(Array.from({ length: 50 }, () => app.inject(OVERVIEW)));
      expect(calls).toBe(1);
      world.store.goDown();
      await world.clock.advance(STALE_MAX_MS + 60_000);
      const body = overviewAnswerSchema.parse((await app.inject(OVERVIEW)).json());
      expect(body.overview).toMatchObject({ applications: 1, applications_unavailable: 1 });
      expect(body.arsenal.applications).toEqual([
        { app: 'desktop', available: false, catalog_revision: null, channels: [], machines: [] },
      ]);
      expect(body.status.status.indicator).toBe('critical');
    });

    it('sends no store request', async () => {
      const app = await open();
      await catalog.stop();
      world.store.forgetCalls();
      for (const url of VIEWS) await app.inject(url);
      expect(world.store.total()).toBe(0);
    });

    it.each(VIEWS)('HEAD %s has the headers and no body', async (url) => {
      const app = await open();
      const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url });
      expect([statusCode, body]).toEqual([200, '']);
      expect(Number(headers['content-length'])).toBeGreaterThan(50);
      expect(headers['cache-control']).toBeDefined();
    });

    it('is in the public OpenAPI document', async () => {
      const app = await open();
      await app.ready();
      const { paths = {} } = app.swagger() as { paths?: Record<string, unknown> };
      for (const url of VIEWS) {
        expect(paths[url]).toMatchObject({
          get: {
            tags: ['monitoring'],
            responses: {
              200: { content: { 'application/json': {} } },
              502: { content: { 'application/problem+json': {} } },
              503: { content: { 'application/problem+json': {} } },
            },
          },
        });
      }
    });
  });

  describe('with an upstream', () => {
    it.each([
      [HEALTH, 'no-store'],
      [OVERVIEW, 'public, max-age=5'],
    ])('passes %s on, and returns only the body of the answer', async (url, cacheControl) => {
      const app = await openProxy();
      stub.answerWith((_request, response) =>
        response
          .writeHead(200, {
            'content-type': 'application/json; charset=latin1',
            'set-cookie': 'session=1',
            'cache-control': 'public, max-age=31536000',
            'access-control-allow-origin': 'https://evil.example',
            'access-control-allow-credentials': 'true',
            'content-security-policy': 'default-src *',
            'www-authenticate': 'Basic',
            'x-powered-by': 'PHP',
            server: 'nginx',
            age: '77',
            link: '<x>; rel=preload',
          })
          .end('{"up":true}'),
      );
      const { statusCode, headers, body } = await app.inject({
        url,
        headers: { origin: 'https://a.example' },
      });
      expect([statusCode, body]).toEqual([200, '{"up":true}']);
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': cacheControl,
        age: '0',
        'access-control-allow-origin': '*',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
      });
      for (const name of [
        'set-cookie',
        'www-authenticate',
        'x-powered-by',
        'server',
        'link',
        'access-control-allow-credentials',
      ]) {
        expect(headers[name], name).toBeUndefined();
      }
      const head = await app.inject({ method: 'HEAD', url });
      expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', '11']);
    });

    it('does not pass on headers that identify the client', async () => {
      const app = await openProxy();
      stub.answerJson({});
      const { statusCode } = await app.inject({
        url: `${HEALTH}?token=abc&page=2`,
        headers: {
          authorization: 'Bearer secret',
          cookie: 'session=secret',
          'x-forwarded-for': '203.0.113.9',
          forwarded: 'for=203.0.113.9',
          'proxy-authorization': 'Basic secret',
          'x-api-key': 'secret',
          'x-request-id': 'find-me',
          accept: 'image/png',
          'accept-language': 'de',
          referer: 'https://secret.example',
          'user-agent': 'Someone/1.0',
          range: 'bytes=0-0',
          'if-none-match': '*',
          te: 'trailers',
          upgrade: 'h2c',
        },
      });
      expect(statusCode).toBe(200);
      expect(stub.requests).toHaveLength(1);
      expect(stub.requests[0]).toMatchObject({
        method: 'GET',
        url: HEALTH,
        headers: { 'x-request-id': 'find-me', accept: 'application/json, text/plain;q=0.5' },
      });
      const seen = JSON.stringify(stub.requests);
      expect(seen).not.toMatch(/secret|203\.0\.113|abc|Someone|image|trailers|h2c|bytes=|"de"/);
    });

    it('a HEAD sends the same request upstream', async () => {
      const app = await openProxy();
      stub.answerJson({ up: true });
      await app.inject({ method: 'HEAD', url: HEALTH });
      await app.inject(HEALTH);
      expect(stub.requests.map(({ method }) => method)).toEqual(['GET']);
    });

    it('reaches two addresses and no other, in any spelling', async () => {
      const app = await openProxy();
      stub.answerJson({ up: true });
      await app.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.address() as { port: number };
      const targets = [
        '/monitoring',
        '/monitoring/',
        '/monitoring/admin',
        '/monitoring/health/',
        '/monitoring/health/../admin',
        '/monitoring/../admin',
        '/monitoring/%2e%2e/admin',
        '/monitoring/..%2fadmin',
        '/monitoring/health%2f..%2f..%2fadmin',
        '/monitoring/health%00',
        '/monitoring//health',
        '//monitoring/health',
        '/monitoring/HEALTH',
        '/monitoring/health;x=1',
        '/monitoring/health%3fx=1',
        '/monitoring/health\\..\\admin',
        'http://169.254.169.254/latest/meta-data',
        '@evil.example/monitoring/health',
      ];
      for (const target of targets) {
        const answer = await exchange(
          port,
          `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        );
        expect([400, 404], target).toContain(answer?.status);
        expect(problemSchema.safeParse(JSON.parse(answer?.body ?? '')).error).toBeUndefined();
      }
      expect(stub.requests).toEqual([]);
      const same = [
        '/monitoring/health?x=/../admin',
        '/monitoring/%68ealth',
        '/monitoring/health#x',
      ];
      for (const target of same) {
        await exchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      }
      expect(new Set(stub.requests.map(({ url }) => url))).toEqual(new Set([HEALTH]));
      const posted = await app.inject({ method: 'POST', url: HEALTH, payload: {} });
      expect(posted.statusCode).toBe(405);
    });

    it.each<[string, Parameters<MonitoringStub['answerWith']>[0]]>([
      ['hangs', () => undefined],
      ['redirects', (_request, response) => response.writeHead(302, { location: '/admin' }).end()],
      ['fails', (_request, response) => response.writeHead(500).end('stack trace')],
      [
        'answers with a page',
        (_request, response) =>
          response.setHeader('content-type', 'text/html').end('<script>alert(1)</script>'),
      ],
      [
        'never ends',
        (_request, response) => {
          response.setHeader('content-type', 'application/json');
          const write = (): void => {
            while (!response.destroyed && response.write('x'.repeat(65_536)));
          };
          response.on('drain', write);
          write();
        },
      ],
    ])(
      'a problem document when it %s, and the last good answer when there is one',
      async (_case, listener) => {
        const app = await openProxy();
        stub.answerWith(listener);
        const refused = await app.inject(HEALTH);
        expect(refused.statusCode).toBe(502);
        expect(refused.headers).toMatchObject({
          'content-type': expect.stringMatching(/^application\/problem\+json/),
          'cache-control': 'no-store',
          'retry-after': expect.stringMatching(/^\d+$/),
        });
        expect(problemSchema.parse(refused.json())).toMatchObject({ code: 'upstream_unavailable' });
        expect(refused.body).not.toMatch(/127\.0\.0\.1|script|stack/);
        await world.clock.advance(1_000);
        stub.answerJson({ up: true });
        expect((await app.inject(HEALTH)).headers.age).toBe('0');
        stub.answerWith(listener);
        await world.clock.advance(42_000);
        const kept = await app.inject(HEALTH);
        expect([kept.statusCode, kept.body, kept.headers.age]).toEqual([200, '{"up":true}', '42']);
        expect(kept.headers.warning).toBeUndefined();
        expect(stub.requests.map(({ url }) => url)).toEqual([HEALTH, HEALTH, HEALTH]);
      },
    );

    it('a flood of requests causes one upstream request', async () => {
      const app = await openProxy(5_000);
      stub.answerWith((_request, response) =>
        setTimeout(() => response.setHeader('content-type', 'text/plain').end('here'), 50),
      );
      const answers = await Promise.all(
        Array.from({ length: 300 }, () => app.inject({ url: HEALTH, headers: { accept: '*/*' } })),
      );
      expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(
        new Set(['200 here']),
      );
      expect(answers[0]?.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(stub.requests).toHaveLength(1);
    });
  });
});
