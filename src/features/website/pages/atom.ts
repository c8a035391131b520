import { escapeXml } from '../../../core/xml.ts';
import type { Release } from '../../../domain/release.ts';
import { renderNotes } from '../../../web/notes.ts';
import { withoutReordering } from '../../../web/plain-text.ts';
import { brandOf, type PageSubject, pagePath, type Site, titleOf } from '../../../web/site.ts';
import { anchorOf } from './releases-page.ts';

/** The newest releases of a channel as an Atom feed (RFC 4287). */

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8';

export interface ShownFeed extends PageSubject {
  /** The origin of PUBLIC_URL, because a feed names itself by absolute addresses. */
  readonly origin: string;
  /** At least one release, newest first. */
  readonly releases: readonly Release[];
}

/**
 * Renders the feed. Its ids are addresses that stay the same as long as PUBLIC_URL stays the same. A release has the
 * same id in the feed of every channel.
 */
export function renderAtom(site: Site, shown: ShownFeed): string {
  const { channel, origin, releases } = shown;
  const page = origin + pagePath(site, shown, '/releases');
  const feed = origin + pagePath(site, shown, '/releases.atom');
  const title = titleOf(site, shown);
  const newest =
    releases
      .map(({ releasedAt }) => utcOf(releasedAt))
      .sort()
      .at(-1) ?? '';
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${escapeXml(feed)}</id>
<title>${textOf(`Releases of ${channel.isDefault ? title : `${title} (${channel.name})`}`)}</title>
<updated>${newest}</updated>
<author><name>${textOf(brandOf(site, shown))}</name></author>
<link rel="self" type="application/atom+xml" href="${escapeXml(feed)}"/>
<link rel="alternate" type="text/html" href="${escapeXml(page)}"/>
${releases.map((release) => renderEntry(site, shown, page, release)).join('')}</feed>
`;
}

function renderEntry(site: Site, shown: ShownFeed, page: string, release: Release): string {
  const { version, releasedAt } = release;
  const anchor = `#${encodeURIComponent(anchorOf(version))}`;
  const everyChannel = { ...shown, channel: { name: '', isDefault: true } };
  const id = shown.origin + pagePath(site, everyChannel, '/releases') + anchor;
  const title = `${titleOf(site, shown)} ${version}`;
  const notes = renderNotes(release);
  const content = notes === '' ? '<p>This version has no release notes.</p>' : notes;
  return `<entry>
<id>${escapeXml(id)}</id>
<title>${textOf(title)}</title>
<published>${utcOf(releasedAt)}</published>
<updated>${utcOf(releasedAt)}</updated>
<link rel="alternate" type="text/html" href="${escapeXml(page + anchor)}"/>
<content type="html">${escapeXml(content)}</content>
</entry>
`;
}

function textOf(text: string): string {
  return escapeXml(withoutReordering(text));
}

/** The same time in UTC, so that times with different offsets sort as text. */
function utcOf(time: string): string {
  return new Date(time).toISOString();
}
