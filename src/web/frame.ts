import { html } from 'ghtml';
import {
  type ApplicationAndChannel,
  brandOf,
  type PageSubject,
  pagePath,
  type Site,
} from './site.ts';
import { isolated } from './text.ts';

/**
 * The document around the content of every page. It needs no script, and loads nothing from other
 * hosts.
 */

export interface Page {
  readonly title: string;
  /** The HTML of the main part, with the only h1 of the page. */
  readonly content: string;
  /** Undefined for a page about no application. */
  readonly about: PageSubject | undefined;
  /** The entry that the navigation marks as current. */
  readonly current?: 'download' | 'releases' | 'status';
  /** HTML for the head. */
  readonly head?: string;
}

export function renderPage(site: Site, page: Page): string {
  const { base, styleSheets } = site;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
!${styleSheets.map(
    (name) => html`<link rel="stylesheet" href="${base}/${name}">
`,
  )}<link rel="icon" href="${base}/${site.icon}">
!${page.head ?? ''}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
!${headerOf(site, page)}
<main id="content" tabindex="-1">
!${page.content}
</main>
<footer class="site-footer">
<nav aria-label="Service">
<a href="${base}/status">Status</a>
<a href="${base}/docs">API</a>
</nav>
</footer>
</body>
</html>
`;
}

function headerOf(site: Site, { about, current }: Page): string {
  const name = brandOf(site, about);
  const home = about === undefined ? `${site.base}/` : pagePath(site, about);
  const logo =
    site.logo === undefined ? '' : html`<img src="${site.base}/${site.logo}" alt="" height="32">`;
  return html`<header class="site-header">
<a class="brand" href="${home}">!${logo}!${isolated(name)}</a>
<nav aria-label="Main">
!${link(home, 'Download', current === 'download')}
!${about === undefined ? '' : link(pagePath(site, about, '/releases'), 'Releases', current === 'releases')}
!${link(`${site.base}/status`, 'Status', current === 'status')}
</nav>
</header>`;
}

function link(address: string, text: string, isCurrent: boolean): string {
  return isCurrent
    ? html`<a href="${address}" aria-current="page">${text}</a>`
    : html`<a href="${address}">${text}</a>`;
}

/** The link with which feed readers find the feed, for the head of the pages about an application. */
export function feedLink(site: Site, about: ApplicationAndChannel): string {
  return html`<link rel="alternate" type="application/atom+xml" title="Releases" href="${pagePath(site, about, '/releases.atom')}">
`;
}
