import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeaderRecord } from '../../../answers/answer.ts';
import { type LatestQuery, seeLatest } from '../../../answers/latest-version/list-latest.ts';
import type { SharedAnswers } from '../../../answers/shared-answers.ts';
import { type ChannelView, channelNamed, DEFAULT_CHANNEL } from '../../../domain/channel.ts';
import type { RouteDeps } from '../../../server/deps.ts';
import { type SharedAnswer, sendShared } from '../../../server/http/fast/shared-answer.ts';
import { SECURITY_HEADERS } from '../../../server/http/security-headers.ts';
import type { BrowserFiles } from '../../../web/browser-files.ts';
import type { ApplicationAndChannel, PageSubject, Site } from '../../../web/site.ts';

/** The parts that the routes of the public pages share: headers, subject, and the way to answer. */

/** A page has no script, sends no form, and loads style sheets and images only from this service. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const PAGE_HEADERS: HeaderRecord = {
  ...SECURITY_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
};

export interface PageContext extends RouteDeps {
  /** Resolves after the style sheet is built. */
  readonly site: () => Promise<Site>;
  readonly answers: SharedAnswers<SharedAnswer>;
}

/**
 * The style sheet of the brand comes last, because it replaces some colors of the style sheet of the pages.
 *
 * @param files undefined to leave out the style sheet of the pages
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

/** The channel of a page. When the visitor used an alias, this is the channel's own name. */
export function pageAbout(application: string, channel: string | undefined): ApplicationAndChannel {
  const name = channelNamed(channel ?? DEFAULT_CHANNEL);
  return { application, channel: { name, isDefault: name === DEFAULT_CHANNEL } };
}

/** An answer, and the states of the channels from which it was made. */
export interface MadeAnswer {
  readonly answer: SharedAnswer;
  readonly seen: readonly { readonly channel: ChannelView; readonly completed: number }[];
}

/**
 * Answers from a channel as every visitor sees it. A page shows nothing more to a visitor with an account.
 *
 * @param question names everything else that the answer depends on. The service keeps one answer for each question, so
 *   there must be few different questions
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
  // Every visitor is offered a release once its rollout is complete, so the number of complete rollouts is part of the
  // name.
  const { completed } = view.rolloutStage(deps.clock.now());
  const name = `${question} ${completed}`;
  const source = { view, artifact: undefined };
  const known = deps.answers.get(source, name);
  if (known !== undefined) return sendShared(request, reply, known);
  // Reads the display name at once, so that the name and the view are from the same revision.
  const { displayName } = deps.catalog.application(application).snapshot().revision;
  return make({ ...about, displayName }).then(({ answer, seen }) => {
    // The state may have changed while the service read a release. The service must not keep the answer under the name
    // of another state.
    const isSame = seen.every((each) => each.channel === view && each.completed === completed);
    sendShared(request, reply, isSame ? deps.answers.add(source, name, answer) : answer);
  });
}

export interface Asked {
  readonly deps: PageContext;
  readonly request: Pick<FastifyRequest, 'headers'>;
  readonly reply: FastifyReply;
}
