import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** A website made of the pieces in docs/website, and a browser to visit it with. */

const CHROMIUM = process.env.TEST_CHROMIUM ?? '/usr/bin/chromium';
const isThere = existsSync(CHROMIUM);
if (!isThere) {
  console.log(`skipped: what needs a browser; there is none at ${CHROMIUM} (TEST_CHROMIUM)`);
}
/** In CI there must be one. */
export const skipsBrowser = !isThere && process.env.CI === undefined;

const ADDRESS = 'https://updates.example.com';

const PIECES = ['download', 'status', 'contact', 'sign-in'] as const;
export type Piece = (typeof PIECES)[number];

/** @param piece as it is in docs/website */
function readPiece(piece: Piece): string {
  const file = path.resolve(import.meta.dirname, '../../docs/website', `${piece}.html`);
  return readFileSync(file, 'utf8');
}

export interface Website {
  /** The service must know it: WEBSITE_ORIGINS. Another origin than the service's, and the same site. */
  readonly origin: string;
  /** The address of a page with one piece that asks the service at `slipway`. */
  pageOf(piece: Piece, slipway: string): string;
  close(): Promise<void>;
}

export async function openWebsite(): Promise<Website> {
  const pieces = new Map(PIECES.map((name): [string, string] => [name, readPiece(name)]));
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://website');
    const piece = pieces.get(pathname.slice(1));
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (piece === undefined) return response.writeHead(404).end();
    // Only the address is replaced, as docs/website tells readers to do.
    const content = piece.replaceAll(ADDRESS, searchParams.get('slipway') ?? ADDRESS);
    return response.end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Website</title><link rel="icon" href="data:,"><main>${content}</main></html>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    pageOf: (piece, slipway) => `${origin}/${piece}?slipway=${encodeURIComponent(slipway)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Presses Tab until what is wanted has the focus. @throws Error when it never has */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 30; presses++) {
    const isThere = `document.activeElement?.matches(${JSON.stringify(selector)}) === true`;
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

export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth');
