import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import { CHECK_UPDATE, release } from '../server/support.ts';
import { createHastyClock } from '../support/clock.ts';
import { createFaultyStore } from '../support/faulty-store.ts';
import { createTestService, type TestService } from '../support/service.ts';

/**
 * Public routes answer from memory: a thousand calls make no store request. Nothing runs
 * in the background of this service, so that every request would be a call's own.
 */

const CALLS = 1_000;
/** Over the thousand, what is remembered for seconds is made again many times. */
const STEP_MS = 100;

const clock = createHastyClock();
const store = createFaultyStore(createMemoryStore({ clock }));
let service: TestService;

beforeAll(async () => {
  service = await createTestService({ store, clock });
  await release(service, '1.0.0', ['windows x64 nsis']);
  await release(service, '1.1.0', ['windows x64 nsis']);
});
afterAll(() => service.close());

const check = (version: string) => ({
  method: 'POST',
  url: CHECK_UPDATE,
  payload: { current_version: version, platform: 'windows', arch: 'x64' },
});

const QUESTIONS: readonly (readonly [string, { readonly url: string }, RegExp])[] = [
  ['the status', { url: '/api/v1/system/status' }, /"indicator":"none"/],
  ['live metrics', { url: '/api/v1/metrics/public/live' }, /"checks_per_minute":/],
  ['metrics of one application', { url: '/api/v1/metrics/public/live?app=desktop' }, /"desktop"/],
  ['health', { url: '/monitoring/health' }, /"status":/],
  ['the overview', { url: '/monitoring/overview' }, /"arsenal":/],
  ['a check, with an update', check('1.0.0'), /"version":"1.1.0"/],
  ['a check, without one', check('1.1.0'), /"reason":"up_to_date"/],
  ['a check of a version never published', check('0.0.7'), /"version":"1.1.0"/],
];

describe(`${CALLS} calls cost no store request`, () => {
  it.each(QUESTIONS)('%s', async (_, question, expected) => {
    const ask = async (): Promise<void> => {
      const response = await service.app.http.inject(question);
      expect([response.statusCode, response.body]).toEqual([200, expect.stringMatching(expected)]);
    };
    // The first to need a release waits until it was read.
    await ask();
    store.forgetCalls();
    for (let call = 0; call < CALLS; call++) {
      clock.advance(STEP_MS);
      await ask();
      // Asked without a pause, it would shed what is too much.
      await setImmediate();
    }
    expect(store.counts).toEqual(NONE);
  });

  it('counts the checks among them', () => {
    const days = { from: '2000-01-01', to: '9999-12-31' };
    const rows = service.app.usage.analytics({ application: 'desktop', ...days });
    const sum = rows.reduce((checks, row) => checks + row.checks, 0);
    expect(sum).toBe(3 * (CALLS + 1));
  });

  it('detects store requests', async () => {
    store.forgetCalls();
    await service.refresh();
    expect(store.total()).toBeGreaterThan(0);
  });
});

const NONE = {
  create: 0,
  get: 0,
  read: 0,
  head: 0,
  open: 0,
  list: 0,
  delete: 0,
  upload: 0,
  removeAbandonedUploads: 0,
};
