import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findAccount } from '../../src/identity/accounts/find-account.ts';
import { listSessions } from '../../src/identity/sessions/list-sessions.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { systemClock } from '../../src/system.ts';
import { createFaultyStore } from '../support/faulty-store.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  DESKTOP,
  launchBrowser,
  overflowOf,
  PHONE,
  skipsBrowser,
  tabTo,
  watchErrors,
} from './website-page.ts';

const PASSWORD = 'a long enough password';

describe.skipIf(skipsBrowser)('the page to try the interface with an account', () => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  let service: TestService;
  let browser: Browser;
  let url: string;
  let accounts = 0;
  /** One for each test: passwords can be tried five times a minute. */
  let email: string;

  beforeAll(async () => {
    const env = {
      // The page's own origin is not among them, and need not be.
      COOKIE_MODE: 'true',
      WEBSITE_ORIGINS: 'https://www.example.com',
    };
    service = await createTestService({ env, store });
    url = await service.listen();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  beforeEach(async () => {
    accounts += 1;
    email = `ada${accounts}@example.com`;
    await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/auth/register',
      payload: { email, password: PASSWORD },
    });
  });

  const open = async (viewport = DESKTOP): Promise<Page> => {
    const page = await (await browser.newContext({ viewport })).newPage();
    await page.goto(`${url}/docs/account`);
    return page;
  };
  const signIn = async (page: Page): Promise<void> => {
    await tabTo(page, '#email');
    await page.keyboard.type(email);
    await tabTo(page, '#password');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('Signed in as').waitFor();
    await page.locator('#operations-account-get_api_v1_account').waitFor();
  };
  const sessions = async () => {
    const found = await findAccount(store, email);
    return listSessions({ store, clock: systemClock }, found.id);
  };
  const account = (page: Page) => page.locator('#operations-account-get_api_v1_account');
  const execute = async (page: Page): Promise<string> => {
    const operation = account(page);
    await operation.locator('button.execute').focus();
    const answered = page.waitForResponse(/\/api\/v1\/account$/);
    await page.keyboard.press('Enter');
    const response = await answered;
    return `${response.status()} ${await response.text()}`;
  };

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])(
    'signs in and tries it on %s, by keyboard, within its security policy',
    async (_name, viewport) => {
      const page = await open(viewport);
      const errors = watchErrors(page);
      await signIn(page);
      expect(await page.evaluate('document.activeElement.id')).toBe('who');
      expect(await page.locator('#sign-in').isVisible()).toBe(false);
      await account(page).locator('.opblock-summary-control').focus();
      await page.keyboard.press('Enter');
      expect(await execute(page)).toContain(email);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      const kept = (await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      )) as string;
      expect(kept).toMatch(/^\[\{"slipway-docs-device":"[0-9a-f]{32}"\},\{\},""\]$/);
      expect(await page.context().cookies()).toEqual([]);
      await page.locator('#sign-out').press('Enter');
      await page.locator('#sign-in').waitFor();
      expect(await page.locator('.opblock').count()).toBe(0);
      expect(await page.locator('#password').inputValue()).toBe('');
      expect(errors).toEqual([]);
      await page.context().close();
    },
  );

  it('gets a new access token before the old one is over', async () => {
    const page = await open();
    await page.clock.install();
    await page.reload();
    await signIn(page);
    await account(page).locator('.opblock-summary-control').click();
    const renewed: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/auth/refresh')) renewed.push(request.url());
    });
    await execute(page);
    expect(renewed).toHaveLength(0);
    await page.clock.fastForward(9 * 60_000 + 1_000);
    expect(await execute(page)).toMatch(/^200 /);
    expect(renewed).toHaveLength(1);
    await page.context().close();
  });

  it('says what is wrong, and is not signed out while the store fails', async () => {
    const page = await open();
    await page.locator('#email').fill(email);
    await page.locator('#password').fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The address or the password is wrong.').waitFor();
    await page.locator('#password').fill(PASSWORD);
    store.goDown();
    await page.keyboard.press('Enter');
    await page.getByText(/Try again in \d+ seconds\./).waitFor();
    store.comeUp();
    await page.keyboard.press('Enter');
    await page.getByText('Signed in as').waitFor();
    store.goDown();
    await page.locator('#sign-out').press('Enter');
    await page.getByText(/Try again in \d+ seconds\./).waitFor();
    expect(await page.locator('#signed-in').isVisible()).toBe(true);
    store.comeUp();
    await page.locator('#sign-out').press('Enter');
    await page.locator('#sign-in').waitFor();
    await page.context().close();
  });

  it('leaves no session open behind it', async () => {
    const page = await open();
    await signIn(page);
    expect(await sessions()).toHaveLength(1);
    await page.goto(`${url}/livez`);
    await expect.poll(sessions).toHaveLength(0);
    await page.goBack();
    await page.locator('#sign-in').waitFor();
    await page.context().close();
  });
});
