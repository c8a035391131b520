import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { answer, closeVisit, contentOf, HOSTILE, useVisits } from './element-visit.ts';
import { overflowOf, PHONE, skipsBrowser, violationsOf } from './website-page.ts';

describe.skipIf(skipsBrowser)('signing in without COOKIE_MODE', () => {
  const visits = useVisits();
  const PASSWORD = 'a long enough password';
  let accounts = 0;
  const register = async (): Promise<string> => {
    accounts += 1;
    const email = `grace${accounts}@example.com`;
    const payload = { email, password: PASSWORD };
    await visits().service.app.http.inject({
      method: 'POST',
      url: '/api/v1/auth/register',
      payload,
    });
    return email;
  };
  const signIn = async (page: Page, email: string): Promise<void> => {
    const element = page.locator('slipway-sign-in').first();
    await element.getByLabel('Mail address').fill(email);
    await element.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await element.getByText(`Signed in as ${email}`).waitFor();
  };
  const RECORD = `
    globalThis.heard = [];
    addEventListener('slipway-session', ({ target, detail }) => {
      heard.push([target.localName, detail.account?.email ?? null]);
    });`;
  const element = "document.querySelector('slipway-sign-in')";

  it('keeps the refresh token in the memory of its tab, and renews the access token', async () => {
    const email = await register();
    const tokens: string[] = [];
    const { page, errors } = await visits().visit('sign-in', {
      before: async (page) => {
        await page.addInitScript(RECORD);
        await page.clock.install();
        page.on('response', async (response) => {
          if (response.request().method() !== 'POST' || response.status() !== 200) return;
          const { access_token, refresh_token } = await response.json();
          tokens.push(access_token, refresh_token);
        });
      },
    });
    expect(await page.evaluate(`${element}.accessToken()`)).toBe(undefined);
    await signIn(page, email);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate(`${element}.accessToken()`)).toBe(tokens[0]);
    expect(await page.evaluate(`${element}.account.email`)).toBe(email);
    await page.clock.runFor(9 * 60_000 + 5_000);
    await expect.poll(() => tokens.length).toBe(4);
    await expect.poll(() => page.evaluate(`${element}.accessToken()`)).toBe(tokens[2]);
    const stored = JSON.stringify(
      await page.evaluate('[{ ...localStorage }, { ...sessionStorage }, document.cookie]'),
    );
    for (const token of tokens) expect(stored).not.toContain(token);
    expect(stored).not.toContain('slipway-session');
    expect(await page.evaluate('heard')).toEqual([
      ['slipway-sign-in', null],
      ['slipway-sign-in', email],
    ]);
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.getByText('You are signed out.').waitFor();
    expect(await page.evaluate(`${element}.accessToken()`)).toBe(undefined);
    expect(await page.evaluate('heard.at(-1)')).toEqual(['slipway-sign-in', null]);
    const refresh = await visits().service.app.http.inject({
      ...{ method: 'POST', url: '/api/v1/auth/refresh' },
      payload: { refresh_token: tokens[3], platform: 'web', device: { id: 'x' } },
    });
    expect(refresh.statusCode).toBe(401);
    await signIn(page, email);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
    await closeVisit(page);
  });

  it('shares one session among the elements of a page, also those that come later', async () => {
    const email = await register();
    const name = 'slipway-sign-in';
    const { page, errors } = await visits().visit('sign-in', {
      content: `<${name}></${name}><${name}></${name}>`,
    });
    await signIn(page, email);
    await page.evaluate(`document.querySelector('main').append(document.createElement('${name}'))`);
    await expect.poll(() => page.getByText(`Signed in as ${email}`).count()).toBe(3);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).last().press('Enter');
    await expect.poll(() => page.getByRole('button', { name: 'Sign in' }).count()).toBe(3);
    // The visitor goes on with the keyboard where the button was.
    const focus = `${element}.parentElement.querySelectorAll('${name}')[2].shadowRoot.activeElement.name`;
    expect(await page.evaluate(focus)).toBe('email');
    expect(errors).toEqual([]);
    await closeVisit(page);
  });

  it('shows the error at its field, and a hostile name as text', async () => {
    const email = await register();
    const { page, errors } = await visits().visit('sign-in', { viewport: PHONE });
    await page.getByLabel('Mail address').fill(email);
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).press('Enter');
    await page.getByText('The mail address or the password is wrong.').waitFor();
    expect(await password.getAttribute('aria-invalid')).toBe('true');
    expect(await password.getAttribute('aria-describedby')).toBe('sign-in-note');
    expect(await page.evaluate(`${element}.shadowRoot.activeElement.name`)).toBe('password');
    expect(await violationsOf(page)).toEqual([]);
    await page.route(/auth\/login/, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const body = {
        access_token: 'token',
        expires_in: 600,
        account: { id: '1', email: HOSTILE },
      };
      const headers = {
        'access-control-allow-origin': visits().website.origin,
        'access-control-allow-credentials': 'true',
      };
      return route.fulfill(answer(body, 200, headers));
    });
    await page.keyboard.press('Enter');
    await page.getByText('Signed in as').waitFor();
    const shown = await contentOf(page, 'sign-in').innerText();
    expect(shown).toContain('<img src=x');
    expect(shown.length).toBeLessThan(1_000);
    expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await violationsOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await closeVisit(page);
  });

  it('shows the form when the answer is not one of the service', async () => {
    const { page, errors } = await visits().visit('sign-in', {
      before: (page) =>
        page.route(/auth\/login/, (route) =>
          route.request().method() === 'POST'
            ? route.fulfill(
                answer({}, 200, {
                  'access-control-allow-origin': visits().website.origin,
                  'access-control-allow-credentials': 'true',
                }),
              )
            : route.continue(),
        ),
    });
    await page.getByLabel('Mail address').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('The service sent an answer that this page cannot read.').waitFor();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
    await closeVisit(page);
  });
});
