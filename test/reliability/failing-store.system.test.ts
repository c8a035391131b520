import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { createSeededRandomness } from '../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import { createTestService } from '../support/service.ts';
import { startFaultProxy } from './fault-proxy.ts';

const SEED = 6_022_140;
const RATES = { status503: 0.1, status429: 0.05, reset: 0.15 };

describeS3(
  'a service whose store answers 10 % of calls with 503, 5 % with 429, and resets 15 %',
  (server) => {
    const bucket = useBucket(server);

    it('answers its clients, with few additional store calls', async () => {
      const temporary = await makeTemporaryDirectory();
      const proxy = await startFaultProxy(server.endpoint);
      const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
      const direct = bucket.store();
      let successes = 0;
      const store = bucket.store({ endpoint: proxy.endpoint });
      const parts = {
        store: direct,
        clock: systemClock,
        randomness: createSeededRandomness(SEED),
      };
      await publish(parts, { version: '1.0.0', artifacts: [setup] });
      const service = await createTestService({
        store,
        clock: systemClock,
        env: { CATALOG_POLL_INTERVAL: '1s' },
      });
      try {
        proxy.setPlan(faults());
        proxy.forgetRequests();
        let asked = 0;
        let answered = 0;
        const ask = async (url: string, payload?: object) => {
          const response = await service.app.http.inject({
            method: payload === undefined ? 'GET' : 'POST',
            url,
            ...(payload === undefined ? {} : { payload }),
          });
          asked += 1;
          if (response.statusCode < 400) answered += 1;
        };
        const query = { current_version: '0.0.1', platform: 'windows', arch: 'x64' };
        // Reads as the poller does. The poller's own reads count as calls, but not as successes.
        let failed = 0;
        const read = async () => {
          try {
            await store.get('applications/1.json');
            successes += 1;
          } catch {
            failed += 1;
          }
        };
        for (let round = 1; round <= 50; round++) {
          if (round % 10 === 0) {
            await publish(parts, { version: `1.${round}.0`, artifacts: [setup] });
          }
          await Promise.all([
            ...Array.from({ length: 40 }, () => ask('/api/v1/desktop/check-update', query)),
            ask('/api/v1/desktop/latest-version'),
            ask('/api/v1/desktop/download/windows'),
            ...Array.from({ length: 40 }, read),
          ]);
        }
        const perSuccess = proxy.requests() / successes;
        const share = (100 * answered) / asked;
        console.log(
          `store failing 30 % of calls (seed ${SEED}): ${share.toFixed(2)} % of ${asked} client requests answered, ${perSuccess.toFixed(3)} store calls per success (${successes} successes, ${failed} failures)`,
        );
        expect(share).toBeGreaterThanOrEqual(99.9);
        expect(perSuccess).toBeLessThanOrEqual(1.57);
      } finally {
        await service.close();
        await proxy.close();
        await temporary.remove();
      }
    });
  },
);

function faults() {
  const randomness = createSeededRandomness(SEED);
  return () => {
    const drawn = randomness.fraction();
    const isLate = randomness.fraction() < 0.5;
    if (drawn < RATES.status503) return { status: 503 as const };
    if (drawn < RATES.status503 + RATES.status429) return { status: 429 as const };
    if (drawn < RATES.status503 + RATES.status429 + RATES.reset) {
      return { cut: isLate ? ('after' as const) : ('before' as const) };
    }
    return undefined;
  };
}
