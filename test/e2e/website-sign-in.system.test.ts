import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { findAccount } from '../../src/features/accounts/accounts/find-account.ts';
import { endSession } from '../../src/features/accounts/sessions/end-session.ts';
import { listSessions } from '../../src/features/accounts/sessions/list-sessions.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createFaultyStore } from '../support/faulty-store.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  DESKTOP,
  FOCUSED,
  FORMS,
  launchBrowser,
  openWebsite,
  overflowOf,
  PHONE,
  skipsBrowser,
  tabTo,
  type Website,
  watchErrors,
} from './website-page.ts';

const COOKIE = '__Host-slipway_session';
const PASSWORD = 'a long enough password';
const MINUTE_MS = 60_000;

describe.skipIf(skipsBrowser).each(FORMS)('signing in with the %s, in cookie mode', (as) => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  const identity = { store, clock: systemClock };
  let browser: Browser;
  let website: Website;
  let service: TestService;
  let context: BrowserContext;
  let address: string;
  /** Of the flag that there is a session, and of the lock with which one tab renews it. */
  let flagName: string;
  /** Every token that a response body of this test had. */
  let tokens: string[];
  let refreshes: number;
  let accounts = 0;
  let email: string;

  beforeAll(async () => {
    [browser, website] = await Promise.all([launchBrowser(), openWebsite()]);
    const env = {
      COOKIE_MODE: 'true',
      WEBSITE_ORIGINS: website.origin,
      AUTH_PER_ADDRESS: '1000',
      IDENTITY_PROVIDER: 'embedded',
    };
    service = await createTestService({ env, store });
    const url = await service.listen();
    address = website.pageOf('sign-in', url, { as });
    flagName = as === 'piece' ? 'slipway-session' : `slipway-session ${url}`;
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([website?.close(), service?.close()]);
  });

  beforeEach(async () => {
    accounts += 1;
    email = `ada${accounts}@example.com`;
    await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/auth/register',
      payload: { email, password: PASSWORD },
    });
    context = await browser.newContext({ viewport: DESKTOP });
    tokens = [];
    refreshes = 0;
    context.on('response', async (response) => {
      if (response.request().method() !== 'POST' || response.status() !== 200) return;
      if (response.url().endsWith('/refresh')) refreshes += 1;
      const body = await response.json().catch(() => ({}));
      expect(Object.keys(body)).not.toContain('refresh_token');
      tokens.push(body.access_token);
    });
  });
  afterEach(async () => {
    store.comeUp();
    await context.close();
  });

  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(address);
    return page;
  };
  const signIn = async (page: Page): Promise<void> => {
    await tabTo(page, '[name=email]');
    await page.keyboard.type(email);
    await tabTo(page, '[name=password]');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText(`Signed in as ${email}`).waitFor();
  };
  const form = (page: Page) => page.locator('#sign-in');
  const cookie = async () => (await context.cookies()).find(({ name }) => name === COOKIE);
  const says = (page: Page) => page.locator('#sign-in-note').textContent();

  /** The names of all that the page keeps, none of which may be a token or have one. */
  const kept = async (page: Page): Promise<string[]> => {
    const everything = (await page.evaluate(`(async () => ({
      local: { ...localStorage },
      session: { ...sessionStorage },
      cookie: document.cookie,
      databases: await indexedDB.databases(),
      caches: await caches.keys(),
      name: window.name,
      address: location.href,
      state: history.state,
    }))()`)) as { local: Record<string, string>; session: object; cookie: string };
    const secrets = [...tokens, (await cookie())?.value].filter((secret) => secret !== undefined);
    for (const secret of secrets) expect(JSON.stringify(everything)).not.toContain(secret);
    expect(everything).toMatchObject({ session: {}, cookie: '', databases: [], caches: [] });
    expect(Object.keys(everything.session)).toEqual([]);
    const { 'slipway-device': device, [flagName]: flag } = everything.local;
    if (device !== undefined) expect(device).toMatch(/^[0-9a-f]{32}$/);
    if (flag !== undefined) expect(flag).toBe('1');
    return Object.keys(everything.local).sort();
  };
  const DEVICE_ALONE = ['slipway-device'];
  const deviceAndFlag = () => ['slipway-device', flagName];

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])(
    'keeps no token on %s; a reload and a second tab are signed in without asking',
    async (_name, viewport) => {
      const page = await open();
      await page.setViewportSize(viewport);
      const errors = watchErrors(page);
      expect(await kept(page)).toEqual([]);
      await signIn(page);
      expect(await page.evaluate(`${FOCUSED}.id`)).toBe('who');
      expect(await kept(page)).toEqual(deviceAndFlag());
      expect(tokens).toHaveLength(1);
      expect(await cookie()).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict' });
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      await page.reload();
      await page.getByText(`Signed in as ${email}`).waitFor();
      const second = await open();
      await second.getByText(`Signed in as ${email}`).waitFor();
      expect(await form(second).isVisible()).toBe(false);
      expect(await kept(second)).toEqual(deviceAndFlag());
      expect(errors).toEqual([]);
    },
  );

  it('names the error, and keeps the input of the visitor', async () => {
    const page = await open();
    await page.getByLabel('Mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByText('The mail address or the password is wrong.').waitFor();
    expect(await page.getByLabel('Mail address').inputValue()).toBe(email);
    expect(await kept(page)).toEqual(DEVICE_ALONE);
    expect(await cookie()).toBeUndefined();
  });

  it('changes the password by keyboard, and stays signed in', async () => {
    const page = await open();
    await signIn(page);
    await tabTo(page, '#change-password summary');
    await page.keyboard.press('Enter');
    const change = async (present: string, next: string) => {
      await page.getByLabel('Current password').fill(present);
      await page.getByLabel('New password').fill(next);
      await page.keyboard.press('Enter');
    };
    await change('not the password', 'another long password');
    await page.getByText('The password is wrong. You are still signed in.').waitFor();
    await change(PASSWORD, 'password123');
    await page.getByText('one of the most common ones').waitFor();
    await change(PASSWORD, 'another long password');
    await page.getByText('Your password is changed').waitFor();
    await page.reload();
    await page.getByText(`Signed in as ${email}`).waitFor();
    await context.clearCookies();
    const payload = { email, platform: 'linux', device: { id: 'x', name: 'x' } };
    const logIn = (password: string) =>
      service.app.http.inject({
        method: 'POST',
        url: '/api/v1/auth/login',
        payload: { ...payload, password },
      });
    expect((await logIn(PASSWORD)).statusCode).toBe(401);
    expect((await logIn('another long password')).statusCode).toBe(200);
  });

  it('signs out in every tab, by keyboard, and keeps only the id of the browser', async () => {
    const page = await open();
    await signIn(page);
    const second = await open();
    await second.getByText(`Signed in as ${email}`).waitFor();
    await tabTo(page, '#sign-out');
    await page.keyboard.press('Enter');
    await page.getByText('You are signed out.').waitFor();
    await form(second).waitFor();
    for (const tab of [page, second]) {
      expect(await kept(tab)).toEqual(DEVICE_ALONE);
      expect(await tab.locator('#signed-in').isVisible()).toBe(false);
    }
    expect(await cookie()).toBeUndefined();
    await page.reload();
    await form(page).waitFor();
    expect(await says(page)).toBe('');
  });

  it('forgets a session that is refused, in every tab', async () => {
    const page = await open();
    await signIn(page);
    const second = await open();
    await second.getByText(`Signed in as ${email}`).waitFor();
    const { id } = await findAccount(store, email);
    for (const session of await listSessions(identity, id)) {
      await endSession(identity, id, session.id, 'signed_out');
    }
    await page.reload();
    await page.getByText('This session has ended. Sign in again.').waitFor();
    await Promise.all([form(page).waitFor(), form(second).waitFor()]);
    expect(await kept(page)).toEqual(DEVICE_ALONE);
    expect(await cookie()).toBeUndefined();
    await signIn(page);
    await second.getByText(`Signed in as ${email}`).waitFor();
  });

  it('keeps the session while the store fails, and comes back by itself', async () => {
    const page = await open();
    await signIn(page);
    await page.clock.install();
    store.goDown();
    await page.reload();
    await page.getByText('You stay signed in; this page tries again.').waitFor();
    expect(await form(page).isVisible()).toBe(false);
    expect(await kept(page)).toEqual(deviceAndFlag());
    expect(await cookie()).toBeDefined();
    store.comeUp();
    await page.clock.runFor(30_000);
    await page.getByText(`Signed in as ${email}`).waitFor();
    expect(await says(page)).toBe('');
  });

  it('does not tell a visitor who is signed in that the session ended', async () => {
    const page = await open();
    await signIn(page);
    store.goDown();
    await page.locator('#sign-out').press('Enter');
    await page.getByText('You are still signed in.').waitFor();
    expect(await kept(page)).toEqual(deviceAndFlag());
    expect(await cookie()).toBeDefined();
    store.comeUp();
    await context.setOffline(true);
    await page.locator('#sign-out').press('Enter');
    await page.getByText('The service cannot be reached. You are still signed in.').waitFor();
    await context.setOffline(false);
    await page.locator('#sign-out').press('Enter');
    await page.getByText('You are signed out.').waitFor();
    expect(await cookie()).toBeUndefined();
  });

  it('stays signed in when it hears late of an earlier end', async () => {
    const page = await open();
    await signIn(page);
    const second = await open();
    await second.getByText(`Signed in as ${email}`).waitFor();
    // As from a tab that slept while the visitor signed out and in again.
    await page.evaluate(`new BroadcastChannel('${flagName}').postMessage('over')`);
    await expect.poll(() => refreshes).toBeGreaterThan(1);
    for (const tab of [page, second]) {
      await tab.getByText(`Signed in as ${email}`).waitFor();
      expect(await kept(tab)).toEqual(deviceAndFlag());
    }
  });

  it('renews the access token before it expires, in every tab, and ends no session', async () => {
    const tabs = [await context.newPage(), await context.newPage(), await context.newPage()];
    // One clock for all of them.
    await context.clock.install();
    for (const tab of tabs) await tab.goto(address);
    const [first] = tabs as [Page, ...Page[]];
    await signIn(first);
    for (const tab of tabs) await tab.getByText(`Signed in as ${email}`).waitFor();
    expect([refreshes, tokens.length]).toEqual([0, 1]);
    await context.clock.runFor(9 * MINUTE_MS + 5_000);
    await expect.poll(() => tokens.length).toBeGreaterThan(1);
    // Whatever else was under way had its turn after that one.
    for (const tab of tabs) {
      await tab.evaluate(`navigator.locks.request('${flagName}', () => undefined)`);
    }
    // One is enough, but a message may reach a busy tab too late: a refresh of its own does no harm.
    console.log(`three tabs renewed their token with ${refreshes} refreshes`);
    expect(refreshes).toBeLessThanOrEqual(tabs.length);
    for (const tab of tabs) {
      expect(await kept(tab)).toEqual(deviceAndFlag());
      expect(await tab.getByText(`Signed in as ${email}`).isVisible()).toBe(true);
    }
  });
});
