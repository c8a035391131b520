import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../../core/errors.ts';
import type { TierTable } from '../../../domain/tier.ts';
import type { App } from '../../../server/deps.ts';
import { explainQuerySchema, explainRequestOf } from '../../../server/explain-request.ts';
import { BODY_BYTES_MAX } from '../../../server/http/body-limits.ts';
import { etagOf, matchesEtag } from '../../../server/http/conditional.ts';
import { renderMarkdown } from '../../../web/markdown.ts';
import type { MarkdownPreview } from '../answers.ts';
import { changeRequestSchema, markdownRequestSchema } from '../changes/change-request.ts';
import type { Console } from '../console.ts';
import { type ConsolePageDeps, registerConsolePage } from '../console-page.ts';

/** The routes of the console: one page for all screens, and the data of the screens. */

export interface ConsoleRouteDeps extends ConsolePageDeps {
  readonly console: Console;
  readonly tiers: TierTable;
  /** Refuses a request whose sender may not read the data. The server calls it before every answer with data. */
  readonly guard: (request: FastifyRequest) => Promise<void>;
}

const API = '/console/api';
const DAYS_MAX = 400;

const inApp = z.object({ app: z.string().max(200) });
const word = z.string().min(1).max(200);

export function registerConsole(app: App, deps: ConsoleRouteDeps): void {
  registerConsolePage(app, deps);
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.header('cache-control', 'no-store');
      await deps.guard(request);
    });
    registerViews(scope.withTypeProvider(), deps);
    if (deps.mode === 'local') registerChanges(scope.withTypeProvider(), deps);
    // Without this route, an unknown address of the API would get the page, as every other address below /console does.
    scope.all(`${API}/*`, { schema: { hide: true } }, () => {
      throw new AppError('route_not_found', 'The console has nothing at this address.');
    });
  });
}

function registerViews(app: App, { console: shown, tiers }: ConsoleRouteDeps): void {
  const hide = { hide: true };
  app.get(`${API}/start`, { schema: hide }, () => shown.start());
  const params = inApp;
  app.get(
    `${API}/apps/:app/overview`,
    { schema: { hide: true, params } },
    async (request, reply) => {
      const overview = await shown.overview(request.params.app);
      // These times differ in each answer, so they must not be part of the tag.
      const { readAt: _readAt, now: _now, ...drawn } = overview;
      const etag = etagOf(JSON.stringify(drawn));
      reply.header('etag', etag);
      return matchesEtag(request.headers['if-none-match'], etag)
        ? reply.code(304).send()
        : reply.send(overview);
    },
  );
  app.get(
    `${API}/apps/:app/releases/:version`,
    { schema: { hide: true, params: inApp.extend({ version: word }) } },
    ({ params: { app: application, version } }) => shown.release(application, version),
  );
  const adoptionQuery = z.object({
    days: z.coerce.number().int().min(1).max(DAYS_MAX).default(42),
    channel: word.optional(),
  });
  app.get(
    `${API}/apps/:app/adoption`,
    { schema: { hide: true, params, querystring: adoptionQuery } },
    ({ params: { app: application }, query: { days, channel } }) =>
      shown.adoption({ application, days, channel }),
  );
  // An operator may also ask about a machine on which nothing is installed yet.
  const explainQuery = explainQuerySchema
    .omit({ app: true })
    .extend({ version: word.optional(), tier: word.optional() });
  app.get(
    `${API}/apps/:app/explain`,
    { schema: { hide: true, params, querystring: explainQuery } },
    ({ params: { app: application }, query }) =>
      shown.explain({
        ...explainRequestOf(query, application, tierOf(query.tier, tiers)),
        // The audience is the same in the service, because its operator opens the console only to the team that
        // publishes.
        audience: 'publisher',
      }),
  );
  const historyQuery = z.object({ before: z.coerce.number().int().positive().optional() });
  app.get(
    `${API}/apps/:app/history`,
    { schema: { hide: true, params, querystring: historyQuery } },
    ({ params: { app: application }, query }) => shown.history(application, query.before),
  );
  app.get(
    `${API}/apps/:app/history/:revision`,
    { schema: { hide: true, params: inApp.extend({ revision: z.coerce.number().int().min(1) }) } },
    ({ params: { app: application, revision } }) => shown.revision(application, revision),
  );
}

/** These routes change releases or write to the store, so only the operator at this machine may use them. */
function registerChanges(app: App, { console: shown }: ConsoleRouteDeps): void {
  const bodyLimit = BODY_BYTES_MAX.console;
  const schema = { hide: true, params: inApp, body: changeRequestSchema };
  app.post(`${API}/apps/:app/preview`, { schema, bodyLimit }, ({ params, body }) =>
    shown.preview(params.app, body),
  );
  app.post(`${API}/apps/:app/change`, { schema, bodyLimit }, ({ params, body }) =>
    shown.change(params.app, body),
  );
  app.post(
    `${API}/markdown`,
    { schema: { hide: true, body: markdownRequestSchema }, bodyLimit },
    async ({ body }): Promise<MarkdownPreview> => ({
      html: renderMarkdown(body.markdown),
    }),
  );
  // The doctor is a POST, because it writes probes.
  app.post(`${API}/doctor`, { schema: { hide: true } }, () => shown.doctor());
}

/** @throws AppError `invalid_request` */
function tierOf(name: string | undefined, { names }: TierTable): string | null {
  if (name === undefined) return null;
  if (names.includes(name)) return name;
  throw new AppError(
    'invalid_request',
    `There is no tier ${JSON.stringify(name)}. Tiers: ${names.join(', ')}.`,
  );
}
