import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { detailedReadiness } from '../../src/server/health.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createHastyClock } from '../support/clock.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { exchange } from './http/raw-client.ts';
import { check, createBreakableStore, get, LATEST_VERSION, release } from './support.ts';

describe('liveness and readiness', () => {
  const services: TestService[] = [];
  const open = async (options: Parameters<typeof createTestService>[0] = {}) => {
    const service = await createTestService(options);
    services.push(service);
    return service;
  };
  afterEach(() => Promise.all(services.splice(0).map((service) => service.close())));

  it('ready with a live catalog, and reports its revision and age', async () => {
    const service = await open();
    await release(service, '1.0.0', ['windows x64 nsis']);
    const { status, headers, body } = await get(service, '/readyz');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      status: 'ready',
      problems_count: 0,
      applications: 1,
      catalogs: { desktop: { revision: 1, source: 'live', age_seconds: 0, problems_count: 0 } },
    });
  });

  it('counts problems for visitors, and describes them for the operator', async () => {
    const service = await open();
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '2.0.0', ['windows x64 nsis']);
    const manifest = 'apps/desktop/releases/2.0.0/manifest/1.json';
    const corrupt = createMemoryStore({ clock: systemClock });
    for await (const { key } of service.store.list('')) {
      const object = await service.store.get(key);
      const bytes = key === manifest ? Buffer.from('corrupt') : (object?.body ?? Buffer.alloc(0));
      await corrupt.create(key, bytes);
    }
    const other = await open({ store: corrupt });
    const { body } = await get(other, '/readyz');
    expect(body).toMatchObject({ problems_count: 0, catalogs: { desktop: { problems_count: 1 } } });
    expect(JSON.stringify(body)).not.toMatch(/manifest|apps\//);
    const { document } = detailedReadiness({ catalog: other.app.catalog, clock: systemClock });
    expect(document.catalogs.desktop?.problems.join()).toContain('2.0.0 is not offered');
  });

  it('ready, with an empty catalog, before the first publish', async () => {
    const service = await open();
    expect(await get(service, '/readyz')).toMatchObject({ status: 200, body: { catalogs: {} } });
    expect(await check(service, {})).toMatchObject({
      status: 404,
      body: { code: 'unknown_application' },
    });
  });

  it('not ready while nothing could be loaded, but alive', async () => {
    const broken = createBreakableStore(createMemoryStore({ clock: systemClock }));
    broken.failWith('store_unavailable');
    const service = await open({ store: broken.store });
    const { status, headers, body } = await get(service, '/readyz');
    expect(status).toBe(503);
    expect(headers['retry-after']).toMatch(/^\d+$/);
    expect(body).toMatchObject({ status: 'not_ready', catalogs: {} });
    expect(await get(service, '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
    const answer = await check(service, {});
    expect(answer).toMatchObject({ status: 503, body: { code: 'catalog_unavailable' } });
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  });

  it('from a saved catalog when the store is down at the start', async () => {
    const first = await open({ store: 'directory' });
    await release(first, '2.0.0', ['windows x64 nsis']);
    // As its poll would: everything loaded and kept on disk.
    const again = await open({ env: { DATA_DIR: first.config.dataDirectory } });
    await expect.poll(() => isSaved(again)).toBe(true);
    await again.app.catalog.stop();
    const broken = createBreakableStore(again.store);
    broken.failWith('store_unavailable');
    const service = await open({
      env: { DATA_DIR: first.config.dataDirectory },
      store: broken.store,
    });
    const { status, body } = await get(service, '/readyz');
    expect(status).toBe(200);
    expect(body.catalogs.desktop).toMatchObject({ revision: 1, source: 'saved' });
    expect(body.problems_count).toBe(1);
    const { document } = detailedReadiness({ catalog: service.app.catalog, clock: systemClock });
    expect(document.problems.join()).toMatch(/The object store cannot be read/);
    // The links of a directory are the store's own to make, and that is the part that is broken here.
    expect(await check(service, { current_version: '2.0.0' })).toMatchObject({
      status: 200,
      body: { reason: 'up_to_date', latest_version: '2.0.0' },
    });
  });

  it('not ready and without offers once the catalog is too old', async () => {
    const clock = createHastyClock();
    const broken = createBreakableStore(createMemoryStore({ clock }));
    const service = await open({ clock, store: broken.store });
    await release(service, '2.0.0', ['windows x64 nsis']);
    broken.failWith('store_unavailable');
    clock.advance(23 * 3_600_000);
    expect((await check(service, { current_version: '2.0.0' })).status).toBe(200);
    clock.advance(2 * 3_600_000);
    expect(await check(service, {})).toMatchObject({ status: 503 });
    expect(await get(service, LATEST_VERSION)).toMatchObject({ status: 503 });
    expect(await get(service, '/readyz')).toMatchObject({ status: 503 });
    expect(await get(service, '/livez')).toMatchObject({ status: 200 });
  });

  it('answers when no memory is left for clients', async () => {
    const limits = { connectionsMax: 10, heldBytesMax: 0, because: '' };
    const service = await open({ limits });
    const names = Array.from({ length: 12 }, (_, n) => `application-${'x'.repeat(40)}-${n}`);
    for (const application of names) {
      await release(service, '1.0.0', ['windows x64 nsis'], { application });
    }
    const port = Number(new URL(await service.listen()).port);
    const ask = (path: string) =>
      exchange(
        port,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\nConnection: close\r\n\r\n`,
      );
    expect(await ask('/livez')).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(await ask('/readyz')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^{"status":"ready",/),
    });
    expect(await ask('/api/v1/system/request')).toMatchObject({ status: 503 });
  });
});

/** Whether the first revision was kept on disk. */
async function isSaved({ config }: TestService): Promise<boolean> {
  const state = path.join(config.dataDirectory, 'state');
  const files = await readdir(state, { recursive: true }).catch(() => []);
  return files.some((file) => path.basename(file) === '1.catalog');
}
