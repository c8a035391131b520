import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { listMessages } from '../../../src/features/contact/inspect.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
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
} from '../../e2e/website-page.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../support/service.ts';

describe.skipIf(skipsBrowser).each(FORMS)('the contact form on a website, as %s', (as) => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  let browser: Browser;
  let website: Website;
  let service: TestService;
  let url: string;

  beforeAll(async () => {
    [browser, website] = await Promise.all([launchBrowser(), openWebsite()]);
    const env = { WEBSITE_ORIGINS: website.origin, CONTACT_PER_ADDRESS: '1000' };
    service = await createTestService({ env, store });
    url = await service.listen();
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([website?.close(), service?.close()]);
  });

  /** A script that finds an element of the page, also inside the custom element. */
  const find = (selector: string): string =>
    as === 'piece'
      ? `document.querySelector('${selector}')`
      : `document.querySelector('slipway-contact').shadowRoot.querySelector('${selector}')`;

  const open = async (viewport = DESKTOP): Promise<Page> => {
    const opened = await browser.newContext({ viewport });
    const page = await opened.newPage();
    await page.goto(website.pageOf('contact', url, { as }));
    await page.locator('button:enabled').waitFor();
    return page;
  };
  /** By keyboard, from field to field. */
  const type = async (page: Page, texts: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(texts)) {
      await tabTo(page, `[name=${name}]`);
      await page.keyboard.type(text);
    }
  };
  const message = (subject: string) => ({
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    subject,
    message: 'Does it run on the engine?',
  });
  const stored = async (subject: string) =>
    (await listMessages(store, { state: undefined, limit: 100, hasMail: true })).filter(
      (one) => one.subject === subject,
    );
  const keysOf = (page: Page): string[] => {
    const keys: string[] = [];
    page.on('request', (request) => {
      const key = request.headers()['idempotency-key'];
      if (request.method() === 'POST' && key !== undefined) keys.push(key);
    });
    return keys;
  };

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])(
    'sends one message on %s, by keyboard, however often Enter is pressed',
    async (name, viewport) => {
      const page = await open(viewport);
      const errors = watchErrors(page);
      const subject = `From ${name}`;
      await type(page, message(subject));
      await tabTo(page, 'button');
      await Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')]);
      await page.getByText('Thank you. Your message has arrived.').waitFor();
      expect(await stored(subject)).toMatchObject([message(subject)]);
      expect(await page.getByLabel('Message').inputValue()).toBe('');
      expect(await page.evaluate(`${FOCUSED}.matches('button')`)).toBe(true);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(errors).toEqual([]);
      await page.context().close();
    },
  );

  it('hides the honeypot field from visitors and from screen readers', async () => {
    const page = await open();
    expect(await page.getByRole('textbox').count()).toBe(4);
    expect(await page.locator('[name=website]').isVisible()).toBe(false);
    await page.evaluate(`${find('[name=website]')}.value = 'https://spam.example'`);
    await type(page, message('Spam'));
    await page.keyboard.press('Control+Enter');
    await tabTo(page, 'button');
    await page.keyboard.press('Enter');
    await page.getByText('Thank you.').waitFor();
    expect(await stored('Spam')).toEqual([]);
    await page.context().close();
  });

  it('shows the error beside its field, and moves the focus there', async () => {
    const page = await open();
    await type(page, { ...message('Wrong'), email: 'ada@localhost' });
    await tabTo(page, 'button');
    await page.keyboard.press('Enter');
    await page.getByText('This must be a mail address.').waitFor();
    const field = page.locator('[name=email]');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.getAttribute('aria-describedby')).toBe('contact-email-error');
    expect(await page.evaluate(`${FOCUSED}.name`)).toBe('email');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('ada@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('Thank you.').waitFor();
    expect(await page.getByText('This must be').count()).toBe(0);
    expect(await field.getAttribute('aria-invalid')).toBeNull();
    await page.context().close();
  });

  it('waits for the time in Retry-After, and a second try stores the message once', async () => {
    const page = await open();
    const keys = keysOf(page);
    await page.clock.install();
    await type(page, message('Later'));
    store.goDown();
    await tabTo(page, 'button');
    await page.keyboard.press('Enter');
    await page.getByText(/You can send it again in \d+ seconds\./).waitFor();
    await page.keyboard.press('Enter');
    store.comeUp();
    await page.clock.runFor(10_000);
    await page.getByText('You can send it again now.').waitFor();
    expect(keys.length).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByText('Thank you.').waitFor();
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(await stored('Later')).toHaveLength(1);
    await page.context().close();
  });

  it('stores the message once even when the first answer was lost', async () => {
    const page = await open();
    const keys = keysOf(page);
    let isLost = false;
    await page.route(/\/api\/v1\/contact$/, async (route) => {
      if (isLost || route.request().method() !== 'POST') return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await type(page, message('Lost'));
    await tabTo(page, 'button');
    await page.keyboard.press('Enter');
    await page.getByText('The service did not answer.').waitFor();
    expect(await stored('Lost')).toHaveLength(1);
    await page.keyboard.press('Enter');
    await page.getByText('Thank you.').waitFor();
    expect(await stored('Lost')).toHaveLength(1);
    // Another message is another one.
    await type(page, message('Found'));
    await tabTo(page, 'button');
    await page.keyboard.press('Enter');
    await expect.poll(() => stored('Found')).toHaveLength(1);
    expect(new Set(keys).size).toBe(2);
    await page.context().close();
  });
});
