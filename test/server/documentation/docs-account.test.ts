import { Script } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT, AUTH, ask, signIn } from '../../features/accounts/routes/account-support.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { get } from '../support.ts';

const PAGE = '/docs/account';
const DOCUMENT = `${PAGE}/json`;

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
    expect(loaded.length).toBeGreaterThan(5);
    for (const path of loaded) expect((await get(service, path)).status, path).toBe(200);
    // It contains the source of a function of this project.
    const initializer = await get(service, `${PAGE}/static/swagger-initializer.js`);
    expect(initializer.body).toContain('authorize');
    expect(() => new Script(String(initializer.body))).not.toThrow();
  });

  it('and the public page link to each other', async () => {
    expect((await get(service, DOCUMENT)).body.info.description).toContain('(/docs)');
    expect((await get(service, '/openapi.json')).body.info.description).toContain(`(${PAGE})`);
  });

  it('is in no document', async () => {
    const { paths } = (await get(service, '/openapi.json')).body;
    expect(Object.keys(paths).filter((path) => path.includes('docs'))).toEqual([]);
  });

  it('shows a visitor only how to sign in, and the holder of an access token the whole account', async () => {
    const before = await ask(service, 'GET', DOCUMENT);
    expect(before.status).toBe(200);
    expect(before.headers['cache-control']).toBe('no-store');
    expect(Object.keys(before.body.paths).length).toBeGreaterThan(3);
    expect(Object.keys(before.body.paths).filter((path) => !path.startsWith(AUTH))).toEqual([]);
    const { access } = await signIn(service);
    const { body, headers } = await ask(service, 'GET', DOCUMENT, { bearer: access });
    expect(headers['cache-control']).toBe('no-store');
    expect(Object.keys(body.paths)).toEqual(expect.arrayContaining([ACCOUNT, `${AUTH}/login`]));
    expect(body.security).toEqual([{ session: [] }]);
    // Signing in needs no token.
    expect(body.paths[`${AUTH}/login`].post.security).toEqual([]);
    expect(body.paths[ACCOUNT].get.security).toBeUndefined();
    const { text } = await ask(service, 'GET', `${PAGE}/yaml`);
    expect(text).toContain(`${AUTH}/login:`);
    expect(text).not.toContain(`${ACCOUNT}:`);
  });

  it('refuses an invalid token instead of ignoring it', async () => {
    for (const format of ['json', 'yaml']) {
      const refused = await ask(service, 'GET', `${PAGE}/${format}`, { bearer: 'invented' });
      expect(refused).toMatchObject({ status: 401, body: { code: 'not_signed_in' } });
      expect(refused.headers['cache-control']).toBe('no-store');
    }
  });

  it('reports when accounts are off, and offers no sign-in', async () => {
    const off = await createTestService({ env: { IDENTITY_PROVIDER: 'off' } });
    const { body } = await get(off, DOCUMENT);
    expect(body.info.description).toContain('has no accounts');
    expect(body.paths).toEqual({});
    expect(body.components?.securitySchemes).toBeUndefined();
    const asked = await ask(off, 'GET', DOCUMENT, { bearer: 'any' });
    expect(asked).toMatchObject({ status: 501, body: { code: 'not_configured' } });
    await off.close();
  });
});
