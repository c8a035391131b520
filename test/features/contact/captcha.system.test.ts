import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { answer, closeVisit, useVisits } from '../../e2e/element-visit.ts';
import { RESERVED_SPACE, skipsBrowser, violationsOf } from '../../e2e/website-page.ts';

describe.skipIf(skipsBrowser)('the captcha of the contact form', () => {
  const visits = useVisits();
  /** The functions that the script of each provider offers, as its documentation has them. */
  const PROVIDERS = [
    ['turnstile', 'turnstile', 'https://challenges.cloudflare.com'],
    ['hcaptcha', 'hcaptcha', 'https://js.hcaptcha.com'],
    ['recaptcha', 'grecaptcha', 'https://www.google.com'],
  ] as const;
  const widget = (global: string) => `{
    let widgets = 0;
    const solved = [];
    const api = {
      render(container, { sitekey }) {
        if (container.getRootNode() !== document) throw new Error('not in the page');
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = 'Solve ' + sitekey;
        const id = widgets++;
        button.addEventListener('click', () => { solved[id] = 'token-' + Math.random(); });
        container.append(button);
        return id;
      },
      getResponse: (id) => solved[id] ?? '',
      reset: (id) => { solved[id] = undefined; },
    };
    if ('${global}' === 'grecaptcha') {
      const { render } = api;
      api.render = undefined;
      api.ready = (then) => setTimeout(() => { api.render = render; then(); }, 50);
    }
    globalThis['${global}'] = api;
  }`;
  const fill = async (page: Page): Promise<void> => {
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your mail address').fill('ada@example.com');
    await page.getByLabel('Subject').fill('A question');
    await page.getByLabel('Message').fill('Does it run on the engine?');
  };
  const send = (page: Page) => page.getByRole('button', { name: 'Send' }).press('Enter');
  /** Answers as the service does: a token is good once. */
  const takeTokens = async (page: Page): Promise<string[]> => {
    const tokens: string[] = [];
    await page.route(/api\/v1\/contact/, (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const { captcha_token: token } = route.request().postDataJSON();
      const isGood = token !== undefined && !tokens.includes(token);
      if (token !== undefined) tokens.push(token);
      const refusal = { code: 'captcha_refused', detail: 'The captcha was not solved.' };
      const headers = { 'access-control-allow-origin': visits().website.origin };
      return route.fulfill(isGood ? answer({}, 202, headers) : answer(refusal, 400, headers));
    });
    return tokens;
  };

  it.each(PROVIDERS)('is that of %s, and good for one message', async (name, global, host) => {
    const scripts: string[] = [];
    const { page, errors } = await visits().visit('contact', {
      attributes: `captcha="${name}" site-key="key-1"`,
      allowed: host,
      style: RESERVED_SPACE,
      before: (page) =>
        page.route(`${host}/**`, (route) => {
          scripts.push(route.request().url());
          return route.fulfill({ contentType: 'text/javascript', body: widget(global) });
        }),
    });
    const tokens = await takeTokens(page);
    await page.getByRole('button', { name: 'Solve key-1' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate('shifts')).toBe(0);
    await fill(page);
    await send(page);
    await page.getByText('The captcha was not solved.').waitFor();
    await page.getByRole('button', { name: 'Solve' }).press('Enter');
    await send(page);
    await page.getByText('Thank you.').waitFor();
    await fill(page);
    await send(page);
    await page.getByText('The captcha was not solved.').waitFor();
    expect(tokens).toHaveLength(1);
    // Another key, another widget; removed and added again, one widget.
    await page.evaluate(
      "document.querySelector('slipway-contact').setAttribute('site-key', 'key-2')",
    );
    await page.getByRole('button', { name: 'Solve key-2' }).waitFor();
    await page.evaluate(
      "document.querySelector('main').append(document.querySelector('slipway-contact'))",
    );
    await page.getByRole('button', { name: 'Solve key-2' }).waitFor();
    expect(await page.getByRole('button', { name: 'Solve' }).count()).toBe(1);
    expect(await page.getByLabel('Subject').inputValue()).toBe('A question');
    expect(scripts).toHaveLength(1);
    expect(errors).toEqual([]);
    await closeVisit(page);
  });

  it('is loaded again by the next try when its provider did not answer', async () => {
    let isDown = true;
    const host = 'https://challenges.cloudflare.com';
    const { page, errors } = await visits().visit('contact', {
      attributes: 'captcha="turnstile" site-key="key-1"',
      allowed: host,
      before: (page) =>
        page.route(`${host}/**`, (route) =>
          isDown
            ? route.abort()
            : route.fulfill({ contentType: 'text/javascript', body: widget('turnstile') }),
        ),
    });
    await page.getByText('The captcha of challenges.cloudflare.com does not work.').waitFor();
    const tokens = await takeTokens(page);
    await fill(page);
    isDown = false;
    await send(page);
    await page.getByText('Solve the captcha, then send your message.').waitFor();
    await page.getByRole('button', { name: 'Solve' }).press('Enter');
    await send(page);
    await page.getByText('Thank you.').waitFor();
    expect(tokens).toHaveLength(1);
    expect(errors.join()).toMatch(/api\.js\?render=explicit cannot be loaded/);
    await closeVisit(page);
  });

  it('is refused by name when the service supports none of that name', async () => {
    const { page } = await visits().visit('contact', { attributes: 'captcha="riddle"' });
    await page
      .getByText('The captcha "riddle" is not one of turnstile, hcaptcha, recaptcha.')
      .waitFor();
    await closeVisit(page);
  });
});
