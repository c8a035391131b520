import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { release } from '../server/support.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  DESKTOP,
  FORMS,
  launchBrowser,
  openWebsite,
  overflowOf,
  PHONE,
  type Piece,
  skipsBrowser,
  tabTo,
  type Website,
  watchErrors,
} from './website-page.ts';

/** The service renders its status at most once a second. */
const SAME_ANSWER_MS = 1_100;

describe.skipIf(skipsBrowser).each(FORMS)('on a website, as %s', (as) => {
  let browser: Browser;
  let website: Website;
  let service: TestService;
  let url: string;

  beforeAll(async () => {
    [browser, website] = await Promise.all([launchBrowser(), openWebsite()]);
    service = await createTestService({
      store: 'directory',
      env: { WEBSITE_ORIGINS: website.origin },
    });
    await release(service, '2.0.0', [
      'linux x64 deb',
      'linux x64 appimage',
      'windows x64 nsis',
      'macos arm64 dmg',
      'macos x64 dmg',
    ]);
    url = await service.listen();
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([website?.close(), service?.close()]);
  });

  const addressOf = (piece: Piece, slipway: string): string =>
    website.pageOf(piece, slipway, { as, scripts: url });
  /** A script that finds an element of the page, also inside a custom element. */
  const find = (piece: Piece, selector: string): string =>
    as === 'piece'
      ? `document.querySelector('${selector}')`
      : `document.querySelector('slipway-${piece}').shadowRoot.querySelector('${selector}')`;

  const visit = async (
    piece: Piece,
    options: BrowserContextOptions & { readonly slipway?: string; readonly before?: string } = {},
  ): Promise<Page> => {
    const { slipway = url, before, ...context } = options;
    const opened = await browser.newContext({ viewport: DESKTOP, ...context });
    if (before !== undefined) await opened.addInitScript(before);
    const page = await opened.newPage();
    await page.goto(addressOf(piece, slipway));
    return page;
  };

  describe('the download button', () => {
    const AGENT = {
      mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      phone:
        'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    };
    const hints = (platform: string, architecture: string) => `
      const values = { architecture: '${architecture}', bitness: '64' };
      const data = { platform: '${platform}', mobile: false, getHighEntropyValues: async () => values };
      Object.defineProperty(Navigator.prototype, 'userAgentData', { get: () => data });`;
    const NO_HINTS =
      "Object.defineProperty(Navigator.prototype, 'userAgentData', { get: () => undefined })";

    it.each([
      ['a desktop', DESKTOP],
      ['a small window', PHONE],
    ])('gives the file for this machine on %s, by keyboard', async (_name, viewport) => {
      const page = await visit('download', { viewport });
      const errors = watchErrors(page);
      const button = page.locator('#download');
      await page.getByText(/^Version .*2\.0\.0.*, \d+ bytes$/).waitFor();
      expect(await button.textContent()).toBe('Download for Linux');
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      await tabTo(page, '#download');
      const downloading = page.waitForEvent('download');
      await page.keyboard.press('Enter');
      const file = await downloading;
      // Of the two for this machine, the one that a button should offer.
      expect(file.suggestedFilename()).toBe('App-2.0.0-linux-x64.appimage');
      expect(await readFile(await file.path(), 'utf8')).toBe(
        'bytes of App-2.0.0-linux-x64.appimage',
      );
      expect(await page.locator('#downloads a').allTextContents()).toEqual([
        'Windows (Intel and AMD, 64 bit), Installer',
        'macOS (ARM, 64 bit), Disk image',
        'macOS (Intel and AMD, 64 bit), Disk image',
        'Linux (Intel and AMD, 64 bit), AppImage',
        'Linux (Intel and AMD, 64 bit), Debian package',
      ]);
      expect(errors).toEqual([]);
      await page.context().close();
    });

    it.each([
      ['Windows on ARM, which runs x64', { before: hints('Windows', 'arm') }, 'windows?arch=x64'],
      ['an Intel Mac that says so', { before: hints('macOS', 'x86') }, 'macos?arch=x64'],
      ['a Mac that does not', { before: NO_HINTS, userAgent: AGENT.mac }, 'macos?arch=arm64'],
    ])('knows %s', async (_name, options, expected) => {
      const page = await visit('download', options);
      await page.getByText('Version 2.0.0, ').waitFor();
      expect(await page.locator('#download').getAttribute('href')).toContain(expected);
      await page.context().close();
    });

    it('offers both files to a Mac of unknown processor, Apple silicon first', async () => {
      const page = await visit('download', { before: NO_HINTS, userAgent: AGENT.mac });
      await page.getByText('Version 2.0.0, ').waitFor();
      const other = page.locator('#download-other');
      expect(await page.locator('#download').textContent()).toBe('Download for Apple silicon');
      expect(await other.textContent()).toBe('Download for Intel');
      expect(await other.getAttribute('href')).toContain('macos?arch=x64');
      expect(await page.locator('#download-facts').textContent()).toMatch(
        /^Version .*2\.0\.0.*, \d+ bytes \(Apple silicon\)\. Version .*2\.0\.0.*, \d+ bytes \(Intel\)\. .*About This Mac/,
      );
      await page.context().close();
      const known = await visit('download', { before: hints('macOS', 'arm') });
      await known.getByText('Version 2.0.0, ').waitFor();
      expect(await known.locator('#download').textContent()).toBe('Download for macOS');
      expect(await known.locator('#download-other').isVisible()).toBe(false);
      await known.context().close();
    });

    it('reports when there is no file for the machine', async () => {
      const phone = await visit('download', { before: NO_HINTS, userAgent: AGENT.phone });
      await phone.getByText('This is a program for Windows, macOS and Linux.').waitFor();
      expect(await phone.locator('#download').isVisible()).toBe(false);
      expect(await phone.locator('#downloads a').count()).toBe(5);
      await phone.context().close();
      const arm = await visit('download', { before: hints('Linux', 'arm') });
      await arm.getByText('There is no download for this Linux machine yet').waitFor();
      await arm.context().close();
    });

    it('works without JavaScript', async () => {
      const page = await visit('download', { javaScriptEnabled: false });
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: /^macos$/i }).click();
      expect((await downloading).suggestedFilename()).toBe('App-2.0.0-macos-arm64.dmg');
      await page.context().close();
    });

    it('keeps its links while the service does not answer, and says that nothing is released', async () => {
      const page = await visit('download', { slipway: 'http://127.0.0.1:1' });
      await page.getByText('The version cannot be shown at the moment').waitFor();
      expect(await page.locator('#download').getAttribute('href')).toBe(
        'http://127.0.0.1:1/api/v1/desktop/download/linux?arch=x64',
      );
      await page.context().close();
      const empty = await createTestService({ store: 'directory' });
      const unpublished = await visit('download', { slipway: await empty.listen() });
      await unpublished.getByText('Nothing is released yet.').waitFor();
      await unpublished.context().close();
      await empty.close();
    });
  });

  describe('the status badge', () => {
    it('follows the status of the service, and screen readers announce only changes', async () => {
      const page = await visit('status', { viewport: PHONE, slipway: 'about:blank' });
      await page.clock.install();
      // Turns the browser's cache off, for whose five seconds no test should wait.
      await page.route(/system\/status/, (route) => route.continue());
      await page.goto(addressOf('status', url));
      const badge = page.getByRole('status');
      const color = () =>
        page.evaluate(
          as === 'piece'
            ? `getComputedStyle(${find('status', '#status')}, '::before').color`
            : `getComputedStyle(${find('status', '[part~=dot]')}, '::before').backgroundColor`,
        );
      await page.locator('#status[data-indicator=none]').waitFor();
      const [healthy, green] = [await badge.textContent(), await color()];
      await page.evaluate(`
        globalThis.changes = 0;
        new MutationObserver(() => changes++).observe(
          ${find('status', '#status')}, { childList: true, characterData: true, subtree: true })`);
      const asked = page.waitForResponse(/system\/status/);
      await page.clock.fastForward(70_000);
      await asked;
      await sleep(SAME_ANSWER_MS);
      service.app.status.noteFailure('object_store', 'It does not answer.');
      await page.clock.fastForward(70_000);
      await page.locator('#status[data-indicator=major]').waitFor();
      expect(await badge.textContent()).toContain('Object store');
      expect(await badge.textContent()).not.toBe(healthy);
      expect(await color()).not.toBe(green);
      expect(await page.evaluate('changes')).toBe(1);
      await sleep(SAME_ANSWER_MS);
      service.app.status.noteSuccess('object_store');
      await page.clock.fastForward(70_000);
      await page.locator('#status[data-indicator=none]').waitFor();
      expect(await badge.textContent()).toBe(healthy);
      await page.context().close();
    });

    it('does not report a service as operational that it cannot reach', async () => {
      const page = await visit('status', { slipway: 'http://127.0.0.1:1' });
      await page.clock.install();
      await page.route(/system\/status/, (route) => route.continue());
      await page.goto(addressOf('status', 'http://127.0.0.1:1'));
      await page.getByText('The service cannot be reached.').waitFor();
      await page.goto(addressOf('status', url));
      await page.locator('#status[data-indicator=none]').waitFor();
      await page.context().setOffline(true);
      await page.clock.fastForward(70_000);
      await page.getByText('You are offline.').waitFor();
      expect(await page.locator('#status').getAttribute('data-indicator')).toBe('unknown');
      // Without waiting for the minute.
      await page.context().setOffline(false);
      await page.locator('#status[data-indicator=none]').waitFor();
      await page.context().close();
    });
  });
});
