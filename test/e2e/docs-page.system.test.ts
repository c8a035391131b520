import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeArtifact, publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { launchBrowser, skipsBrowser } from './website-page.ts';

describe.skipIf(skipsBrowser)('the page to try the interface', () => {
  let service: TestService;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    service = await createTestService({ store: 'directory' });
    await publish(service, {
      version: '1.2.3',
      artifacts: [await makeArtifact(service.directory)],
    });
    await service.refresh();
    url = await service.listen();
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await service.close();
  });

  it.each([
    ['a desktop', { width: 1280, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
  ])('answers on %s, by keyboard alone, within its security policy', async (_name, viewport) => {
    const page = await browser.newPage({ viewport });
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${url}/docs`);
    const operation = page.locator('#operations-desktop-get_api_v1_desktop_latest_version');
    await operation.locator('.opblock-summary-control').focus();
    await page.keyboard.press('Enter');
    await operation.locator('button.execute').focus();
    await page.keyboard.press('Enter');
    await operation.locator('.live-responses-table .response-col_status').first().waitFor();
    expect(await operation.locator('.live-responses-table').textContent()).toContain(
      '"version": "1.2.3"',
    );
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
