import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unescapeHtml } from '../features/website/routes/page-support.ts';
import { release } from '../server/support.ts';
import { generateTauriKey, signWithTauri } from '../support/minisign.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { makeSparkleKey } from '../support/sparkle-key.ts';
import {
  DESKTOP,
  launchBrowser,
  overflowOf,
  PHONE,
  skipsBrowser,
  tabTo,
  watchErrors,
} from './website-page.ts';

/** The public pages in a real browser, and the commands that they show in a real shell. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const OPEN_DETAILS = "for (const each of document.querySelectorAll('details')) each.open = true";
const TABLET = { width: 820, height: 1000 };
const NARROW = { width: 320, height: 700 };
const NOTES = `# Big news

A **paragraph** with \`code\`, a [link](https://example.com/) and ${'a long word '.repeat(3)}${'x'.repeat(10_000)}.

- one
  - two

> quote

| a | b |
| - | -: |
| 1 | ${'2'.repeat(300)} |

\`\`\`
${'code '.repeat(80)}
\`\`\`

- ${'- '.repeat(12)}deep
${'> '.repeat(15)}deep quote`;
const URLS = [
  '/apps/desktop',
  '/apps/desktop?channel=beta',
  '/apps/desktop/releases',
  '/apps/desktop/releases?page=2',
  '/apps/nothing',
  '/status',
];

/** Opens a page again when the service refused the page or its style sheet because this machine had too much load. */
async function open(page: Page, address: string): Promise<void> {
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 503) refused.push(response.url());
  });
  for (let tries = 0; tries < 5; tries++) {
    refused.length = 0;
    await page.goto(address);
    if (refused.length === 0) return;
  }
  throw new Error(`${refused.join(' ')} was refused again and again.`);
}

describe.skipIf(skipsBrowser)('the public pages in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    service = await createTestService({ store: 'directory', env: { BRAND_COLOR: '#ffe600' } });
    const machines = ['windows x64 nsis', 'macos arm64 dmg', 'macos x64 dmg', 'linux x64 appimage'];
    for (let minor = 0; minor < 11; minor++) await release(service, `1.${minor}.0`, machines);
    const sparkle = makeSparkleKey();
    const signatures = [
      { scheme: 'sparkle-ed25519', keyId: '', value: sparkle.sign('bytes') },
    ] as const;
    const signed = { machine: 'macos universal zip', content: 'bytes', signatures };
    const long = { machine: 'linux x64 deb', filename: `${'long'.repeat(60)}.deb` };
    await release(service, '2.0.0', [...machines, signed, long], { notes: { und: NOTES } });
    await release(service, '2.1.0-beta.1', ['windows x64 nsis'], { channel: 'beta' });
    url = await service.listen();
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await service.close();
  });

  const visit = async (
    address: string,
    options: BrowserContextOptions,
    check: (page: Page) => Promise<void>,
  ): Promise<void> => {
    const context = await browser.newContext(options);
    try {
      const page = await context.newPage();
      const errors = watchErrors(page);
      const foreign: string[] = [];
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== url) foreign.push(request.url());
      });
      await open(page, url + address);
      await check(page);
      expect(errors).toEqual([]);
      expect(foreign).toEqual([]);
    } finally {
      await context.close();
    }
  };
  const violations = async (page: Page, options = {}): Promise<string[]> => {
    await page.evaluate(AXE);
    const { violations: found } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  };
  const expectOutline = async (page: Page): Promise<void> => {
    for (const role of ['banner', 'main', 'contentinfo'] as const) {
      expect(await page.getByRole(role).count()).toBe(1);
    }
    const levels = (await page.evaluate(
      "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((each) => Number(each.tagName[1]))",
    )) as number[];
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries()) {
      expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
    }
  };

  // One visit for all of it, because opening a page and axe-core take most of the time.
  it.each(URLS)(
    '%s has no violation of axe-core, fits every width, and skips no heading',
    async (address) => {
      await visit(address, { viewport: DESKTOP, colorScheme: 'light' }, async (page) => {
        await expectOutline(page);
        await page.evaluate(OPEN_DETAILS);
        expect(await violations(page), 'desktop').toEqual([]);
        // Only the colors differ.
        await page.emulateMedia({ colorScheme: 'dark' });
        expect(await violations(page, { runOnly: ['color-contrast'] }), 'dark').toEqual([]);
        for (const viewport of [TABLET, PHONE, NARROW]) {
          await page.setViewportSize(viewport);
          expect(await overflowOf(page), `${viewport.width}`).toBeLessThanOrEqual(0);
        }
        expect(await violations(page), 'phone').toEqual([]);
      });
    },
  );

  it('finds a violation when there is one', async () => {
    await visit('/status', { viewport: DESKTOP }, async (page) => {
      await page.evaluate("document.querySelector('main').innerHTML = '<img src=x>'");
      expect((await violations(page)).join()).toContain('image-alt');
    });
  });

  it('is complete without JavaScript, and its button gives the file', async () => {
    await visit('/', { viewport: DESKTOP, javaScriptEnabled: false }, async (page) => {
      expect(page.url()).toBe(`${url}/apps/desktop`);
      const button = page.getByRole('link', { name: 'Download for Linux' });
      const downloading = page.waitForEvent('download');
      await button.click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe('App-2.0.0-linux-x64.appimage');
      const file = await download.path();
      expect(readFileSync(file, 'utf8')).toBe('bytes of App-2.0.0-linux-x64.appimage');
    });
  });

  it('is used with the keyboard alone: skip link, button, closed parts', async () => {
    await visit('/apps/desktop', { viewport: DESKTOP }, async (page) => {
      await page.keyboard.press('Tab');
      const skip = page.locator('.skip');
      expect(
        await skip.evaluate((link) => link.getBoundingClientRect().top),
      ).toBeGreaterThanOrEqual(0);
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
      await tabTo(page, 'a.button');
      const outline =
        'getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth';
      expect(await page.evaluate(outline)).toBe('solid3px');
      await tabTo(page, 'details.signature > summary');
      await page.keyboard.press('Enter');
      await page.getByText('openssl pkeyutl').waitFor();
      await page.goto(`${url}/apps/desktop/releases`);
      await tabTo(page, 'nav.pages a[rel=next]');
      await page.keyboard.press('Enter');
      await page.getByText('Page 2 of 2').waitFor();
    });
  });

  it('prints whole hashes and signatures, and no buttons', async () => {
    await visit('/apps/desktop', { viewport: DESKTOP }, async (page) => {
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('.button').first().isVisible()).toBe(false);
      expect(await page.getByRole('navigation').count()).toBe(0);
      for (const code of await page.locator('td.hash > code').all()) {
        expect(await code.isVisible()).toBe(true);
        expect(await code.innerText()).toMatch(/^[0-9a-f]{64}$/);
      }
      expect(await page.getByText('openssl pkeyutl').isVisible()).toBe(true);
      expect((await page.pdf()).byteLength).toBeGreaterThan(10_000);
    });
  });

  it('asks a Chromium for the hints at once', async () => {
    const hints: unknown[] = [];
    const { server } = service.app.http;
    server.on('request', ({ url: asked, headers }) => {
      if (asked === '/apps/desktop') hints.push(headers['sec-ch-ua-arch']);
    });
    await visit('/apps/desktop', { viewport: DESKTOP }, async (page) => {
      await page.getByRole('link', { name: 'Download for Linux' }).waitFor();
    });
    expect(hints[0]).toBeUndefined();
    expect(hints.at(-1)).toMatch(/^"(x86|arm)"$/);
  });
});

describe('the commands of a page', () => {
  it('verify the signatures of Tauri and Sparkle, and refuse other files', async () => {
    const service = await createTestService();
    const { directory } = service;
    const content = 'the bytes of the file';
    const file = 'My App 1.0.0.tar.gz';
    const place = path.join(directory, 'shell');
    const sparkle = makeSparkleKey();
    const tauri = await generateTauriKey(directory);
    await mkdir(place);
    await writeFile(path.join(place, file), content);
    await signWithTauri(tauri, path.join(place, file), '1.0.0');
    const value = readFileSync(path.join(place, `${file}.sig`), 'utf8');
    await release(service, '1.0.0', [
      {
        machine: 'macos universal tar.gz',
        ...{ filename: file, content },
        signatures: [
          { scheme: 'minisign', keyId: '', value },
          { scheme: 'sparkle-ed25519', keyId: '', value: sparkle.sign(content) },
        ],
      },
    ]);
    const { body } = await service.app.http.inject('/apps/desktop');
    const scripts = [...body.matchAll(/<pre tabindex="0"><code>([^<]*)<\/code>/g)]
      .map(([, text = '']) => unescapeHtml(text))
      .filter((text) => text.includes('PUBLIC_KEY'));
    expect(scripts).toHaveLength(2);
    const keys = [tauri.publicKey, sparkle.publicKey];
    const run = (index: number): Promise<unknown> => {
      const script = (scripts[index] ?? '').replace('PUBLIC_KEY', keys[index] ?? '');
      return promisify(execFile)('sh', ['-e', '-c', script], { cwd: place });
    };
    await run(0);
    await run(1);
    await writeFile(path.join(place, file), 'other bytes');
    await expect(run(0)).rejects.toThrow(/Signature verification failed/);
    await expect(run(1)).rejects.toThrow(/pkeyutl/);
    await service.close();
  });
});
