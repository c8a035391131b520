import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childrenOf, childText, parseXml } from '../../../../src/core/xml.ts';
import { get, release, setDisplayName, setStatus } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { page, unescapeHtml } from './page-support.ts';

const BASE = 'https://updates.example.com/slipway';

describe('the releases of an application', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ env: { PUBLIC_URL: BASE, BRAND_NAME: 'Acme & Söhne' } });
    for (let minor = 0; minor < 12; minor++) {
      await release(service, `1.${minor}.0`, ['windows x64 nsis', 'linux x64 deb'], {
        notes: { und: `# Changes\n\nNotes of 1.${minor}: <b> & [x](https://example.com/${minor})` },
      });
    }
    await setStatus(service, 'yank', '1.5.0');
    await setStatus(service, 'pause', '1.4.0');
    await release(service, '2.0.0-beta.1', ['linux x64 deb'], { channel: 'beta' });
  });
  afterAll(() => service.close());

  const versions = (html: string) =>
    [...html.matchAll(/<h2 id="v([^"]*)">/g)].map(([, version]) => version);

  it('are listed in pages, newest first, without those that are yanked or paused', async () => {
    const first = await page(service, '/apps/desktop/releases');
    const numbers = [11, 10, 9, 8, 7, 6, 3, 2, 1, 0];
    expect(versions(first.html)).toEqual(numbers.map((minor) => `1.${minor}.0`));
    await release(service, '1.12.0', ['linux x64 deb']);
    const next = await page(service, '/apps/desktop/releases');
    expect(versions(next.html)).toEqual([12, ...numbers.slice(0, -1)].map((n) => `1.${n}.0`));
    expect(unescapeHtml(next.html)).toContain(
      'href="/slipway/apps/desktop/releases?page=2" rel="next"',
    );
    const last = await page(service, '/apps/desktop/releases?page=2');
    expect(versions(last.html)).toEqual(['1.0.0']);
    expect(last.html).toContain('href="/slipway/apps/desktop/releases" rel="prev"');
    expect(last.html).not.toContain('rel="next"');
    expect(last.html).toContain('Page 2 of 2');
  });

  it.each([
    ['3', 404],
    ['99999', 404],
    ['0', 400],
    ['-1', 400],
    ['x', 400],
    ['100000', 400],
  ])('page %s is answered with %i', async (number, status) => {
    const answer = await page(service, `/apps/desktop/releases?page=${number}`);
    expect(answer.status).toBe(status);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('give their files by links that are pinned to the version', async () => {
    const { html } = await page(service, '/apps/desktop/releases');
    const links = [...html.matchAll(/href="([^"]*download[^"]*)"/g)].map(([, link = '']) =>
      unescapeHtml(link),
    );
    expect(links.length).toBeGreaterThan(15);
    for (const link of links) {
      expect(link).toMatch(/^\/slipway\/.*version=1\.\d+\.0&/);
      expect((await get(service, link)).status, link).toBe(302);
    }
  });

  it('have a page for each channel', async () => {
    const { html } = await page(service, '/apps/desktop/releases?channel=beta');
    expect(versions(html)[0]).toBe('2.0.0-beta.1');
    expect(unescapeHtml(html)).toContain('/slipway/apps/desktop/releases.atom?channel=beta');
  });

  it('are kept by caches, and answered with 304', async () => {
    const { headers } = await page(service, '/apps/desktop/releases');
    expect(headers['cache-control']).toMatch(/^public, max-age=60,/);
    expect(headers.vary).toBeUndefined();
    const again = await get(service, '/apps/desktop/releases', {
      'if-none-match': String(headers.etag),
    });
    expect(again.status).toBe(304);
  });

  it('have the display name in their heading and titles, until it is removed', async () => {
    await setDisplayName(service, 'Notes <b>&');
    const { html } = await page(service, '/apps/desktop/releases?channel=beta');
    expect(html).toContain('<title>Releases of Notes &#60;b&#62;&#38; (beta)</title>');
    expect(html).toContain('<h1>Releases of <bdi>Notes &#60;b&#62;&#38;</bdi></h1>');
    await setDisplayName(service, null);
    const after = await page(service, '/apps/desktop/releases');
    expect(after.html).toContain('<title>Releases of Acme &#38; Söhne</title>');
  });

  describe('as an Atom feed', () => {
    const feed = async (query = '') => {
      const { status, headers, body } = await get(service, `/apps/desktop/releases.atom${query}`);
      expect([status, headers['content-type']]).toEqual([
        200,
        'application/atom+xml; charset=utf-8',
      ]);
      return { text: String(body), root: parseXml(String(body)), headers };
    };

    it('is linked from the pages', async () => {
      for (const url of ['/apps/desktop', '/apps/desktop/releases']) {
        expect((await page(service, url)).html).toContain(
          '<link rel="alternate" type="application/atom+xml" title="Releases" href="/slipway/apps/desktop/releases.atom">',
        );
      }
    });

    it('is well-formed', async () => {
      // The parser has refused other text already, but for two things that it forgives.
      const { text } = await feed();
      expect(text.replace(/&(?:amp|lt|gt|quot|apos);/g, '')).not.toContain('&');
      expect(text).toMatch(/^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]+$/u);
    });

    it('has what RFC 4287 requires of a feed and of each entry', async () => {
      const { root, text } = await feed();
      expect(root.name).toBe('feed');
      expect(root.attributes.xmlns).toBe('http://www.w3.org/2005/Atom');
      const address = `${BASE}/apps/desktop/releases.atom`;
      expect(childText(root, 'id')).toBe(address);
      expect(childText(root, 'title')).toBe('Releases of Acme & Söhne');
      const links = childrenOf(root, 'link').map(({ attributes }) => attributes);
      expect(links).toEqual([
        { rel: 'self', type: 'application/atom+xml', href: address },
        { rel: 'alternate', type: 'text/html', href: `${BASE}/apps/desktop/releases` },
      ]);
      const [author] = childrenOf(root, 'author');
      expect(author && childText(author, 'name')).toBe('Acme & Söhne');
      const entries = childrenOf(root, 'entry');
      expect(entries).toHaveLength(10);
      const times: string[] = [];
      for (const entry of entries) {
        for (const name of ['id', 'title', 'updated', 'published', 'content']) {
          expect(childrenOf(entry, name), name).toHaveLength(1);
        }
        expect(URL.canParse(childText(entry, 'id') ?? '')).toBe(true);
        expect(childrenOf(entry, 'link')[0]?.attributes).toMatchObject({ rel: 'alternate' });
        expect(childrenOf(entry, 'content')[0]?.attributes).toEqual({ type: 'html' });
        times.push(childText(entry, 'updated') ?? '');
        expect(times.at(-1)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
      expect(new Set(entries.map((entry) => childText(entry, 'id'))).size).toBe(10);
      expect(childText(root, 'updated')).toBe(times.sort().at(-1));
      expect(text).not.toMatch(/signature=|<script|<b>/i);
      const [, second] = entries;
      expect(second && childText(second, 'content')).toContain('&lt;b&gt; &amp; <a href="https://');
    });

    it('has the display name in its titles, until it is removed', async () => {
      const titles = async () => {
        const { root, text } = await feed();
        expect(text).not.toContain('<script');
        const [entry] = childrenOf(root, 'entry');
        return [childText(root, 'title'), entry && childText(entry, 'title')];
      };
      await setDisplayName(service, '<script>alert(1)</script> & Notes');
      expect(await titles()).toEqual([
        'Releases of <script>alert(1)</script> & Notes',
        '<script>alert(1)</script> & Notes 1.12.0',
      ]);
      await setDisplayName(service, null);
      expect(await titles()).toEqual(['Releases of Acme & Söhne', 'Acme & Söhne 1.12.0']);
    });

    it('gives a release the same id on every channel and at every time', async () => {
      const idOf = async (query: string, version: string) => {
        const { root } = await feed(query);
        const entry = childrenOf(root, 'entry').find((each) =>
          childText(each, 'title')?.endsWith(` ${version}`),
        );
        return entry && childText(entry, 'id');
      };
      const before = await idOf('', '1.11.0');
      expect(before).toBe(`${BASE}/apps/desktop/releases#v1.11.0`);
      expect(await idOf('?channel=beta', '1.11.0')).toBe(before);
      await release(service, '1.13.0', ['linux x64 deb']);
      expect(await idOf('', '1.11.0')).toBe(before);
    });

    it('is kept by caches, and answered with 304', async () => {
      const { headers } = await feed();
      expect(headers['cache-control']).toMatch(/^public, max-age=60,/);
      const again = await get(service, '/apps/desktop/releases.atom', {
        'if-none-match': String(headers.etag),
      });
      expect(again.status).toBe(304);
    });
  });
});
