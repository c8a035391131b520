import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** A website made of the pieces in docs/website, and a browser to visit it with. */

export const CHROMIUM = process.env.TEST_CHROMIUM ?? '/usr/bin/chromium';
const isThere = existsSync(CHROMIUM);
if (!isThere) {
  console.log(`skipped: what needs a browser; there is none at ${CHROMIUM} (TEST_CHROMIUM)`);
}
/** In CI there must be one. */
export const skipsBrowser = !isThere && process.env.CI === undefined;

const ADDRESS = 'https://updates.example.com';

export const PIECES = ['download', 'status', 'contact', 'sign-in'] as const;
export type Piece = (typeof PIECES)[number];

/** @param piece as it is in docs/website */
function readPiece(piece: Piece): string {
  const file = path.resolve(import.meta.dirname, '../../docs/website', `${piece}.html`);
  return readFileSync(file, 'utf8');
}

/** A piece of docs/website as it is copied, or the custom element that does the same. */
export type Form = 'piece' | 'element';
export const FORMS: readonly Form[] = ['piece', 'element'];

export interface PageOptions {
  /** Default: the piece. */
  readonly as?: Form | undefined;
  /** The service whose script has the element. Default: the service that it asks. */
  readonly scripts?: string | undefined;
  /** Attributes of the element, as HTML. */
  readonly attributes?: string;
  /** What is in the page instead of one element, as HTML. */
  readonly content?: string;
  /** A style sheet of the website. */
  readonly style?: string;
  /** Sources that the policy of the page also allows: the sources of a captcha. */
  readonly allowed?: string;
}

export interface Website {
  /** The service must know it: WEBSITE_ORIGINS. Another origin than the service's, and the same site. */
  readonly origin: string;
  /** The address of a page with one piece that asks the service at `slipway`. */
  pageOf(piece: Piece, slipway: string, options?: PageOptions): string;
  close(): Promise<void>;
}

const HEAD = '<meta name="viewport" content="width=device-width"><title>Website</title>';

/** What a page shows until the element is there, and without JavaScript. */
const fallbackOf = (piece: Piece, slipway: string): string =>
  piece === 'download'
    ? ['windows', 'macos', 'linux']
        .map((os) => `<a href="${slipway}/api/v1/desktop/download/${os}">${os}</a>`)
        .join(' ')
    : '<a href="/other-way">Another way</a>';

/** A block of docs/website/README.md. */
function recommended(pattern: RegExp): string {
  const file = path.resolve(import.meta.dirname, '../../docs/website/README.md');
  const [, block] = pattern.exec(readFileSync(file, 'utf8')) ?? [];
  if (block === undefined) throw new Error(`${file} has no block that matches ${pattern}.`);
  return block.replace(/\s+/g, ' ').trim();
}

/** The style with which a page does not move when the elements arrive. */
export const RESERVED_SPACE = recommended(/```css\n([\s\S]*?)```/);
const POLICY = recommended(/```\n(default-src[\s\S]*?)```/);

function policyOf(sources: string, allowed: string): string {
  const policy = POLICY.replaceAll(ADDRESS, sources);
  if (allowed === '') return policy;
  return `${policy.replace("script-src 'self'", `script-src 'self' ${allowed}`)}; frame-src ${allowed}`;
}

interface ServedPage {
  readonly html: string;
  readonly policy?: string;
}

function pieceOf(piece: Piece, slipway: string): ServedPage {
  // Only the address is replaced, as docs/website tells readers to do.
  const content = readPiece(piece).replaceAll(ADDRESS, slipway);
  return {
    html: `<!doctype html><html lang="en">${HEAD}<link rel="icon" href="data:,"><main>${content}</main></html>`,
  };
}

function elementOf(piece: Piece, slipway: string, options: PageOptions): ServedPage {
  const { scripts = slipway, attributes = '', style = '', allowed = '' } = options;
  const name = `slipway-${piece}`;
  // Without the attribute, the element asks the service that its script came from.
  const service = scripts === slipway ? '' : ` service="${slipway}"`;
  const { content = `<${name}${service} ${attributes}>${fallbackOf(piece, slipway)}</${name}>` } =
    options;
  return {
    html: `<!doctype html><html lang="en">${HEAD}<link rel="icon" href="/icon"><link rel="stylesheet" href="/style?${encodeURIComponent(style)}"><script type="module" src="${scripts}/elements/${piece}.js"></script><main><h1>Website</h1>${content}<p id="below">Below</p></main></html>`,
    policy: policyOf(`${new URL(scripts).origin} ${slipway}`, allowed),
  };
}

export async function openWebsite(): Promise<Website> {
  const pages = new Map<string, ServedPage>();
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://website');
    const page = pages.get(pathname);
    if (pathname === '/style') {
      response.setHeader('content-type', 'text/css');
      return response.end(decodeURIComponent(search.slice(1)));
    }
    if (pathname === '/icon') return response.writeHead(204).end();
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (page === undefined) return response.writeHead(404).end();
    if (page.policy !== undefined) response.setHeader('content-security-policy', page.policy);
    return response.end(page.html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    pageOf: (piece, slipway, options = {}) => {
      const isPiece = options.as !== 'element';
      const page = isPiece ? pieceOf(piece, slipway) : elementOf(piece, slipway, options);
      const path = `/${pages.size}`;
      pages.set(path, page);
      return `${origin}${path}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Playwright's list, which this one replaces, and the pages of the address bar: two more processes for each window. */
const FEATURES_OFF = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${FEATURES_OFF.join(',')}`,
    ],
  });
}

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** The element with the focus, also inside a custom element. */
export const FOCUSED = `(() => {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
})()`;

/** Presses Tab until what is wanted has the focus. @throws Error when it never has */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 30; presses++) {
    const isThere = `${FOCUSED}?.matches(${JSON.stringify(selector)}) === true`;
    if (await page.evaluate(isThere)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The keyboard never comes to ${selector}.`);
}

/** What goes wrong in the page itself; requests that are refused are no part of it. */
export function watchErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) {
      errors.push(message.text());
    }
  });
  return errors;
}

/** The violations that axe-core finds. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  await page.evaluate(readFileSync(source, 'utf8'));
  return (await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))",
  )) as string[];
}

/** The address of every request that goes to another host than these. */
export function watchStrangers(page: Page, addresses: readonly string[]): string[] {
  const known = new Set(addresses.map((address) => new URL(address).host));
  const strangers: string[] = [];
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !known.has(host)) strangers.push(request.url());
  });
  return strangers;
}

/** Counts how far the page moves without the visitor's doing: https://web.dev/articles/cls */
export const COUNT_SHIFTS = `
  globalThis.shifts = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth');
