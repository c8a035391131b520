import { setTimeout as sleep } from 'node:timers/promises';
import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { answer, closeVisit, contentOf, HOSTILE, useVisits } from './element-visit.ts';
import {
  DESKTOP,
  overflowOf,
  PHONE,
  PIECES,
  type Piece,
  RESERVED_SPACE,
  skipsBrowser,
  violationsOf,
} from './website-page.ts';

/** What only the elements do; `website.system.test.ts` has what the plain pieces do as well. */

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
const slowly = async (route: Route): Promise<void> => {
  await sleep(SLOW_MS);
  await route.continue();
};

/** Counts the requests of a page in the page: an event would arrive here only after the clock has gone on. */
const COUNT_REQUESTS = `
  const send = window.fetch;
  window.asked = 0;
  window.fetch = (...request) => {
    window.asked += 1;
    return send(...request);
  };
`;

describe.skipIf(skipsBrowser)('the elements on a website with a strict policy', () => {
  const visits = useVisits();

  describe.each(PIECES)('%s', (piece) => {
    it.each([
      ['a desktop', 'light', DESKTOP, LIGHT],
      ['a phone', 'light', PHONE, LIGHT],
      ['a desktop', 'dark', DESKTOP, DARK],
      ['a phone', 'dark', PHONE, DARK],
    ] as const)(
      'on %s, %s: is accessible, keeps the policy, and moves nothing when it arrives late',
      async (_name, _scheme, viewport, style) => {
        let sendScript = () => {};
        const wanted = new Promise<void>((resolve) => {
          sendScript = resolve;
        });
        const { page, errors, strangers } = await visits().visit(piece, {
          style: `${style} ${RESERVED_SPACE}`,
          viewport,
          waitUntil: 'commit',
          before: async (page) => {
            await page.route(/\/api\//, slowly);
            await page.route(/\/elements\//, (route) => wanted.then(() => route.continue()));
          },
        });
        await page.locator(`slipway-${piece} > a`).first().waitFor();
        sendScript();
        await contentOf(page, piece).getByText(READY[piece]).first().waitFor();
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
        await closeVisit(page);
      },
    );

    it('keeps its fallback when the script does not arrive', async () => {
      const { page } = await visits().visit(piece, {
        before: (page) => page.route(/\/elements\//, (route) => route.abort()),
      });
      expect(await page.locator(`slipway-${piece} > a`).first().isVisible()).toBe(true);
      await closeVisit(page);
    });

    it('keeps its fallback when its service is not an address', async () => {
      const { page, errors } = await visits().visit(piece, {
        content: `<slipway-${piece} service="https://"><a href="/other-way">Another way</a></slipway-${piece}>`,
      });
      expect(await page.getByRole('link', { name: 'Another way' }).isVisible()).toBe(true);
      expect(errors.join()).toContain('Invalid URL');
      await closeVisit(page);
    });

    it('asks the service below the path from which its script came', async () => {
      const { page, errors } = await visits().visit(piece, {
        scripts: `${visits().website.origin}/updates`,
        content: `<slipway-${piece}></slipway-${piece}>`,
        before: (page) =>
          page.route(`${visits().website.origin}/updates/**`, (route) =>
            route.continue({
              url: route
                .request()
                .url()
                .replace(`${visits().website.origin}/updates`, visits().url),
            }),
          ),
      });
      await contentOf(page, piece).getByText(READY[piece]).first().waitFor();
      const element = `document.querySelector('slipway-${piece}')`;
      expect(await page.evaluate(`${element}.service`)).toBe(`${visits().website.origin}/updates`);
      expect(errors).toEqual([]);
      await closeVisit(page);
    });

    it('can be there several times, come and go, and be of another service', async () => {
      const name = `slipway-${piece}`;
      const { page, errors } = await visits().visit(piece, {
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
        `document.querySelector('${name}').setAttribute('service', '${visits().url}/other//')`,
      );
      const element = `document.querySelector('${name}')`;
      expect(await page.evaluate(`${element}.service`)).toBe(`${visits().url}/other`);
      if (piece === 'download' || piece === 'status') {
        await expect.poll(() => asked.some((each) => each.includes('/other/api/'))).toBe(true);
      }
      await page.evaluate(`for (const each of document.querySelectorAll('${name}')) each.remove()`);
      expect(errors).toEqual([]);
      await closeVisit(page);
    });
  });

  describe('the download button', () => {
    it('is of its application, channel and preferred format, and follows its attributes', async () => {
      const { page, errors } = await visits().visit('download', {
        attributes: 'app="desktop" format="msi deb"',
      });
      await page.getByText('Version 2.0.0').waitFor();
      const button = page.locator('#download');
      expect(await button.getAttribute('href')).toBe(
        `${visits().url}/api/v1/desktop/download/linux?arch=x64&format=deb&app=desktop`,
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
        `${visits().url}/api/v1/desktop/download/linux?arch=x64&format=appimage&app=desktop&channel=stable`,
      );
      expect(errors).toEqual([]);
      await closeVisit(page);
    });

    it('shows what a service sends as text, in one line, and of bounded length', async () => {
      const file = { platform: 'linux', arch: 'x64', format: HOSTILE, version: HOSTILE, size: 5e6 };
      const { page, errors, strangers } = await visits().visit('download', {
        viewport: PHONE,
        before: (page) =>
          page.route(/latest-version/, (route) => route.fulfill(answer({ downloads: [file] }))),
      });
      await page.getByText('Version <img').waitFor();
      await page.locator('summary').click();
      const shown = await contentOf(page, 'download').innerText();
      expect(shown.length).toBeLessThan(1_000);
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await page.evaluate('globalThis.isTaken')).toBe(undefined);
      expect([errors, strangers]).toEqual([[], []]);
      await closeVisit(page);
    });

    it.each([
      ['503', answer({ code: 'overloaded', detail: 'Busy.' }, 503)],
      ['an answer of another server', { ...answer(''), body: '<h1>Log in</h1>' }],
      ['JSON of another server', answer({ ok: true })],
    ])('keeps its links, and moves nothing, with %s', async (_name, response) => {
      const { page, errors } = await visits().visit('download', {
        viewport: PHONE,
        style: `${LIGHT} ${RESERVED_SPACE}`,
        before: (page) =>
          page.route(/latest-version/, (route) =>
            sleep(SLOW_MS).then(() => route.fulfill(response)),
          ),
      });
      await page.getByText('The version cannot be shown at the moment.').waitFor();
      expect(await page.locator('#download').getAttribute('href')).toContain('/download/linux');
      expect(await page.locator('#downloads a').count()).toBe(3);
      expect(errors).toEqual([]);
      await closeVisit(page);
    });
  });

  describe('the status badge', () => {
    it('links to the status page, and takes no markup from a service', async () => {
      const body = {
        status: { indicator: 'major"><script>', description: HOSTILE },
        components: [{ name: HOSTILE, status: 'major_outage' }],
      };
      const { page, errors, strangers } = await visits().visit('status', {
        viewport: PHONE,
        before: (page) => page.route(/system\/status/, (route) => route.fulfill(answer(body))),
      });
      await page.getByText('<img').waitFor();
      expect(await page.getByRole('link').getAttribute('href')).toBe(`${visits().url}/status`);
      const shown = await contentOf(page, 'status').innerText();
      expect(shown.length).toBeLessThan(1_000);
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await violationsOf(page)).toEqual([]);
      expect([errors, strangers]).toEqual([[], []]);
      await closeVisit(page);
    });

    it('does not know the status while the service is busy, and asks no sooner than it is told', async () => {
      const { page } = await visits().visit('status', {
        before: async (page) => {
          await page.clock.install();
          await page.addInitScript(COUNT_REQUESTS);
          await page.route(/system\/status/, (route) =>
            route.fulfill(
              answer({}, 503, {
                'retry-after': '300',
                'access-control-expose-headers': 'retry-after',
              }),
            ),
          );
        },
      });
      await page.getByText('The service is busy. Its status is not known.').waitFor();
      const countAsked = () => page.evaluate<number>('window.asked');
      await page.clock.runFor(260_000);
      expect(await countAsked()).toBe(1);
      // In small steps: the page gives up a request after ten seconds, and the clock is faster than the answer.
      const answered = page.waitForResponse(/system\/status/);
      for (let step = 0; step < 16 && (await countAsked()) === 1; step++) {
        await page.clock.runFor(5_000);
      }
      await answered;
      await page.evaluate("document.querySelector('slipway-status').remove()");
      await page.clock.runFor(900_000);
      expect(await countAsked()).toBe(2);
      await closeVisit(page);
    });
  });
});
