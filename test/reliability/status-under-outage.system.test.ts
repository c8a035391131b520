import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { get, release } from '../server/support.ts';
import { createFaultyStore } from '../support/faulty-store.ts';
import { createTestService, type TestService } from '../support/service.ts';

it('reports an outage of the private bucket, while the bucket of the releases works', async () => {
  const service = await createTestService({
    store: createMemoryStore({ clock: systemClock }),
    clock: systemClock,
    env: {
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_PRIVATE_BUCKET: 'private',
      S3_ENDPOINT: 'http://127.0.0.1:9',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_SECRET: 'secret',
      CAPTCHA_VERIFY_URL: 'http://127.0.0.1:9/siteverify',
      MONITORING_UPSTREAM: 'http://127.0.0.1:9',
    },
  });
  service.app.status.start();
  const states = () =>
    Object.fromEntries(
      service.app.status.report().components.map(({ id, status }) => [id, status]),
    );
  await expect.poll(states, { timeout: 20_000 }).toMatchObject({
    object_store: 'operational',
    private_store: 'major_outage',
    identity_provider: 'major_outage',
    captcha: 'major_outage',
    monitoring: 'major_outage',
  });
  await service.app.status.stop();
  await service.close();
}, 40_000);

describe('status while the store is down', () => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({
      store,
      clock: systemClock,
      env: { CATALOG_POLL_INTERVAL: '1s' },
    });
    await release(service, '1.0.0', ['windows x64 nsis']);
    service.app.status.start();
  });
  afterAll(async () => {
    await service.app.status.stop();
    await service.close();
  });

  const status = async () => {
    const { status: code, body } = await get(service, '/api/v1/system/status');
    expect(code).toBe(200);
    return body;
  };
  const componentOf = (
    page: { components: { id: string; status: string }[] },
    id: string,
  ): string | undefined => page.components.find((component) => component.id === id)?.status;

  it('reports every component as operational at first', async () => {
    await expect.poll(async () => (await status()).status.indicator).toBe('none');
    const page = await status();
    expect(page.components.map(({ id }: { id: string }) => id)).toEqual([
      'object_store',
      'catalog',
      'identity_provider',
    ]);
  });

  it('reports the outage within seconds, and so does the health check', async () => {
    // A first probe during the outage would report it until the next probe, 30 s later.
    const isChecked = () =>
      service.app.status.report().components.every(({ checkedAt }) => checkedAt !== null);
    await expect.poll(isChecked).toBe(true);
    store.goDown();
    await expect
      .poll(async () => componentOf(await status(), 'catalog'), { timeout: 10_000 })
      .toBe('degraded_performance');
    expect((await get(service, '/monitoring/health')).body.status).toBe('degraded');
    // The status must not reveal the store's address or its keys.
    expect(JSON.stringify(await status())).not.toMatch(/memory:|applications\/|catalog\/0|desktop/);
    store.comeUp();
    await expect
      .poll(async () => (await status()).status.indicator, { timeout: 40_000, interval: 500 })
      .toBe('none');
  }, 60_000);
});
