import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { release } from '../http/support.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  COUNT_SHIFTS,
  DESKTOP,
  launchBrowser,
  openWebsite,
  overflowOf,
  type PageOptions,
  PHONE,
  PIECES,
  type Piece,
  RESERVED_SPACE,
  skipsBrowser,
  violationsOf,
  type Website,
  watchErrors,
  watchStrangers,
} from './website-page.ts';

/** What the elements do and the plain pieces do not; what both do is in website*.system.test.ts. */

const LIGHT = 'body { font-family: serif; background: #fff; color: #222 }';
const DARK =
  ':root { color-scheme: dark } body { font-family: sans-serif; background: #15181d; color: #e7e9ee }';
/** What an element says when it has its answer. */
const READY: Readonly<Record<Piece, string>> = {
  download: 'Version 2.0.0',
  status: 'All systems operational',
  contact: 'Send',
  'sign-in': 'Sign in',
};
const SLOW_MS = 500;
/** Turns the text around it, adds markup, and is as long as a service could ever send. */
const HOSTILE = `\u202e<img src=x onerror="globalThis.isTaken=true">\u2066${'W'.repeat(10_000)}`;

const slowly = async (route: Route): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  await route.continue();
};
const answer = (body: unknown, status = 200, headers = {}) => ({
  status,
  headers: { 'access-control-allow-origin': '*', ...headers },
  contentType: 'application/json',
  body: JSON.stringify(body),
});

describe.skipIf(skipsBrowser)('the elements on a website with a strict policy', () => {
  let browser: Browser;
  let website: Website;
  let service: TestService;
  let url: string;

  beforeAll(async () => {
    [browser, website] = await Promise.all([launchBrowser(), openWebsite()]);
    const env = {
      ...{ WEBSITE_ORIGINS: website.origin, CONTACT_PER_ADDRESS: '1000' },
      ...{ IDENTITY_PROVIDER: 'embedded', AUTH_PER_ADDRESS: '1000' },
    };
    service = await createTestService({ env, store: 'directory' });
    await release(service, '2.0.0', ['linux x64 deb', 'linux x64 appimage', 'macos arm64 dmg']);
    url = await service.listen();
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([website?.close(), service?.close()]);
  });

  interface Visit {
    readonly page: Page;
    /** Errors of the page, and of its policy. */
    readonly errors: string[];
    /** Requests to other hosts than the website and the service. */
    readonly strangers: string[];
  }

  const visit = async (
    piece: Piece,
    options: PageOptions = {},
    {
      viewport = DESKTOP,
      before = async () => {},
      waitUntil = 'load',
    }: {
      readonly viewport?: typeof DESKTOP;
      readonly before?: (page: Page) => Promise<unknown>;
      readonly waitUntil?: 'commit' | 'load';
    } = {},
  ): Promise<Visit> => {
    const context = await browser.newContext({ viewport });
    const page = await context.newPage();
    const errors = watchErrors(page);
    const strangers = watchStrangers(page, [website.origin, url]);
    await page.addInitScript(COUNT_SHIFTS);
    await before(page);
    await page.goto(website.pageOf(piece, url, { as: 'element', ...options }), { waitUntil });
    return { page, errors, strangers };
  };
  const close = (page: Page) => page.context().close();
  const text = (page: Page, piece: Piece) => page.locator(`slipway-${piece} [part=content]`);

  describe.each(PIECES)('%s', (piece) => {
    it.each([
      ['a desktop', 'light', DESKTOP, LIGHT],
      ['a phone', 'light', PHONE, LIGHT],
      ['a desktop', 'dark', DESKTOP, DARK],
      ['a phone', 'dark', PHONE, DARK],
    ] as const)(
      'on %s, %s: is accessible, keeps the policy, and moves nothing when it arrives late',
      async (_name, _scheme, viewport, style) => {
        const { page, errors, strangers } = await visit(
          piece,
          { style: `${style} ${RESERVED_SPACE}` },
          {
            viewport,
            waitUntil: 'commit',
            before: (page) => page.route(/\/elements\/|\/api\//, slowly),
          },
        );
        await page.locator(`slipway-${piece} > a`).first().waitFor();
        await text(page, piece).getByText(READY[piece]).first().waitFor();
        expect(await page.locator(`slipway-${piece} > a`).first().isVisible()).toBe(false);
        expect(await violationsOf(page)).toEqual([]);
        expect(await overflowOf(page)).toBeLessThanOrEqual(0);
        expect(await page.evaluate('shifts')).toBe(0);
        const inherited = (property: string) =>
          page.evaluate(`(() => {
            const element = document.querySelector('slipway-${piece}').shadowRoot.querySelector('button, a');
            return getComputedStyle(element).${property} === getComputedStyle(document.body).${property};
          })()`);
        expect(await inherited('fontFamily')).toBe(true);
        expect(await inherited('color')).toBe(true);
        expect([errors, strangers]).toEqual([[], []]);
        await close(page);
      },
    );

    it('keeps its fallback when the script does not arrive', async () => {
      const { page } = await visit(
        piece,
        {},
        {
          before: (page) => page.route(/\/elements\//, (route) => route.abort()),
        },
      );
      expect(await page.locator(`slipway-${piece} > a`).first().isVisible()).toBe(true);
      await close(page);
    });

    it('asks the service below the path from which its script came', async () => {
      const { page, errors } = await visit(
        piece,
        { scripts: `${website.origin}/updates`, content: `<slipway-${piece}></slipway-${piece}>` },
        {
          before: (page) =>
            page.route(`${website.origin}/updates/**`, (route) =>
              route.continue({
                url: route.request().url().replace(`${website.origin}/updates`, url),
              }),
            ),
        },
      );
      await text(page, piece).getByText(READY[piece]).first().waitFor();
      const element = `document.querySelector('slipway-${piece}')`;
      expect(await page.evaluate(`${element}.service`)).toBe(`${website.origin}/updates`);
      expect(errors).toEqual([]);
      await close(page);
    });

    it('can be there several times, come and go, and be of another service', async () => {
      const name = `slipway-${piece}`;
      const { page, errors } = await visit(piece, {
        content: `<${name}></${name}><${name}></${name}>`,
      });
      const ready = page.locator(name).getByText(READY[piece], { exact: false });
      await expect.poll(() => ready.count()).toBeGreaterThanOrEqual(2);
      await page.evaluate(`{
        const [first] = document.querySelectorAll('${name}');
        first.remove();
        document.querySelector('main').prepend(first, document.createElement('${name}'));
        first.remove();
        document.querySelector('main').append(first);
        document.createElement('${name}');
      }`);
      await expect.poll(() => ready.count()).toBeGreaterThanOrEqual(3);
      expect(await violationsOf(page)).toEqual([]);
      await page.route(/\/other\//, (route) => route.fulfill(answer({}, 503)));
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.evaluate(
        `document.querySelector('${name}').setAttribute('service', '${url}/other//')`,
      );
      const element = `document.querySelector('${name}')`;
      expect(await page.evaluate(`${element}.service`)).toBe(`${url}/other`);
      if (piece === 'download' || piece === 'status') {
        await expect.poll(() => asked.some((each) => each.includes('/other/api/'))).toBe(true);
      }
      await page.evaluate(`for (const each of document.querySelectorAll('${name}')) each.remove()`);
      expect(errors).toEqual([]);
      await close(page);
    });
  });

  describe('the download button', () => {
    it('is of its application, channel and preferred format, and follows its attributes', async () => {
      const { page, errors } = await visit('download', {
        attributes: 'app="desktop" format="msi deb"',
      });
      await page.getByText('Version 2.0.0').waitFor();
      const button = page.locator('#download');
      expect(await button.getAttribute('href')).toBe(
        `${url}/api/v1/desktop/download/linux?arch=x64&format=deb&app=desktop`,
      );
      await page.evaluate(
        `document.querySelector('slipway-download').setAttribute('app', 'other')`,
      );
      await page.getByText('Nothing is released yet.').waitFor();
      expect(await button.isVisible()).toBe(false);
      await page.evaluate(`{
        const element = document.querySelector('slipway-download');
        element.setAttribute('app', 'desktop');
        element.setAttribute('channel', 'stable');
        element.removeAttribute('format');
      }`);
      await page.getByText('Version 2.0.0').waitFor();
      expect(await button.getAttribute('href')).toBe(
        `${url}/api/v1/desktop/download/linux?arch=x64&format=appimage&app=desktop&channel=stable`,
      );
      expect(errors).toEqual([]);
      await close(page);
    });

    it('shows what a service sends as text, in one line, and of bounded length', async () => {
      const file = { platform: 'linux', arch: 'x64', format: HOSTILE, version: HOSTILE, size: 5e6 };
      const { page, errors, strangers } = await visit(
        'download',
        {},
        {
          viewport: PHONE,
          before: (page) =>
            page.route(/latest-version/, (route) => route.fulfill(answer({ downloads: [file] }))),
        },
      );
      await page.getByText('Version <img').waitFor();
      await page.locator('summary').click();
      const shown = await text(page, 'download').innerText();
      expect(shown.length).toBeLessThan(1_000);
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await page.evaluate('globalThis.isTaken')).toBe(undefined);
      expect([errors, strangers]).toEqual([[], []]);
      await close(page);
    });

    it.each([
      ['503', answer({ code: 'overloaded', detail: 'Busy.' }, 503)],
      ['an answer of another server', { ...answer(''), body: '<h1>Log in</h1>' }],
      ['JSON of another server', answer({ ok: true })],
    ])('keeps its links with %s', async (_name, response) => {
      const { page, errors } = await visit(
        'download',
        {},
        {
          before: (page) => page.route(/latest-version/, (route) => route.fulfill(response)),
        },
      );
      await page.getByText('The version cannot be shown at the moment.').waitFor();
      expect(await page.locator('#download').getAttribute('href')).toContain('/download/linux');
      expect(await page.locator('#downloads a').count()).toBe(3);
      expect(errors).toEqual([]);
      await close(page);
    });
  });

  describe('the status badge', () => {
    it('links to the status page, and takes no markup from a service', async () => {
      const body = {
        status: { indicator: 'major"><script>', description: HOSTILE },
        components: [{ name: HOSTILE, status: 'major_outage' }],
      };
      const { page, errors, strangers } = await visit(
        'status',
        {},
        {
          viewport: PHONE,
          before: (page) => page.route(/system\/status/, (route) => route.fulfill(answer(body))),
        },
      );
      await page.getByText('<img').waitFor();
      expect(await page.getByRole('link').getAttribute('href')).toBe(`${url}/status`);
      const shown = await text(page, 'status').innerText();
      expect(shown.length).toBeLessThan(1_000);
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await violationsOf(page)).toEqual([]);
      expect([errors, strangers]).toEqual([[], []]);
      await close(page);
    });

    it('does not know the status while the service is busy, and asks no sooner than it is told', async () => {
      const { page } = await visit(
        'status',
        {},
        {
          before: async (page) => {
            await page.clock.install();
            await page.route(/system\/status/, (route) =>
              route.fulfill(
                answer({}, 503, {
                  'retry-after': '300',
                  'access-control-expose-headers': 'retry-after',
                }),
              ),
            );
          },
        },
      );
      await page.getByText('The service is busy. Its status is not known.').waitFor();
      let asked = 0;
      page.on('request', () => {
        asked += 1;
      });
      await page.clock.runFor(260_000);
      expect(asked).toBe(0);
      await page.clock.runFor(80_000);
      await expect.poll(() => asked).toBe(1);
      await page.evaluate("document.querySelector('slipway-status').remove()");
      await page.clock.runFor(900_000);
      expect(asked).toBe(1);
      await close(page);
    });
  });

  describe('the captcha of the contact form', () => {
    /** What the script of each provider offers, as its documentation has it. */
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
        const headers = { 'access-control-allow-origin': website.origin };
        return route.fulfill(isGood ? answer({}, 202, headers) : answer(refusal, 400, headers));
      });
      return tokens;
    };

    it.each(PROVIDERS)('is that of %s, and good for one message', async (name, global, host) => {
      const scripts: string[] = [];
      const { page, errors } = await visit(
        'contact',
        { attributes: `captcha="${name}" site-key="key-1"`, allowed: host, style: RESERVED_SPACE },
        {
          before: (page) =>
            page.route(`${host}/**`, (route) => {
              scripts.push(route.request().url());
              return route.fulfill({ contentType: 'text/javascript', body: widget(global) });
            }),
        },
      );
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
      await close(page);
    });

    it('is loaded again by the next try when its provider did not answer', async () => {
      let isDown = true;
      const host = 'https://challenges.cloudflare.com';
      const { page, errors } = await visit(
        'contact',
        { attributes: 'captcha="turnstile" site-key="key-1"', allowed: host },
        {
          before: (page) =>
            page.route(`${host}/**`, (route) =>
              isDown
                ? route.abort()
                : route.fulfill({ contentType: 'text/javascript', body: widget('turnstile') }),
            ),
        },
      );
      await page.getByText('The captcha of challenges.cloudflare.com cannot be loaded.').waitFor();
      const tokens = await takeTokens(page);
      await fill(page);
      isDown = false;
      await send(page);
      await page.getByText('Solve the captcha, then send your message.').waitFor();
      await page.getByRole('button', { name: 'Solve' }).press('Enter');
      await send(page);
      await page.getByText('Thank you.').waitFor();
      expect(tokens).toHaveLength(1);
      expect(errors).toEqual([]);
      await close(page);
    });

    it('is refused by name when the service supports none of that name', async () => {
      const { page } = await visit('contact', { attributes: 'captcha="riddle"' });
      await page
        .getByText('The captcha "riddle" is not one of turnstile, hcaptcha, recaptcha.')
        .waitFor();
      await close(page);
    });
  });

  describe('signing in without COOKIE_MODE', () => {
    const PASSWORD = 'a long enough password';
    let accounts = 0;
    const register = async (): Promise<string> => {
      accounts += 1;
      const email = `grace${accounts}@example.com`;
      const payload = { email, password: PASSWORD };
      await service.app.http.inject({ method: 'POST', url: '/api/v1/auth/register', payload });
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
      const { page, errors } = await visit(
        'sign-in',
        {},
        {
          before: async (page) => {
            await page.addInitScript(RECORD);
            await page.clock.install();
            page.on('response', async (response) => {
              if (response.request().method() !== 'POST' || response.status() !== 200) return;
              const { access_token, refresh_token } = await response.json();
              tokens.push(access_token, refresh_token);
            });
          },
        },
      );
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
      const refresh = await service.app.http.inject({
        ...{ method: 'POST', url: '/api/v1/auth/refresh' },
        payload: { refresh_token: tokens[3], platform: 'web', device: { id: 'x' } },
      });
      expect(refresh.statusCode).toBe(401);
      await signIn(page, email);
      await page.reload();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      expect(errors).toEqual([]);
      await close(page);
    });

    it('shares one session among the elements of a page, also those that come later', async () => {
      const email = await register();
      const name = 'slipway-sign-in';
      const { page, errors } = await visit('sign-in', {
        content: `<${name}></${name}><${name}></${name}>`,
      });
      await signIn(page, email);
      await page.evaluate(
        `document.querySelector('main').append(document.createElement('${name}'))`,
      );
      await expect.poll(() => page.getByText(`Signed in as ${email}`).count()).toBe(3);
      expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Sign out' }).last().press('Enter');
      await expect.poll(() => page.getByRole('button', { name: 'Sign in' }).count()).toBe(3);
      // The visitor goes on with the keyboard where the button was.
      const focus = `${element}.parentElement.querySelectorAll('${name}')[2].shadowRoot.activeElement.name`;
      expect(await page.evaluate(focus)).toBe('email');
      expect(errors).toEqual([]);
      await close(page);
    });

    it('shows the error at its field, and a hostile name as text', async () => {
      const email = await register();
      const { page, errors } = await visit('sign-in', {}, { viewport: PHONE });
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
          'access-control-allow-origin': website.origin,
          'access-control-allow-credentials': 'true',
        };
        return route.fulfill(answer(body, 200, headers));
      });
      await page.keyboard.press('Enter');
      await page.getByText('Signed in as').waitFor();
      const shown = await text(page, 'sign-in').innerText();
      expect(shown).toContain('<img src=x');
      expect(shown.length).toBeLessThan(1_000);
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await violationsOf(page)).toEqual([]);
      expect(errors).toEqual([]);
      await close(page);
    });

    it('shows the form when the answer is not one of the service', async () => {
      const { page, errors } = await visit(
        'sign-in',
        {},
        {
          before: (page) =>
            page.route(/auth\/login/, (route) =>
              route.request().method() === 'POST'
                ? route.fulfill(
                    answer({}, 200, {
                      'access-control-allow-origin': website.origin,
                      'access-control-allow-credentials': 'true',
                    }),
                  )
                : route.continue(),
            ),
        },
      );
      await page.getByLabel('Mail address').fill('ada@example.com');
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByText('The service sent an answer that this page cannot read.').waitFor();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      expect(errors).toEqual([]);
      await close(page);
    });
  });
});
