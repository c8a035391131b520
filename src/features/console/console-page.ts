import { html } from 'ghtml';
import type { BrowserFileDeps } from '../../server/browser-file-routes.ts';
import type { App } from '../../server/deps.ts';
import type { BrowserFiles } from '../../web/browser-files.ts';

/**
 * The pages of the console: the page that loads the console, the page that leads to it, and the page that says why it
 * is refused.
 */

/** The page loads only files of this service, and has no inline scripts. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  // The page names the files of its version of Slipway, so a browser must check for a newer page before it shows a
  // stored page.
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

export interface ConsolePageDeps extends BrowserFileDeps {
  readonly mode: 'local' | 'service';
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly basePath: string;
}

/** One page for all screens. The page has no data. */
export function registerConsolePage(app: App, deps: ConsolePageDeps): void {
  for (const url of ['/console', '/console/*']) {
    const options = { config: { localAccess: 'screen' }, schema: { hide: true } } as const;
    app.get(url, options, async (_request, reply) => {
      const files = await deps.browserFiles();
      return reply.headers(PAGE_HEADERS).send(renderConsolePage(deps, files));
    });
  }
}

function renderConsolePage({ mode, basePath }: ConsolePageDeps, files: BrowserFiles): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Slipway console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}/${files.nameOf('console.css')}">
</head>
<body>
<div id="console" data-base="${basePath}" data-mode="${mode}"></div>
<noscript><p>The console needs JavaScript. Without it, use the commands of slipway: run "slipway help" to list them.</p></noscript>
<script type="module" src="${basePath}/${files.nameOf('console.js')}"></script>
</body>
</html>
`;
}

/**
 * A page that leads the browser to another address by itself. @param url without characters that have a meaning in a
 * meta element, such as a semicolon
 */
export function renderOpeningPage(url: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=${url}">
<title>Slipway console</title>
<link rel="icon" href="data:,">
</head>
<body>
<p><a href="${url}">Open the console</a></p>
</body>
</html>
`;
}

/** @param sentence the problem, and what the operator can do */
export function renderRefusalPage(title: string, sentence: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>${title}</h1>
<p>${sentence}</p>
</main>
</body>
</html>
`;
}
