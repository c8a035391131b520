import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { release } from '../server/support.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  COUNT_SHIFTS,
  DESKTOP,
  launchBrowser,
  openWebsite,
  type PageOptions,
  type Piece,
  type Website,
  watchErrors,
  watchStrangers,
} from './website-page.ts';

/** Visits of pages with elements, on a website with the policy that docs/website recommends. */

/** Turns the text around it, adds markup, and is as long as a service could ever send. */
export const HOSTILE = `\u202e<img src=x onerror="globalThis.isTaken=true">\u2066${'W'.repeat(10_000)}`;

/** An answer in place of the service's. */
export const answer = (body: unknown, status = 200, headers = {}) => ({
  status,
  headers: { 'access-control-allow-origin': '*', ...headers },
  contentType: 'application/json',
  body: JSON.stringify(body),
});

interface Visit {
  readonly page: Page;
  /** Errors of the page, and of its policy. */
  readonly errors: string[];
  /** Requests to other hosts than the website and the service. */
  readonly strangers: string[];
}

interface VisitOptions extends PageOptions {
  readonly viewport?: typeof DESKTOP;
  readonly waitUntil?: 'commit' | 'load';
  readonly before?: (page: Page) => Promise<unknown>;
}

export interface Visits {
  readonly website: Website;
  readonly service: TestService;
  /** The address of the service. */
  readonly url: string;
  visit(piece: Piece, options?: VisitOptions): Promise<Visit>;
}

/** A service without COOKIE_MODE that has a release, a website, and a browser, for all tests of a suite. */
export function useVisits(): () => Visits {
  let opened: (Visits & { readonly browser: Browser }) | undefined;
  beforeAll(async () => {
    const [browser, website] = await Promise.all([launchBrowser(), openWebsite()]);
    const env = {
      ...{ WEBSITE_ORIGINS: website.origin, CONTACT_PER_ADDRESS: '1000' },
      ...{ IDENTITY_PROVIDER: 'embedded', AUTH_PER_ADDRESS: '1000' },
    };
    const service = await createTestService({ env, store: 'directory' });
    await release(service, '2.0.0', ['linux x64 deb', 'linux x64 appimage', 'macos arm64 dmg']);
    const url = await service.listen();
    const visit = (piece: Piece, options: VisitOptions = {}) =>
      visitPage(browser, website, url, piece, options);
    opened = { browser, website, service, url, visit };
  });
  afterAll(async () => {
    await opened?.browser.close();
    await Promise.all([opened?.website.close(), opened?.service.close()]);
  });
  return () => {
    if (opened === undefined) throw new Error('The suite has not begun.');
    return opened;
  };
}

async function visitPage(
  browser: Browser,
  website: Website,
  url: string,
  piece: Piece,
  options: VisitOptions,
): Promise<Visit> {
  const { viewport = DESKTOP, waitUntil = 'load', before, ...served } = options;
  const page = await (await browser.newContext({ viewport })).newPage();
  const errors = watchErrors(page);
  const strangers = watchStrangers(page, [website.origin, url]);
  await page.addInitScript(COUNT_SHIFTS);
  await before?.(page);
  await page.goto(website.pageOf(piece, url, { as: 'element', ...served }), { waitUntil });
  return { page, errors, strangers };
}

export const closeVisit = (page: Page): Promise<void> => page.context().close();

/** What an element shows. */
export const contentOf = (page: Page, piece: Piece) =>
  page.locator(`slipway-${piece} [part=content]`);
