import type { FastifyError } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { createSharedAnswers } from '../../../answers/shared-answers.ts';
import type { BrowserFileDeps } from '../../../server/browser-file-routes.ts';
import type { App, RouteDeps } from '../../../server/deps.ts';
import type { SharedAnswer } from '../../../server/http/fast/shared-answer.ts';
import { type Load, shedLoad } from '../../../server/limits/load.ts';
import type { BrowserFiles } from '../../../web/browser-files.ts';
import type { Site } from '../../../web/site.ts';
import { registerApplicationPage } from './application.ts';
import { type Brand, registerBrandFiles } from './brand-files.ts';
import { sendErrorPage } from './error-page.ts';
import { siteOf } from './page-answer.ts';
import { registerReleasePages } from './releases.ts';
import { registerStatusPage, type StatusPageDeps } from './status.ts';

export interface PageRouteDeps extends RouteDeps, BrowserFileDeps {
  readonly load: Load;
  readonly status: StatusPageDeps['status'];
  readonly brand: Brand;
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly basePath: string;
}

/** The pages for visitors: downloads, releases, status. The pages have no scripts. */
export function pageRoutes(deps: PageRouteDeps): FastifyPluginAsyncZod {
  const { brand, basePath: base, browserFiles, defaultApplication, load } = deps;
  return async (app) => {
    const brandFiles = registerBrandFiles(app, brand);
    const siteWith = (files: BrowserFiles | undefined): Site =>
      siteOf({ base, defaultApplication }, brand, brandFiles, files);
    const site = async (): Promise<Site> => siteWith(await browserFiles());
    // When the style sheet cannot be built, the service shows errors without it.
    const siteOfErrors = (): Promise<Site> => site().catch(() => siteWith(undefined));
    app.get('/', { schema: { hide: true } }, (_request, reply) =>
      reply.redirect(`${base}/apps/${defaultApplication}`),
    );
    await app.register(async (pages) => {
      pages.setErrorHandler<FastifyError | Error>((error, request, reply) =>
        sendErrorPage(siteOfErrors, error, request, reply),
      );
      shedLoad(pages, load);
      const context = { ...deps, site, answers: createSharedAnswers<SharedAnswer>() };
      registerApplicationPage(pages, context);
      registerReleasePages(pages, context);
      registerStatusPage(pages, context);
      registerTyped(pages, base);
    });
  };
}

/** Addresses that visitors type, with the page that each address means. */
const TYPED = {
  '/apps': '/',
  '/apps/': '/',
  '/apps/:app/': '/apps/:app',
  '/apps/:app/releases/': '/apps/:app/releases',
  '/status/': '/status',
} as const;

const typedSchema = {
  hide: true,
  params: z.object({ app: z.string().default('') }),
  querystring: z.record(z.string(), z.string()),
};

/**
 * Redirects to a page. The location comes from the parsed values, because the text of the client's address can name
 * another host: `GET http://evil.example/apps/x/` or `//evil.example/`.
 */
function registerTyped(app: App, base: string): void {
  for (const [typed, page] of Object.entries(TYPED)) {
    app.get(typed, { schema: typedSchema }, ({ params, query }, reply) => {
      const path = page.replace(':app', encodeURIComponent(params.app));
      const search = new URLSearchParams(query).toString();
      return reply.redirect(`${base}${path}${search === '' ? '' : `?${search}`}`, 301);
    });
  }
}
