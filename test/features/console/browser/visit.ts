import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser, overflowOf, watchErrors } from '../../../e2e/website-page.ts';
import { createFixture, type Fixture, openFixtureServer } from './fixture-server.ts';

/** Opens screens of the console against fixtures, and watches what must not happen. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1440, height: 900 };

/** Sums the layout shifts that no input caused. */
const WATCH_SHIFTS = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput) window.shifts.push(entry.value);
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

export interface Visit {
  readonly page: Page;
  readonly fixture: Fixture;
  readonly origin: string;
  /** Errors of the page, and requests to another origin. */
  readonly wrong: string[];
  goto(path: string): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce';
  readonly fixture?: Partial<Fixture>;
}

async function visit(browser: Browser, options: Options = {}): Promise<Visit> {
  const { fixture: change, viewport = DESKTOP, ...rest } = options;
  const fixture = createFixture(change);
  const server = await openFixtureServer(fixture);
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', ...rest });
  await context.addInitScript(WATCH_SHIFTS);
  const page = await context.newPage();
  const wrong = watchErrors(page);
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${server.origin}/`) && !url.startsWith('data:')) wrong.push(url);
  });
  return {
    page,
    fixture,
    origin: server.origin,
    wrong,
    goto: async (path) => {
      await page.goto(server.origin + path);
    },
    close: async () => {
      await context.close();
      await server.close();
    },
  };
}

/** Opens screens in one browser for the tests of this `describe`. */
export function useConsole() {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  const visitWith = (options: Options = {}): Promise<Visit> => visit(browser, options);
  return {
    visit: visitWith,
    open: async (path: string, options?: Options): Promise<Visit> => {
      const screen = await visitWith(options);
      await screen.goto(path);
      return screen;
    },
    press: (page: Page, name: string | RegExp) =>
      page.getByRole('button', { name, exact: true }).click(),
  };
}

/** What axe-core finds wrong, one line each. */
export async function violationsOf(page: Page): Promise<string[]> {
  // The debugger runs it: the page's Content-Security-Policy refuses scripts of others.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe-core is loaded into the page
    const { violations } = await (globalThis as any).axe.run();
    return violations.flatMap(
      (violation: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
        violation.nodes.map(
          ({ html, failureSummary }) =>
            `${violation.id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`,
        ),
    );
  });
}

export const shiftOf = (page: Page): Promise<number> =>
  page.evaluate('window.shifts.reduce((sum, value) => sum + value, 0)');

export { overflowOf };
