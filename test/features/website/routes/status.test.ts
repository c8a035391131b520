import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { page } from './page-support.ts';

describe('GET /status', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ env: { PUBLIC_URL: 'https://example.com/updates' } });
  });
  afterAll(() => service.close());

  it('shows what the JSON states: indicator, components, last change', async () => {
    const { html, headers, status } = await page(service, '/status');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=5');
    const json = /href="\/updates(\/api\/v1\/system\/status)"/.exec(html)?.[1] ?? '';
    const { body } = await get(service, json);
    expect(html).toContain(`</span>${body.status.description}</p>`);
    expect(body.components.length).toBeGreaterThan(2);
    for (const { name, status: state, updated_at } of body.components) {
      expect(html).toContain(`<h3><bdi>${name}</bdi></h3>`);
      expect(html).toContain(`class="state ${state}"`);
      expect(html).toContain(`datetime="${updated_at}"`);
    }
  });

  it('shows that a component is out', async () => {
    const { components, ...report } = service.app.status.report();
    const [first, ...others] = components;
    if (first === undefined) throw new Error('There are no components.');
    const { report: original } = service.app.status;
    Object.assign(service.app.status, {
      report: () => ({
        ...report,
        indicator: 'major',
        description: 'Parts are out',
        components: [{ ...first, status: 'major_outage', checkedAt: null }, ...others],
      }),
    });
    // An answer is at most one second old.
    await service.clock.sleep(1_500);
    const { html } = await page(service, '/status');
    expect(html).toContain('class="indicator major"');
    expect(html).toMatch(/class="state major_outage"><[^>]*><\/span>Outage</);
    expect(html).toContain('Not checked yet');
    Object.assign(service.app.status, { report: original });
  });

  it('is answered with 304 while nothing has changed', async () => {
    const { headers } = await page(service, '/status');
    const again = await get(service, '/status', { 'if-none-match': String(headers.etag) });
    expect(again.status).toBe(304);
  });
});
