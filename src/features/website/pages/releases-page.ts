import { html } from 'ghtml';
import type { Release } from '../../../domain/release.ts';
import { feedLink, renderPage } from '../../../web/frame.ts';
import { PLATFORM_NAMES } from '../../../web/label.ts';
import { renderNotes } from '../../../web/notes.ts';
import { type PageSubject, pagePath, type Site, titleOf } from '../../../web/site.ts';
import { dayOf, isolated } from '../../../web/text.ts';
import { platformsOf, renderFileTable } from './file-list.ts';

/** The releases of a channel, with their notes and files. */

export interface ShownReleases extends PageSubject {
  /** Newest first. */
  readonly releases: readonly Release[];
  /** The number of the page, from 1. */
  readonly page: number;
  readonly pages: number;
}

export function renderReleasesPage(site: Site, shown: ShownReleases): string {
  const { channel, releases, page, pages } = shown;
  const title = titleOf(site, shown);
  const name = channel.isDefault ? title : `${title} (${channel.name})`;
  const content = html`<h1>Releases of !${isolated(title)}</h1>
<p class="quiet">!${channel.isDefault ? '' : html`Channel <strong>${channel.name}</strong>. `}<a href="${pagePath(site, shown, '/releases.atom')}">Subscribe with a feed reader (Atom)</a></p>
!${releases.map((release) => renderRelease(site, shown, release))}!${renderPages(site, shown)}`;
  return renderPage(site, {
    title: page === 1 ? `Releases of ${name}` : `Releases of ${name}, page ${page} of ${pages}`,
    content,
    about: shown,
    current: 'releases',
    head: feedLink(site, shown),
  });
}

/** The id of the HTML element of a release, for links to the release. */
export function anchorOf(version: string): string {
  return `v${version}`;
}

function renderRelease(site: Site, shown: ShownReleases, release: Release): string {
  const { version, releasedAt, artifacts, name } = release;
  const files = artifacts.map((artifact) => ({ release, artifact }));
  const id = anchorOf(version);
  const notes = renderNotes(release);
  return html`<article class="release" aria-labelledby="${id}">
<h2 id="${id}"><a href="#${encodeURIComponent(id)}">Version !${isolated(version)}</a></h2>
<p class="quiet">Released !${dayOf(releasedAt)}!${name === null ? '' : html` · !${isolated(name)}`}</p>
!${notes === '' ? '<p>This version has no release notes.</p>\n' : notes}
<details class="downloads"><summary>Files of version !${isolated(version)}</summary>
!${platformsOf(files).map(
    (platform) => html`<h3>${PLATFORM_NAMES[platform]}</h3>
!${renderFileTable(site, { about: shown, platform, files, version })}
`,
  )}</details>
</article>
`;
}

function renderPages(site: Site, shown: ShownReleases): string {
  const { page, pages } = shown;
  if (pages === 1) return '';
  const link = (to: number, text: string, rel: string): string =>
    html`<a href="${pagePath(site, shown, '/releases', to)}" rel="${rel}">${text}</a>`;
  return html`<nav class="pages" aria-label="Pages of releases">
!${page > 1 ? link(page - 1, 'Newer releases', 'prev') : '<span></span>'}
<span>Page ${page} of ${pages}</span>
!${page < pages ? link(page + 1, 'Older releases', 'next') : '<span></span>'}
</nav>
`;
}
