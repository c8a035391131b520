import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { get } from '../support.ts';

const PAGE = '/docs/account';

describe('the page of the signed-in document', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService();
  });
  afterAll(() => service.close());

  it('loads everything from here, under the policy of /docs, and is kept by no cache', async () => {
    const page = await get(service, PAGE);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['cache-control']).toBe('no-store');
    const rules = (text: unknown) => `${text}`.split(/;\s*/).filter((rule) => rule !== '');
    const policy = rules(page.headers['content-security-policy']);
    expect(policy).toEqual(rules((await get(service, '/docs')).headers['content-security-policy']));
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("form-action 'none'");
    expect(policy.join()).not.toMatch(/unsafe|\*|https?:/);
    const html = String(page.body);
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:\/\//);
    const loaded = [...html.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)].map(
      ([, address]) => new URL(String(address), `http://x${PAGE}`).pathname,
    );
    expect(loaded).toContain('/docs/account.js');
    for (const path of loaded) expect((await get(service, path)).status, path).toBe(200);
  });

  it('and the public page lead to each other', async () => {
    expect(String((await get(service, PAGE)).body)).toContain('href="../docs"');
    expect((await get(service, '/openapi.json')).body.info.description).toContain(`(${PAGE})`);
    expect(String((await get(service, '/docs')).body)).toContain('/docs/static/theme/slipway.js');
  });

  it('is in no document', async () => {
    const { paths } = (await get(service, '/openapi.json')).body;
    expect(Object.keys(paths).filter((path) => path.includes('docs'))).toEqual([]);
  });

  it('says so where there are no accounts, and asks nobody for a password', async () => {
    const off = await createTestService({ env: { IDENTITY_PROVIDER: 'off' } });
    const html = String((await get(off, PAGE)).body);
    expect(html).toContain('There are no accounts here');
    expect(html).not.toMatch(/<form|<input|account\.js/);
    await off.close();
  });
});
