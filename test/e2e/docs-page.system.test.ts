import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeArtifact, publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { launchBrowser, skipsBrowser } from './website-page.ts';

describe.skipIf(skipsBrowser)('the API documentation page', () => {
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
  ])(
    'sends a request on %s, with the keyboard only, without violating its content security policy',
    async (_name, viewport) => {
      const page = await browser.newPage({ viewport });
      const errors: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(error.message));
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
      expect(errors).toEqual([]);
      await page.close();
    },
  );

  it('gets an answer to every example request', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${url}/docs`);
    await page.locator('.opblock').first().waitFor();
    const statuses: Record<string, string> = {};
    for (const operation of await page.locator('.opblock').all()) {
      const name = await operation.locator('.opblock-summary-path').getAttribute('data-path');
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('button.execute').click();
      const status = operation.locator('.live-responses-table .response-col_status').nth(1);
      await status.waitFor();
      statuses[String(name)] = String(await status.textContent()).slice(0, 3);
      await operation.locator('.opblock-summary-control').click();
    }
    expect(statuses).toEqual({
      '/api/v1/desktop/check-update': '200',
      '/api/v1/desktop/latest-version': '200',
      '/api/v1/desktop/download/{platform}': '200',
      '/feeds/{app}/{channel}/{protocol}/{*}': '200',
      '/api/v1/system/status': '200',
      '/api/v1/metrics/public/live': '200',
      '/monitoring/health': '200',
      '/monitoring/overview': '200',
      '/api/v1/contact': '202',
      '/api/v1/auth/register': '202',
      '/api/v1/auth/login': '200',
      // The example has no valid token.
      '/api/v1/auth/refresh': '401',
      '/api/v1/auth/logout': '204',
      // The embedded identity provider sends no mail.
      '/api/v1/auth/resend-verification': '501',
      '/api/v1/auth/request-reset': '501',
    });
    await page.close();
  });
});
