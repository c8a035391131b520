import { z } from 'zod';
import { cacheControl } from '../../../answers/answer.ts';
import type { App } from '../../../server/deps.ts';
import { sharePage } from '../../../server/http/fast/shared-answer.ts';
import { word } from '../../../server/http/validation.ts';
import type { ApplicationAndChannel, PageSubject } from '../../../web/site.ts';
import { type ChangelogQuery, listChangelog } from '../list-changelog.ts';
import { ATOM_TYPE, renderAtom } from '../pages/atom.ts';
import { renderReleasesPage } from '../pages/releases-page.ts';
import {
  answerFromChannel,
  type MadeAnswer,
  PAGE_HEADERS,
  type PageContext,
  pageAbout,
} from './page-answer.ts';

/** Pages with the releases of an application, and a feed with the newest releases. */

const params = z.object({ app: word });
const pageSchema = {
  hide: true,
  params,
  querystring: z.object({
    channel: word.optional(),
    page: z
      .string()
      .regex(/^[1-9]\d{0,4}$/, 'must be the number of a page')
      .optional(),
  }),
};
const feedSchema = { hide: true, params, querystring: z.object({ channel: word.optional() }) };

const CACHED = { 'cache-control': cacheControl(false) };
const FEED_HEADERS = { ...PAGE_HEADERS, ...CACHED, 'content-type': ATOM_TYPE };

export function registerReleasePages(app: App, deps: PageContext): void {
  app.get('/apps/:app/releases', { schema: pageSchema }, (request, reply) => {
    const about = pageAbout(request.params.app, request.query.channel);
    const page = Number(request.query.page ?? 1);
    // The page number is part of the question. The number of kept answers is still limited, because a page that does
    // not exist throws, and the service keeps no errors.
    return answerFromChannel({ deps, request, reply }, about, `releases ${page}`, (named) =>
      makePage(deps, named, page),
    );
  });
  app.get('/apps/:app/releases.atom', { schema: feedSchema }, (request, reply) => {
    const about = pageAbout(request.params.app, request.query.channel);
    return answerFromChannel({ deps, request, reply }, about, 'atom', (named) =>
      makeFeed(deps, named),
    );
  });
}

async function makePage(deps: PageContext, about: PageSubject, page: number): Promise<MadeAnswer> {
  const changelog = await listChangelog(deps, queryOf(about, page), null);
  const { releases, pages } = changelog;
  const html = renderReleasesPage(await deps.site(), { ...about, releases, page, pages });
  return { answer: sharePage({ ...PAGE_HEADERS, ...CACHED }, html), seen: [changelog] };
}

async function makeFeed(deps: PageContext, about: PageSubject): Promise<MadeAnswer> {
  const changelog = await listChangelog(deps, queryOf(about, 1), null);
  const { releases } = changelog;
  const { origin } = new URL(deps.publicUrl());
  const xml = renderAtom(await deps.site(), { ...about, origin, releases });
  return { answer: sharePage(FEED_HEADERS, xml), seen: [changelog] };
}

function queryOf({ application, channel }: ApplicationAndChannel, page: number): ChangelogQuery {
  return { application, channel: channel.name, page };
}
