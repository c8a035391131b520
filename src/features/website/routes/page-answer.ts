import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeaderRecord } from '../../../answers/answer.ts';
import { type LatestQuery, seeLatest } from '../../../answers/latest-version/list-latest.ts';
import type { SharedAnswers } from '../../../answers/shared-answers.ts';
import { type ChannelView, channelNamed, DEFAULT_CHANNEL } from '../../../domain/channel.ts';
import type { RouteDeps } from '../../../server/deps.ts';
import { SECURITY_HEADERS } from '../../../server/http/security-headers.ts';
import { type SharedAnswer, sendShared } from '../../../server/http/shared-answer.ts';
import type { BrowserFiles } from '../../../web/browser-files.ts';
import type { ApplicationAndChannel, PageSubject, Site } from '../../../web/site.ts';

/** The routes of the public pages share their headers, their subject, and how they answer. */

/** A page has no script, sends no form, and loads style sheets and images only from this service. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const PAGE_HEADERS: HeaderRecord = {
  ...SECURITY_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
};

export interface PageContext extends RouteDeps {
  /** Known once the style sheet is built. */
  readonly site: () => Promise<Site>;
  readonly answers: SharedAnswers<SharedAnswer>;
}

/**
 * The style sheet of the brand comes after the one of the pages, because it replaces colors of that one.
 *
 * @param files undefined: without the style sheet of the pages
 */
export function siteOf(
  { base, defaultApplication }: Pick<Site, 'base' | 'defaultApplication'>,
  brand: { readonly name: string | undefined },
  { logo, icon, style }: Pick<Site, 'logo' | 'icon'> & { readonly style: string | undefined },
  files: BrowserFiles | undefined,
): Site {
  const styleSheets = [files?.nameOf('pages.css'), style].filter((name) => name !== undefined);
  return { base, defaultApplication, brandName: brand.name, logo, icon, styleSheets };
}

/** The channel of a page, by its own name when the visitor used an alias. */
export function pageAbout(application: string, channel: string | undefined): ApplicationAndChannel {
  const name = channelNamed(channel ?? DEFAULT_CHANNEL);
  return { application, channel: { name, isDefault: name === DEFAULT_CHANNEL } };
}

/** An answer, and the states of the channels that it was made from. */
export interface MadeAnswer {
  readonly answer: SharedAnswer;
  readonly seen: readonly { readonly channel: ChannelView; readonly completed: number }[];
}

/**
 * Answers from a channel as every visitor sees it: on a page, no account sees more.
 *
 * @param question identifies what else the answer depends on; answers are kept for each, so it must
 *   have few different values
 */
export function answerFromChannel(
  { deps, request, reply }: Asked,
  about: ApplicationAndChannel,
  question: string,
  make: (about: PageSubject) => Promise<MadeAnswer>,
): void | Promise<void> {
  const { application, channel } = about;
  const query: LatestQuery = { application, channel: channel.name, platform: null, arch: null };
  const view = seeLatest(deps, query, null);
  // Every visitor is offered a release once its rollout is complete.
  const { completed } = view.rolloutStage(deps.clock.now());
  const name = `${question} ${completed}`;
  const source = { view, artifact: undefined };
  const known = deps.answers.get(source, name);
  if (known !== undefined) return sendShared(request, reply, known);
  // Read at once, so that the display name is of the same revision as the view.
  const { displayName } = deps.catalog.application(application).snapshot().revision;
  return make({ ...about, displayName }).then(({ answer, seen }) => {
    // The state may have changed while a release was read: the answer must not be kept under the name of another state.
    const isSame = seen.every((each) => each.channel === view && each.completed === completed);
    sendShared(request, reply, isSame ? deps.answers.add(source, name, answer) : answer);
  });
}

export interface Asked {
  readonly deps: PageContext;
  readonly request: Pick<FastifyRequest, 'headers'>;
  readonly reply: FastifyReply;
}
