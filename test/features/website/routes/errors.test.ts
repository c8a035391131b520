import fastify from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../../../../src/core/errors.ts';
import { systemClock } from '../../../../src/core/system.ts';
import { type PageRouteDeps, pageRoutes } from '../../../../src/features/website/routes/routes.ts';
import { acceptPrepared } from '../../../../src/server/http/fast/prepared-answer.ts';
import { compileValidator } from '../../../../src/server/http/validation.ts';
import { UNLIMITED } from '../../../../src/server/limits/load.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import {
  createBreakableStore,
  createSwitchedLoad,
  get,
  release,
  setStatus,
} from '../../../server/support.ts';
import { makeArtifact, publish } from '../../../support/release.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { page } from './page-support.ts';

const PAGES = ['/apps/NAME', '/apps/NAME/releases', '/apps/NAME/releases.atom'];

describe('errors of the pages', () => {
  const load = createSwitchedLoad();
  let service: TestService;

  beforeAll(async () => {
    const tiers = { free: [], pro: ['channel:desktop/insider'] };
    service = await createTestService({ env: { TIERS: JSON.stringify(tiers) }, load });
    await release(service, '1.0.0', ['linux x64 deb']);
    await release(service, '2.0.0', ['linux x64 deb'], { channel: 'insider' });
    await release(service, '1.0.0', ['linux x64 deb'], { channel: 'empty' });
    await setStatus(service, 'yank', '1.0.0', 'empty');
  });
  afterAll(() => service.close());

  it('leads an address with a slash at its end to the page', async () => {
    for (const [from, to] of [
      ['/apps', '/'],
      ['/apps/', '/'],
      ['/apps/desktop/', '/apps/desktop'],
      ['/apps/desktop/releases/?channel=insider', '/apps/desktop/releases?channel=insider'],
      ['/status/', '/status'],
      ['/apps//evil.example/', '/apps//evil.example'],
    ]) {
      const { statusCode, headers } = await service.app.http.inject({ url: String(from) });
      if (statusCode !== 404) expect([statusCode, headers.location], from).toEqual([301, to]);
    }
  });

  it.each(PAGES)('are pages with the status and a sentence: %s', async (path) => {
    for (const [query, status, sentence] of [
      ['NAME', 404, 'There is no such application'],
      ['__proto__', 404, 'There is no such application'],
      ['desktop?channel=nothing', 404, 'There is no such channel'],
      ['desktop?channel=empty', 404, 'Nothing is released here'],
      ['desktop?channel=insider', 403, 'This channel is not public'],
      ['desktop?channel=', 400, 'This page cannot be shown'],
      ['desktop?channel=a&channel=b', 400, 'This page cannot be shown'],
      [`desktop?channel=${'x'.repeat(200)}`, 400, 'This page cannot be shown'],
      ['x'.repeat(200), 400, 'This page cannot be shown'],
    ] as const) {
      const [name = '', search] = query.split('?');
      const url = path.replace('NAME', name) + (search === undefined ? '' : `?${search}`);
      const answer = await page(service, url);
      expect(answer.status, url).toBe(status);
      expect(answer.html).toContain(`<h1>${sentence}</h1>`);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers.etag).toBeUndefined();
    }
  });

  it('show the text of clients as text', async () => {
    const { html } = await page(service, '/apps/desktop/releases?page=%3Cb%3E%22');
    expect(html).not.toContain('<b>');
    const odd = await page(service, `/apps/${encodeURIComponent('<b>"\u202e')}?channel=x`);
    expect(odd.html).not.toMatch(/<b>|\u202e/);
  });

  it('keep a channel for some tiers closed, also to an account that may open it', async () => {
    for (const path of PAGES) {
      const url = `${path.replace('NAME', 'desktop')}?channel=insider`;
      const { status, html } = await page(service, url, 'linux', { authorization: 'Bearer x' });
      expect([status, html.includes('2.0.0')]).toEqual([403, false]);
    }
    expect((await page(service, '/apps/desktop')).html).not.toMatch(/2\.0\.0|insider/);
  });

  it('the first address leads to the application; without a release, its page says so', async () => {
    const root = await get(service, '/');
    expect([root.status, root.headers.location]).toEqual([302, '/apps/desktop']);
    const fresh = await createTestService();
    const answer = await page(fresh, '/apps/desktop');
    expect(answer.status).toBe(404);
    expect(answer.html).toContain('<h1>Nothing is released yet</h1>');
    expect(answer.html).toContain('href="/docs"');
    expect(answer.html).toContain('href="/status"');
    await fresh.close();
  });

  it('an unknown catalog is unavailable, not empty', async () => {
    const cold = await createTestService({ start: false });
    for (const path of PAGES) {
      const answer = await page(cold, path.replace('NAME', 'desktop'));
      expect(answer.status).toBe(503);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.html).toContain('<h1>Not available right now</h1>');
      expect(answer.html).toContain(`<code>${answer.headers['x-request-id']}</code>`);
    }
    await cold.close();
  });

  it('a store that fails is unavailable, and its message stays inside', async () => {
    const broken = createBreakableStore(createMemoryStore({ clock: systemClock }));
    const failing = await createTestService({ store: broken.store });
    const artifact = await makeArtifact(`${failing.directory}/many`);
    for (let patch = 0; patch < 70; patch++) {
      await publish(failing, { version: `1.0.${patch}`, artifacts: [artifact] });
    }
    await failing.refresh();
    const codes: readonly ErrorCode[] = ['store_unavailable', 'store_denied'];
    for (const code of codes) {
      broken.failWith(code);
      // Old releases are read when a visitor needs them.
      const answer = await page(failing, '/apps/desktop/releases?page=7');
      expect(answer.status, code).toBe(503);
      expect(answer.html).not.toMatch(/10\.0\.0\.7|private/);
      broken.failWith(undefined);
    }
    expect((await page(failing, '/apps/desktop/releases?page=7')).status).toBe(200);
    await failing.close();
  });

  it('a page whose style sheet cannot be built says so, without the style', async () => {
    const { defaultApplication } = service.config;
    const unbuilt = async () => {
      throw new AppError('not_configured', 'The pages of this service cannot be built here.');
    };
    const app = fastify().withTypeProvider<ZodTypeProvider>();
    app.setValidatorCompiler(compileValidator);
    acceptPrepared(app, undefined, { isDraining: () => false, dateText: () => undefined });
    const { catalog, status } = service.app;
    const deps = { catalog, status, clock: service.clock, tiers: service.config.accounts.tiers };
    const brand = { name: undefined, color: undefined, logo: undefined };
    const given = {
      ...deps,
      load: UNLIMITED,
      brand,
      basePath: '',
      browserFiles: unbuilt,
      defaultApplication,
    };
    await app.register(pageRoutes(given as unknown as PageRouteDeps));
    const answer = await app.inject('/apps/desktop');
    expect(answer.statusCode).toBe(501);
    expect(answer.body).toContain('<p>The pages of this service cannot be built here.</p>');
    expect(answer.body).not.toContain('stylesheet');
    await app.close();
  });

  it('too much load is a page as well', async () => {
    load.set(true);
    const answer = await page(service, '/apps/desktop');
    load.set(false);
    expect(answer.status).toBe(503);
    expect(answer.html).toContain('<h1>Not available right now</h1>');
  });
});
