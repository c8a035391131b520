import { html } from 'ghtml';
import { renderPage } from './frame.ts';
import type { Site } from './site.ts';

/** A page with a message: an error, or that nothing is released yet. */

export interface Message {
  readonly title: string;
  /** Tells the visitor what to do. */
  readonly sentence: string;
  /** Pages that may help the visitor; paths below the base. */
  readonly links: readonly { readonly path: string; readonly text: string }[];
  /** Identifies the request in the log; undefined when the operator does not need it. */
  readonly requestId?: string | undefined;
}

export function renderMessagePage(site: Site, message: Message): string {
  const { title, sentence, links, requestId } = message;
  const content = html`<section class="message">
<h1>${title}</h1>
<p>${sentence}</p>
<ul class="ways">
!${links.map(
    ({ path, text }) => html`<li><a href="${site.base}${path}">${text}</a></li>
`,
  )}</ul>
!${requestId === undefined ? '' : html`<p class="quiet">Request <code>${requestId}</code></p>`}</section>`;
  return renderPage(site, { title, content, about: undefined });
}
