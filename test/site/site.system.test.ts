import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { launchBrowser, overflowOf, PHONE, skipsBrowser } from '../e2e/website-page.ts';
import { rounds } from '../support/rounds.ts';

/** The website, built by its command and read in a browser, at the path that it has on GitHub Pages. */

describe.skipIf(skipsBrowser)('the website', () => {
  const dist = path.join(ROOT, 'site/dist');
  let server: Server;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    const built = spawnSync('npm', ['run', 'site'], { cwd: ROOT, encoding: 'utf8' });
    expect([built.status, built.stderr]).toEqual([0, expect.any(String)]);
    server = createServer(createFileHandler(dist, '/slipway/')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slipway/`;
    browser = await launchBrowser();
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  /** Opens a page, and collects its errors and its requests to other hosts. */
  async function open(address: string, options: Parameters<Browser['newPage']>[0] = {}) {
    const page = await browser.newPage(options);
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    page.on('request', (request) => {
      if (!/^(data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) problems.push(request.url());
    });
    await page.goto(base + address, { waitUntil: 'networkidle' });
    return { page, problems };
  }

  it('says on its first screen what Slipway is, and how to begin, on a desktop and a phone', async () => {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
      const { page, problems } = await open('', { viewport });
      const screen = { x: 0, y: 0, ...viewport };
      for (const text of [
        'Updates for desktop applications',
        'npm ci && npm run demo',
        'Get started',
      ]) {
        expect(await isWithin(page, text, screen), `${text} at ${viewport.width}`).toBe(true);
      }
      expect(await overflowOf(page)).toBe(0);
      expect(problems).toEqual([]);
      await page.getByRole('link', { name: 'Get started' }).click();
      await page.waitForURL('**/getting-started');
      await page.close();
    }
  });

  it.each([390, 768, 1280, 1920])('shows no text over its picture at %i px', async (width) => {
    const { page } = await open('', { viewport: { width, height: 900 } });
    const overlaps = await page.evaluate(() => {
      const overlap = (one: DOMRect, other: DOMRect) =>
        one.left < other.right &&
        other.left < one.right &&
        one.top < other.bottom &&
        other.top < one.bottom;
      const pictures = [...document.querySelectorAll('img.run')].map((picture) =>
        picture.getBoundingClientRect(),
      );
      const shown = pictures.filter(({ width }) => width > 0);
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const over: string[] = [];
      for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(node);
        const boxes = [...range.getClientRects()];
        if (boxes.some((box) => shown.some((picture) => overlap(box, picture))))
          over.push(String(node.textContent));
      }
      return { pictures: shown.length, over };
    });
    expect(overlaps).toEqual({ pictures: 1, over: [] });
    expect(await overflowOf(page)).toBe(0);
    await page.close();
  });

  it('is as dark as the system of the visitor', async () => {
    const backgrounds = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open('', { colorScheme });
      backgrounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
      await page.close();
    }
    expect(backgrounds).toEqual(['rgb(255, 255, 255)', 'rgb(27, 27, 31)']);
  });

  it('finds a page by a word in it, with the keyboard alone', async () => {
    const { page, problems } = await open('');
    await page.getByRole('button', { name: 'Search' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.VPLocalSearchBox input').waitFor();
    await page.keyboard.type('stepping stone');
    const first = page.locator('.VPLocalSearchBox .result').first();
    await first.waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname.length > '/slipway/'.length);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('shows every page on a phone without scrolling sideways', async () => {
    const pages = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^(?!api|404).*\.html$/.test(file),
    );
    expect(pages.length).toBeGreaterThan(60);
    const page = await browser.newPage({ viewport: PHONE });
    const wide: string[] = [];
    // Every page in the soak; here, pages with wide tables and long commands, and some others.
    const wides = ['index.html', 'publishing/commands.html', 'operations/settings.html'];
    const step = Math.ceil(pages.length / rounds(8, pages.length));
    for (const file of [...wides, ...pages.filter((_, at) => at % step === 0)]) {
      await page.goto(base + file, { waitUntil: 'domcontentloaded' });
      if ((await overflowOf(page)) > 0) wide.push(file);
    }
    expect(wide).toEqual([]);
    await page.close();
  }, 120_000);

  it('shows the HTTP API, and cannot send a request', async () => {
    const { page, problems } = await open('api/index.html', { viewport: PHONE });
    await page.getByText('/api/v1/desktop/check-update').first().click();
    await page.getByText('current_version').first().waitFor();
    expect(await page.getByRole('button', { name: 'Execute' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
    expect(await overflowOf(page)).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });
});

async function isWithin(
  page: Page,
  text: string,
  screen: { readonly width: number; readonly height: number },
): Promise<boolean> {
  const box = await page.getByText(text).first().boundingBox();
  return (
    box !== null &&
    box.x >= 0 &&
    box.y >= 0 &&
    box.x + box.width <= screen.width &&
    box.y + box.height <= screen.height
  );
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** Answers as GitHub Pages does: `/slipway/concepts` is the file `concepts.html`. */
function createFileHandler(root: string, base: string): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://pages');
    const named = path.join(root, decodeURIComponent(pathname.slice(base.length - 1)));
    const candidates = [named, `${named}.html`, path.join(named, 'index.html')];
    const file = candidates.find((each) => existsSync(each) && statSync(each).isFile());
    if (!pathname.startsWith(base) || file === undefined) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
  };
}
