import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/server/deps.ts';
import { registerCors } from '../../../src/server/http/cors.ts';
import { shedLoad } from '../../../src/server/limits/load.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import { registerLiveMetrics } from '../../../src/server/usage/live-metrics.ts';
import { liveMetricsAnswerSchema } from '../../../src/server/usage/live-metrics-answer.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { Usage } from '../../../src/usage/usage.ts';
import { createFixedClock, type FixedClock } from '../../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../../support/faulty-store.ts';
import { countChecks, countLinks, createProcess, MINUTE } from '../../usage/support.ts';

import { createSwitchedLoad } from '../support.ts';

const URL = '/api/v1/metrics/public/live';

describe('GET /api/v1/metrics/public/live', () => {
  let app: App;
  let clock: FixedClock;
  let store: FaultyStore;
  let usage: Usage;
  let load: ReturnType<typeof createSwitchedLoad>;

  beforeEach(async () => {
    clock = createFixedClock();
    store = createFaultyStore(createMemoryStore({ clock }));
    usage = createProcess(store, clock, { groupMin: 10 });
    const logger = pino({ level: 'silent' });
    app = await buildBase({ logger, trustProxy: false }, new Registry());
    await registerCors(app, { origins: [], ownOrigin: () => 'http://localhost' });
    load = createSwitchedLoad();
    await app.register(async (scope) => {
      shedLoad(scope, load);
      const catalog = { hasPublic: (name: string) => name === 'desktop' };
      registerLiveMetrics(scope, { usage, clock, catalog });
    });
    await app.ready();
  });
  afterEach(() => app.close());

  const ask = (query = '', headers: Record<string, string> = {}) =>
    app.inject({ url: `${URL}${query}`, headers });

  it('answers metrics from memory, also while the store is down', async () => {
    await usage.refresh();
    for (let minute = 0; minute < 10; minute++) {
      countChecks(usage, 100, { offered: '1.1.0' });
      countChecks(usage, 50, { platform: 'macos', channel: 'beta', version: null });
      clock.advance(MINUTE);
    }
    countLinks(usage, 42);
    store.goDown();
    store.forgetCalls();
    const response = await ask('?app=desktop');
    expect(response.statusCode).toBe(200);
    expect(liveMetricsAnswerSchema.parse(response.json())).toEqual({
      app: 'desktop',
      generated_at: '2026-11-21T09:10:00.000Z',
      counted_since: '2026-11-21T09:00:00.000Z',
      flush_interval_seconds: 60,
      download_links: { today: 40, last_30_days: 40, all_time: 40 },
      checks_per_minute: 150,
      offers_per_minute: 100,
      shares: {
        versions: [
          { version: '1.0.0', share_percent: 67 },
          { version: 'unstated', share_percent: 33 },
        ],
        platforms: [
          { platform: 'windows', share_percent: 67 },
          { platform: 'macos', share_percent: 33 },
        ],
        channels: [
          { channel: 'stable', share_percent: 67 },
          { channel: 'beta', share_percent: 33 },
        ],
      },
    });
    expect(store.total()).toBe(0);
  });

  it('answers for all applications, and when nothing was counted', async () => {
    const answer = liveMetricsAnswerSchema.parse((await ask()).json());
    expect(answer).toMatchObject({
      app: null,
      download_links: { today: 0, last_30_days: 0, all_time: 0 },
      checks_per_minute: 0,
      shares: { versions: [], platforms: [], channels: [] },
    });
  });

  it('may be cached for ten seconds, by every origin', async () => {
    const { headers } = await ask('', { origin: 'https://www.example.com' });
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=10',
      'access-control-allow-origin': '*',
    });
    const again = await ask('', { 'if-none-match': String(headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    countLinks(usage, 100);
    clock.advance(10_000);
    expect((await ask('', { 'if-none-match': String(headers.etag) })).statusCode).toBe(200);
  });

  it.each([
    ['?app=nobody', 404, 'unknown_application'],
    ['?app=', 400, 'invalid_request'],
    [`?app=${'a'.repeat(129)}`, 400, 'invalid_request'],
    ['?app=a&app=b', 400, 'invalid_request'],
  ])('%s is %d %s', async (query, status, code) => {
    const response = await ask(query);
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(response.json()).toMatchObject({ code });
  });

  it('is shed under pressure', async () => {
    load.set(true);
    const response = await ask();
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({ code: 'overloaded' });
    expect(response.headers['retry-after']).toBe('10');
  });
});
