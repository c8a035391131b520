import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { bulkPublish } from '../catalog/bulk-publish.ts';
import { createWorld } from '../catalog/live/live-catalog.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { get } from './support.ts';

const COUNT = 120;
/** With an arsenal of fifty applications. Two thousand in full are 645 kB. */
const BYTES_MAX = 20_000;
const nameOf = (index: number): string => `app-${String(index).padStart(4, '0')}`;
const WORST = [117, 3, 64].map(nameOf);

/** Every visitor can ask for these answers: they must not grow with the number of applications. */
describe('a service with many applications', () => {
  let service: TestService;
  beforeAll(async () => {
    const world = createWorld();
    for (let index = 0; index < COUNT; index++) await bulkPublish(world, 1, nameOf(index));
    const store = createMemoryStore({ clock: systemClock });
    for await (const { key } of world.memory.list('')) {
      const isCorrupt = WORST.some((name) => key.startsWith(`apps/${name}/catalog/`));
      const object = await world.memory.get(key);
      await store.create(
        key,
        isCorrupt ? Buffer.from('corrupt') : (object?.body ?? new Uint8Array()),
      );
    }
    service = await createTestService({ store });
  });
  afterAll(() => service.close());

  it.each([
    '/api/v1/system/status',
    '/monitoring/health',
    '/monitoring/overview',
    '/readyz',
    '/status',
  ])('answers %s in a bounded size', async (url) => {
    const { payload } = await service.app.http.inject({ url });
    expect(payload.length).toBeLessThan(BYTES_MAX);
  });

  it.each(['/api/v1/system/status', '/status'])('names none of them at %s', async (url) => {
    const { payload } = await service.app.http.inject({ url });
    expect(payload).not.toContain('app-0');
    expect(payload).not.toContain(`${COUNT} app`);
    expect(payload).toContain('Updates of some applications cannot be answered.');
  });

  it('lists the worst ten in the readiness: by state, then by name', async () => {
    const listed = [...WORST].sort().concat([0, 1, 2, 4, 5, 6, 7].map(nameOf));
    const readiness = (await get(service, '/readyz')).body;
    expect(readiness.applications).toBe(COUNT);
    expect(Object.keys(readiness.catalogs)).toEqual(listed);
    const { overview, arsenal } = (await get(service, '/monitoring/overview')).body;
    expect(overview).toMatchObject({ applications: COUNT, applications_unavailable: 3 });
    expect([overview.newest.length, arsenal.applications.length]).toEqual([50, 50]);
  });
});
