import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE, check, DOWNLOAD, get, LATEST_VERSION, release } from '../support.ts';

describe('the real event loop', () => {
  it('sheds load on the open routes when the event loop is late, and stays alive', async () => {
    const service = await createTestService({ load: 'measured' });
    await release(service, '2.0.0', ['windows x64 nsis']);
    const urls = [LATEST_VERSION, `${DOWNLOAD}/windows`, '/feeds/desktop/stable/tauri/x'];
    await overload(service);
    const [shed, ...answers] = await Promise.all([
      service.app.http.inject({ method: 'POST', url: CHECK_UPDATE, payload: {} }),
      ...urls.map((url) => get(service, url)),
    ]);
    for (const { status, headers, body } of answers) {
      expect([status, body.code]).toEqual([503, 'overloaded']);
      expect(headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(headers['retry-after']).toMatch(/^\d+$/);
    }
    expect(shed.statusCode).toBe(503);
    expect(await get(service, '/livez')).toMatchObject({ status: 200 });
    expect(await get(service, '/readyz')).toMatchObject({ status: 200 });
    const metrics = await service.app.metrics.metrics();
    expect(metrics).toMatch(
      /^slipway_http_request_duration_seconds_count\{route="\/api\/v1\/desktop\/check-update",method="POST",status="503"\} [1-9]\d*$/m,
    );
    await expect.poll(() => check(service, {}), { timeout: 5_000 }).toMatchObject({ status: 200 });
    await service.close();
  });
});

/**
 * Keeps the event loop busy for longer than the service measures its delay, until the service refuses requests. It
 * does so until the next measurement, a second later.
 */
async function overload({ app }: Pick<TestService, 'app'>): Promise<void> {
  for (let turn = 0; turn < 6; turn++) {
    const until = performance.now() + 1_050;
    while (performance.now() < until);
    await setImmediate();
    const { statusCode } = await app.http.inject(LATEST_VERSION);
    if (statusCode === 503) return;
  }
  throw new Error('The service does not refuse requests, however late its event loop is.');
}
