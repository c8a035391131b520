import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeArtifact, publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  DESKTOP,
  launchBrowser,
  overflowOf,
  PHONE,
  skipsBrowser,
  watchErrors,
} from './website-page.ts';

/** The only release has an installer for Windows, without a signature for Tauri. */
const FEED_STATUSES = Object.fromEntries(
  Object.entries({
    'electron/{document}': '200',
    'squirrel-mac/{platform}/{arch}/{version}': '204',
    'squirrel-mac/releases.json': '200',
    'squirrel-mac/{platform}/{arch}/releases.json': '200',
    'squirrel-windows/RELEASES': '200',
    'squirrel-windows/{arch}/RELEASES': '200',
    'msix/{version}': '204',
    'tauri/latest.json': '204',
    'tauri/{target}/{arch}/{current_version}': '204',
    'tauri/{target}/{arch}/{current_version}/{bundle_type}': '204',
    'velopack/releases.{name}.json': '200',
    'velopack/RELEASES': '200',
    'velopack/RELEASES-{name}': '200',
    'sparkle/appcast.xml': '200',
    'winsparkle/appcast.xml': '200',
    'netsparkle/appcast.xml': '200',
    'netsparkle/appcast.xml.signature': '404',
    'zsync/{name}.AppImage.zsync': '404',
    'zsync/{name}.AppImage': '404',
    'omaha/v1/update': '200',
    // The release has another version than the examples.
    '{protocol}/{version}/{filename}': '404',
    '{protocol}/{filename}': '404',
  }).map(([path, status]) => [`/feeds/{app}/{channel}/${path}`, status]),
);
const METADATA = [
  'timestamp.json',
  '{version}.root.json',
  '{version}.targets.json',
  '{version}.snapshot.json',
  '{version}.channel-{channel}.json',
  'targets/{target_app}/{channel}/{version}/{sha256}.{number}.json',
  'targets/{target_app}/{channel}/{version}/{sha256}.{filename}',
];

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
      const operation = page.locator('#operations-desktop-getLatestVersion');
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
      // Clicks by script: after each click, Playwright would wait for a page of 45 operations to stand still.
      const click = (selector: string) =>
        operation.locator(selector).evaluate((element) => (element as HTMLElement).click());
      const name = await operation.locator('.opblock-summary-path').getAttribute('data-path');
      await click('.opblock-summary-control');
      await click('button.execute');
      const status = operation.locator('.live-responses-table .response-col_status').nth(1);
      statuses[String(name)] = String(await status.textContent()).slice(0, 3);
      await click('.opblock-summary-control');
    }
    expect(statuses).toEqual({
      '/api/v1/desktop/check-update': '200',
      '/api/v1/desktop/latest-version': '200',
      '/api/v1/desktop/download/{platform}': '200',
      ...FEED_STATUSES,
      // The application has no root of trust.
      ...Object.fromEntries(METADATA.map((name) => [`/tuf/{app}/${name}`, '404'])),
      // The example of a signature is none.
      '/files/apps/{app}/artifacts/{object}/{filename}': '403',
      '/api/v1/system/request': '200',
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
    // A second for each operation on an idle machine: the page resolves its whole document to show one.
  }, 600_000);
});

describe.skipIf(skipsBrowser)('the page to try the interface with an account', () => {
  const email = 'grace@example.com';
  const password = 'a long enough password';
  let service: TestService;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    // The origin of the page is not one of the website, and need not be.
    const env = { COOKIE_MODE: 'true', WEBSITE_ORIGINS: 'https://www.example.com' };
    service = await createTestService({ env });
    url = await service.listen();
    await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/auth/register',
      payload: { email, password },
    });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  const LOGIN = '#operations-auth-signIn';
  const ACCOUNT = '#operations-account-getAccount';

  /** Opens an operation, executes it, and resolves to the text of its answer. */
  const execute = async (page: Page, selector: string, body?: object): Promise<string> => {
    const operation = page.locator(selector);
    await operation.locator('.opblock-summary-control').focus();
    await page.keyboard.press('Enter');
    if (body !== undefined) {
      await operation.locator('textarea.body-param__text').fill(JSON.stringify(body));
    }
    await operation.locator('button.execute').focus();
    await page.keyboard.press('Enter');
    const answer = operation.locator('.live-responses-table .response-col_description').nth(1);
    await answer.waitFor();
    return String(await answer.locator('.highlight-code pre').first().textContent());
  };
  const authorize = async (page: Page, token: string): Promise<void> => {
    await page.locator('.auth-wrapper .authorize').first().focus();
    await page.keyboard.press('Enter');
    const dialog = page.locator('.modal-ux');
    await dialog.locator('input').fill(token);
    await page.keyboard.press('Enter');
    await dialog.locator('.btn-done').press('Enter');
  };

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])(
    'lets a visitor sign in, authorize and try a signed-in route on %s, by keyboard, within its security policy',
    async (_name, viewport) => {
      const page = await (await browser.newContext({ viewport })).newPage();
      const errors = watchErrors(page);
      await page.goto(`${url}/docs/account`);
      await page.locator(LOGIN).waitFor();
      expect(await page.locator(ACCOUNT).count()).toBe(0);
      const device = { id: 'docs', name: 'A browser' };
      const answer = await execute(page, LOGIN, { email, password, platform: 'linux', device });
      const { access_token: token } = JSON.parse(answer) as { access_token: string };

      await authorize(page, token);
      await page.locator(ACCOUNT).waitFor();
      expect(JSON.parse(await execute(page, ACCOUNT))).toMatchObject({ email });
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      const kept = await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      );
      expect(kept).toBe('[{},{},""]');
      expect(await page.context().cookies()).toEqual([]);

      await page.locator('.auth-wrapper .authorize').first().press('Enter');
      await page
        .locator('.modal-ux')
        .getByRole('button', { name: 'Remove authorization' })
        .press('Enter');
      await page.locator(ACCOUNT).waitFor({ state: 'detached' });
      expect(errors).toEqual([]);
      await page.context().close();
    },
  );

  it('says that a token is not valid', async () => {
    const page = await browser.newPage({ viewport: DESKTOP });
    await page.goto(`${url}/docs/account`);
    await authorize(page, 'invented');
    await page.locator('.errors-wrapper').getByText(/token/).first().waitFor();
    expect(await page.locator(ACCOUNT).count()).toBe(0);
    await page.close();
  });
});
