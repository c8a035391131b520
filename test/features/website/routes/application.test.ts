import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOWNLOAD, get, release, setStatus } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { AGENTS, buttonsOf, page, unescapeHtml, VARY } from './page-support.ts';

const MAC_ARM = {
  'sec-ch-ua-platform': '"macOS"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-arch': '"arm"',
  'sec-ch-ua-bitness': '"64"',
};

describe('GET /apps/{app}', () => {
  let service: TestService;

  beforeAll(async () => {
    // A directory store: its links are signed by the service, and none may be in a page.
    service = await createTestService({ store: 'directory' });
    const machines = ['windows x64 nsis', 'windows x64 msi', 'windows arm64 nsis', 'linux x64 deb'];
    await release(service, '1.0.0', [...machines, 'macos universal dmg'], {
      notes: { und: '# First' },
    });
    await release(service, '1.1.0', ['windows x64 nsis', 'macos arm64 dmg', 'macos x64 dmg'], {
      notes: { und: 'Second **version**', de: 'Zweite' },
    });
    await release(service, '1.2.0-beta.1', ['windows x64 nsis'], { channel: 'beta' });
    await release(service, '3.0.0', ['macos universal dmg', 'macos arm64 dmg'], {
      application: 'wide',
    });
    await release(service, '2.0.0', ['macos arm64 dmg', 'macos x64 dmg'], { application: 'both' });
    await release(service, '2.0.0', ['linux arm64 deb'], { application: 'small' });
  });
  afterAll(() => service.close());

  const button = async (agent: keyof typeof AGENTS, url = '/apps/desktop', headers = {}) =>
    buttonsOf((await page(service, url, agent, headers)).html).map((address) => {
      const { pathname, searchParams } = new URL(address, 'http://x');
      const [platform] = pathname.split('/').slice(-1);
      return [platform, ...['arch', 'format', 'version'].map((key) => searchParams.get(key))].join(
        ' ',
      );
    });

  it('offers the file of the machine first, with version, size and date', async () => {
    expect(await button('windows')).toEqual(['windows x64 nsis 1.1.0']);
    const { html } = await page(service, '/apps/desktop', 'windows');
    const hero = html.slice(html.indexOf('<h1>'), html.indexOf('id="files"'));
    expect(hero).toMatch(/>Download for Windows<\/a>/);
    expect(hero).toMatch(
      /Version <bdi>1\.1\.0<\/bdi> · <data value="\d+"[^>]*>\d+(\.\d)? k?B<\/data>/,
    );
    expect(hero).toMatch(/Released <time datetime="\d{4}-\d\d-\d\dT/);
    expect(hero).toMatch(/<code>[0-9a-f]{64}<\/code>/);
  });

  it('offers the newest version that runs on the machine, as the download route does', async () => {
    expect(await button('linux')).toEqual(['linux x64 deb 1.0.0']);
    const hints = { ...MAC_ARM, 'sec-ch-ua-platform': '"Windows"' };
    expect(await button('windows', '/apps/desktop', hints)).toEqual(['windows arm64 nsis 1.0.0']);
    expect(await button('mac', '/apps/desktop', MAC_ARM)).toEqual(['macos arm64 dmg 1.1.0']);
  });

  it('offers both files to a Mac of unknown processor, Apple silicon first, and a universal one alone', async () => {
    expect(await button('mac', '/apps/both')).toEqual([
      'macos arm64 dmg 2.0.0',
      'macos x64 dmg 2.0.0',
    ]);
    const { html } = await page(service, '/apps/both', 'mac');
    expect(html).toMatch(
      /Download for Apple silicon[\s\S]*Download for Intel[\s\S]*About This Mac/,
    );
    expect(await button('mac', '/apps/wide')).toEqual(['macos universal dmg 3.0.0']);
    expect(await button('mac', '/apps/wide', MAC_ARM)).toEqual(['macos arm64 dmg 3.0.0']);
  });

  it('gives an unknown machine the choice of three platforms, with none preferred', async () => {
    const { html } = await page(service, '/apps/desktop', 'unknown');
    const choice = html.slice(html.indexOf('<ul class="platforms">'), html.indexOf('id="new"'));
    expect(choice.match(/<h2>\w+<\/h2>/g)).toEqual([
      '<h2>Windows</h2>',
      '<h2>macOS</h2>',
      '<h2>Linux</h2>',
    ]);
    expect(buttonsOf(html)).toHaveLength(4);
  });

  it('tells a phone that it is a program for computers, and shows all files', async () => {
    const { html } = await page(service, '/apps/desktop', 'phone');
    expect(buttonsOf(html)).toEqual([]);
    expect(html).toContain('This is a program for computers.');
    expect(html).toContain('Windows, macOS or Linux');
    expect(html.match(/<td role="cell" class="hash">/g)?.length).toBeGreaterThan(4);
  });

  it('says that nothing runs on a machine', async () => {
    const { html, status } = await page(service, '/apps/small', 'linux');
    expect(status).toBe(200);
    expect(buttonsOf(html)).toEqual([]);
    expect(html).toContain('No release runs on Linux, 64-bit (x64).');
    expect(html).toContain('App-2.0.0-linux-arm64.deb');
  });

  it('every link to a file is the stable download route, and gives the file with the stated hash', async () => {
    const { html } = await page(service, '/apps/desktop');
    const rows = [...html.matchAll(/<tr role="row">\s*<th role="rowheader"[\s\S]*?<\/tr>/g)];
    expect(rows.length).toBeGreaterThan(5);
    for (const [row] of rows) {
      const address = unescapeHtml(/href="([^"]*)"/.exec(row)?.[1] ?? '');
      expect(address.startsWith(`${DOWNLOAD}/`)).toBe(true);
      const { body, status } = await get(service, address, { accept: 'application/json' });
      expect(status, address).toBe(200);
      expect(row).toContain(body.sha256);
      expect(row).toContain(`<bdi>${body.filename}</bdi>`);
    }
  });

  it('shows the newest notes, other versions by their number, and how to check a file', async () => {
    const { html } = await page(service, '/apps/desktop');
    expect(html).toContain('<strong>version</strong>');
    expect(html).not.toMatch(/Zweite|First/);
    expect(html).toContain('<span class="needs">Version <bdi>1.0.0</bdi></span>');
    for (const command of ['Get-FileHash', 'certutil -hashfile', 'shasum -a 256', 'sha256sum']) {
      expect(html).toContain(command);
    }
  });

  it('keeps the channel in its links, by its own name', async () => {
    const { html } = await page(service, '/apps/desktop?channel=beta');
    expect(buttonsOf(html)[0]).toContain('version=1.2.0-beta.1&channel=beta&app=desktop');
    expect(html).toContain('href="/apps/desktop/releases?channel&#61;beta"');
    const stable = await page(service, '/apps/desktop');
    expect((await page(service, '/apps/desktop?channel=latest')).html).toBe(stable.html);
    expect(stable.html).toContain('href="/apps/desktop/releases"');
  });

  it('asks for the hints that decide, and varies by what it reads', async () => {
    const { headers } = await page(service, '/apps/desktop');
    expect(headers).toMatchObject({
      vary: VARY,
      'accept-ch': 'Sec-CH-UA-Arch, Sec-CH-UA-Bitness',
      'critical-ch': 'Sec-CH-UA-Arch, Sec-CH-UA-Bitness',
      'cache-control': 'public, max-age=60, stale-while-revalidate=300, stale-if-error=600',
    });
  });

  it('is the same object again until something changes: 304, then another ETag', async () => {
    const first = await page(service, '/apps/desktop', 'linux');
    const etag = String(first.headers.etag);
    const headers = { 'user-agent': AGENTS.linux, 'if-none-match': etag };
    const again = await get(service, '/apps/desktop', headers);
    expect(again).toMatchObject({ status: 304, body: '' });
    expect(again.headers).toMatchObject({ etag, vary: VARY });
    expect((await page(service, '/apps/desktop', 'windows')).headers.etag).not.toBe(etag);
    await release(service, '1.1.1', ['linux x64 deb']);
    expect((await get(service, '/apps/desktop', headers)).status).toBe(200);
    expect(await button('linux')).toEqual(['linux x64 deb 1.1.1']);
    await setStatus(service, 'yank', '1.1.1');
    expect(await button('linux')).toEqual(['linux x64 deb 1.0.0']);
  });

  it('is answered to HEAD without a body', async () => {
    const answer = await service.app.http.inject({ method: 'HEAD', url: '/apps/desktop' });
    expect([answer.statusCode, answer.body]).toEqual([200, '']);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  });

  it('offers no release before every client is offered it', async () => {
    await release(service, '9.0.0', ['windows x64 nsis'], {
      rollout: { text: '50%', freezeWindows: [] },
    });
    expect((await page(service, '/apps/desktop')).html).not.toContain('9.0.0');
    expect((await page(service, '/apps/desktop/releases')).html).not.toContain('9.0.0');
  });
});
