import { html } from 'ghtml';

/** The page that loads the console, and the page that says why a request for it was refused. */

interface ConsolePage {
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly base: string;
  readonly mode: 'local' | 'service';
  /** Names of files, such as `assets/console-3F2A7C1B.js`. */
  readonly script: string;
  readonly style: string;
}

export function renderConsolePage({ base, mode, script, style }: ConsolePage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Slipway console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/${style}">
</head>
<body>
<div id="console" data-base="${base}" data-mode="${mode}"></div>
<noscript><p>The console needs JavaScript. Without it, use the commands of slipway: run "slipway help" to list them.</p></noscript>
<script type="module" src="${base}/${script}"></script>
</body>
</html>
`;
}

/** A page that goes on by itself. @param url without characters that a meta element reads, such as a semicolon */
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

/** @param sentence what is wrong, and what to do */
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
