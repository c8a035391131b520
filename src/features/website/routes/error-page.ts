import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { type ErrorCode, kindOf } from '../../../core/errors.ts';
import { prepareProblem } from '../../../server/http/problem.ts';
import { renderPage } from '../../../web/frame.ts';
import { pagePath, type Site } from '../../../web/site.ts';
import { PAGE_HEADERS, pageAbout } from './page-answer.ts';

/** Pages for errors. The error that nothing is released yet also gets such a page. */

interface Message {
  readonly title: string;
  /** Tells the visitor what to do. */
  readonly sentence: string;
  /** Links to pages that may help the visitor. The paths are below the base. */
  readonly links: readonly { readonly path: string; readonly text: string }[];
  /** The id by which the operator finds the request in the log; undefined when the operator does not need it. */
  readonly requestId?: string | undefined;
}

const STATUS = { path: '/status', text: 'Status of the service' };
const DOCS = { path: '/docs', text: 'API of the service' };

type Said = Pick<Message, 'title' | 'sentence'>;

const NOTHING_RELEASED: Said = {
  title: 'Nothing is released yet',
  sentence: 'The download will be on this page as soon as the first release is published.',
};

const SAID: Partial<Readonly<Record<ErrorCode, Said>>> = {
  unknown_application: {
    title: 'There is no such application',
    sentence: 'No application of this service has the name in this address.',
  },
  unknown_channel: {
    title: 'There is no such channel',
    sentence: 'The application has no channel with the name in this address.',
  },
  no_release: {
    title: 'Nothing is released here',
    sentence: 'This channel has no release for visitors.',
  },
  not_entitled: {
    title: 'This channel is not public',
    sentence:
      'Only some accounts get the releases of this channel, and they get them in the application.',
  },
};

const UNAVAILABLE: Said = {
  title: 'Not available right now',
  sentence: 'The service cannot answer at the moment. Try again in a minute.',
};

export async function sendErrorPage(
  site: () => Promise<Site>,
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { code, detail, status, request_id } = prepareProblem(error, request, reply);
  const known = await site();
  const { app } = (request.params ?? {}) as { app?: string };
  const isFirst = app === known.defaultApplication && code === 'unknown_application';
  const isServerError = status >= 500;
  const said = isFirst ? NOTHING_RELEASED : (SAID[code] ?? saidOf(code, detail));
  const page = renderMessagePage(known, {
    ...said,
    links: [...waysOf(known, code, app), STATUS, ...(isFirst ? [DOCS] : [])],
    requestId: isServerError ? request_id : undefined,
  });
  return reply.headers(PAGE_HEADERS).send(page);
}

function saidOf(code: ErrorCode, detail: string): Said {
  if (kindOf(code) === 'unavailable' || code.startsWith('store_')) return UNAVAILABLE;
  if (code === 'route_not_found') return { title: 'There is no such page', sentence: detail };
  return { title: 'This page cannot be shown', sentence: detail };
}

/** Links to pages that exist, for a visitor whose address does not exist. */
function waysOf(site: Site, code: ErrorCode, app: string | undefined): Message['links'] {
  const base = { base: '' };
  if (code === 'unknown_application' && app !== site.defaultApplication) {
    const about = pageAbout(site.defaultApplication, undefined);
    return [{ path: pagePath(base, about), text: `Download ${site.defaultApplication}` }];
  }
  const isChannel = ['unknown_channel', 'no_release', 'not_entitled'].includes(code);
  if (app !== undefined && (isChannel || code === 'route_not_found')) {
    return [{ path: pagePath(base, pageAbout(app, undefined)), text: 'Stable releases' }];
  }
  return [];
}

function renderMessagePage(site: Site, message: Message): string {
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
