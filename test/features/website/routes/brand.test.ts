import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeCatalog } from '../../../../src/catalog/writing/change.ts';
import { get, release, setDisplayName } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { page } from './page-support.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

describe('the brand of the pages', () => {
  let directory: string;
  let service: TestService;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'slipway-brand-'));
    await writeFile(path.join(directory, 'logo.svg'), SVG);
    service = await createTestService({
      env: {
        PUBLIC_URL: 'https://example.com/updates/',
        BRAND_NAME: 'Acme <Notes>',
        BRAND_COLOR: '#FFCC00',
        BRAND_LOGO: path.join(directory, 'logo.svg'),
      },
    });
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '1.0.0', ['windows x64 nsis'], { application: 'editor' });
  });
  afterAll(async () => {
    await service.close();
    await rm(directory, { recursive: true });
  });

  it('names the pages of the default application, and stands above those of others', async () => {
    const { html } = await page(service, '/apps/desktop');
    expect(html).toContain('<title>Download Acme &#60;Notes&#62;</title>');
    expect(html).toContain('<h1>Download <bdi>Acme &#60;Notes&#62;</bdi></h1>');
    const other = await page(service, '/apps/editor');
    expect(other.html).toContain('<h1>Download <bdi>editor</bdi></h1>');
    expect(other.html).toContain('<bdi>Acme &#60;Notes&#62;</bdi></a>');
    expect((await page(service, '/status')).html).toContain('<title>Status of Acme');
  });

  it('stands above the display name, which names the pages of its application', async () => {
    for (const app of ['desktop', 'editor']) {
      await setDisplayName(service, '<script>alert(1)</script> & Söhne', app);
      const { html } = await page(service, `/apps/${app}`);
      const shown = '&#60;script&#62;alert(1)&#60;/script&#62; &#38; Söhne';
      expect(html).toContain(`<title>Download ${shown}</title>`);
      expect(html).toContain(`<h1>Download <bdi>${shown}</bdi></h1>`);
      expect(html).toContain('<bdi>Acme &#60;Notes&#62;</bdi></a>');
      await setDisplayName(service, null, app);
      const own = app === 'desktop' ? 'Acme &#60;Notes&#62;' : 'editor';
      expect((await page(service, `/apps/${app}`)).html).toContain(`<bdi>${own}</bdi></h1>`);
    }
  });

  it('is not replaced by a stored display name that no command stores', async () => {
    const change = { kind: 'settings', version: null, channels: [], reason: null } as const;
    for (const display_name of ['Acme\nNotes', 'x'.repeat(81), '']) {
      await changeCatalog({ ...service, actor: 'test' }, 'editor', (channels) => ({
        plan: undefined,
        edit: { change, channels, settings: { display_name } },
      }));
      await service.refresh();
      const { status, html } = await page(service, '/apps/editor');
      expect([status, html]).toEqual([200, expect.stringContaining('Download <bdi>editor</bdi>')]);
    }
  });

  it('its files have hashed names below the path of PUBLIC_URL, and may be kept for good', async () => {
    const { html } = await page(service, '/apps/desktop');
    const files = [...html.matchAll(/(?:href|src)="(\/updates\/assets\/[^"]*)"/g)].map(
      ([, file = '']) => file,
    );
    expect(files.map((file) => file.replace(/-[0-9a-zA-Z]{8}\./, '-HASH.'))).toEqual([
      '/updates/assets/pages-HASH.css',
      '/updates/assets/brand-HASH.css',
      '/updates/assets/logo-HASH.svg',
      '/updates/assets/logo-HASH.svg',
    ]);
    for (const file of files) {
      const { status, headers } = await get(service, file);
      expect([status, headers['cache-control']]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });

  it('an SVG that is opened by itself runs no script', async () => {
    const { html } = await page(service, '/apps/desktop');
    const { headers, body } = await get(service, /src="([^"]*)"/.exec(html)?.[1] ?? '');
    expect(String(body)).toBe(SVG);
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
  });

  it('without settings, is the name of the application and an icon', async () => {
    const plain = await createTestService();
    await release(plain, '1.0.0', ['windows x64 nsis']);
    const { html, headers } = await page(plain, '/apps/desktop');
    expect(html).toContain('<title>Download desktop</title>');
    await setDisplayName(plain, 'Acme Notes');
    const named = await page(plain, '/apps/desktop');
    expect(named.html).toContain('<bdi>Acme Notes</bdi></a>');
    expect(named.headers.etag).not.toBe(headers.etag);
    expect(html).not.toContain('<img');
    const icon = /<link rel="icon" href="([^"]*)"/.exec(html)?.[1] ?? '';
    expect((await get(plain, icon)).headers['content-type']).toBe('image/svg+xml');
    expect((await page(plain, '/status')).html).toContain('<title>Status of Slipway</title>');
    await plain.close();
  });

  it.each([
    ['missing.svg', undefined, /cannot be read: ENOENT/],
    [
      'directory.svg',
      'directory',
      /: it is a directory, and only plain files are read\. Name a plain file\.$/,
    ],
    ['text.png', 'text', /is no PNG image/],
    ['text.svg', 'text', /is no SVG image/],
    ['binary.svg', Buffer.from([0x3c, 0x73, 0x76, 0x67, 0x20, 0xff, 0xfe]), /is no SVG image/],
    ['empty.png', '', /is no PNG image/],
    ['large.svg', `<svg >${' '.repeat(300_000)}`, /has more than 262144 bytes/],
  ])('a logo that is no usable image stops the start: %s', async (name, content, message) => {
    const file = path.join(directory, name);
    if (content === 'directory') {
      const { mkdir } = await import('node:fs/promises');
      await mkdir(file);
    } else if (content !== undefined) await writeFile(file, content);
    const starting = createTestService({ env: { BRAND_LOGO: file } });
    await expect(starting).rejects.toMatchObject({ code: 'invalid_configuration' });
    await expect(starting).rejects.toThrow(message);
  });

  it('takes a PNG', async () => {
    const file = path.join(directory, 'logo.PNG');
    await writeFile(file, Buffer.from('89504e470d0a1a0a00', 'hex'));
    const started = await createTestService({ env: { BRAND_LOGO: file } });
    const { html } = await page(started, '/status');
    const logo = /<img src="([^"]*\.png)"/.exec(html)?.[1] ?? '';
    expect((await get(started, logo)).headers['content-type']).toBe('image/png');
    await started.close();
  });

  it.each([
    [{ BRAND_COLOR: 'red' }, /BRAND_COLOR: must be a color such as #2f5bea/],
    [{ BRAND_COLOR: '#fff' }, /BRAND_COLOR: must be a color/],
    [{ BRAND_NAME: 'a\u202eb' }, /BRAND_NAME: must be a name of at most 60 characters/],
    [{ BRAND_NAME: 'x'.repeat(61) }, /BRAND_NAME: must be/],
    [{ BRAND_LOGO: 'logo.gif' }, /BRAND_LOGO: must be the path of a \.svg or \.png file/],
  ])('refuses %j', async (env, message) => {
    await expect(createTestService({ env: { ...env } as Record<string, string> })).rejects.toThrow(
      message,
    );
  });
});
