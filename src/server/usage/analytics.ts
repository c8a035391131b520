import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Usage } from '../../usage/usage.ts';
import type { Access } from '../access/access.ts';
import { SIGNED_IN } from '../access/error-codes.ts';
import type { App } from '../deps.ts';
import type { PartTags } from '../documentation/documents.ts';
import { forbidCaching } from '../http/conditional.ts';
import { errorResponses } from '../http/error-responses.ts';
import { unknownApplication, word } from '../http/validation.ts';

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
/** A little longer than the time for which services keep detailed counts. */
const DAYS_MAX = 400;

const day = z.iso.date().describe('A day, UTC: 2026-11-21.');

const rowSchema = z.strictObject({
  day: z.string(),
  version: z
    .string()
    .describe('For checks the version that the client has; for offers and links the one offered.'),
  platform: z.string(),
  channel: z.string(),
  checks: z.int(),
  offers: z.int(),
  links: z.int().describe('Download links issued.'),
});

const schema = {
  operationId: 'getReleaseAnalytics',
  summary: 'Read release analytics',
  description:
    'For accounts whose tier includes analytics, and for their developer keys with access to the application. Counts of other processes appear after their next flush.',
  tags: ['analytics'],
  querystring: z.object({
    app: word.optional().describe('Default: the default application of this service.'),
    from: day.optional().describe('Default: 30 days, including the last one.'),
    to: day.optional().describe('The last day. Default: today.'),
  }),
  response: {
    200: z.strictObject({
      app: z.string(),
      from: z.string(),
      to: z.string(),
      flush_interval_seconds: z.number(),
      rows: z.array(rowSchema),
    }),
    ...errorResponses(
      ...SIGNED_IN,
      'invalid_request',
      'not_entitled',
      'scope_missing',
      'unknown_application',
    ),
  },
};

export interface AnalyticsDeps {
  readonly access: Pick<Access, 'requireScope'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly usage: Pick<Usage, 'analytics' | 'flushIntervalMs'>;
  readonly defaultApplication: string;
  readonly catalog: Pick<Catalog, 'hasPublic'>;
}

export const ANALYTICS_TAGS: PartTags = {
  signedIn: [{ name: 'analytics', description: 'How your releases are used.' }],
};

/** Routes that tell the publishers of an application how its releases are used. */
export function analyticsRoutes(deps: AnalyticsDeps): FastifyPluginAsyncZod {
  return async (app) => {
    forbidCaching(app);
    registerAnalytics(app, deps);
  };
}

function registerAnalytics(app: App, deps: AnalyticsDeps): void {
  const { access, clock, usage } = deps;
  app.get('/api/v1/analytics/releases', { schema }, async (request) => {
    const application = request.query.app ?? deps.defaultApplication;
    await access.requireScope(request, application, 'analytics');
    if (!deps.catalog.hasPublic(application)) throw unknownApplication(application);
    const { from, to } = rangeOf(request.query, clock.now());
    return {
      app: application,
      from,
      to,
      flush_interval_seconds: usage.flushIntervalMs / 1000,
      rows: usage.analytics({ application, from, to }).map((row) => ({
        day: row.day,
        version: row.version,
        platform: row.platform,
        channel: row.channel,
        checks: row.checks,
        offers: row.offers,
        links: row.links,
      })),
    };
  });
}

/** @param now in milliseconds. @throws AppError `invalid_request` */
function rangeOf(
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): { readonly from: string; readonly to: string } {
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const to = query.to ?? dayOf(now);
  const from = query.from ?? dayOf(Date.parse(to) - (DAYS_DEFAULT - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days >= 1 && days <= DAYS_MAX) return { from, to };
  const detail = `from must not be after to, and the range may have at most ${DAYS_MAX} days.`;
  throw new AppError('invalid_request', detail, { issues: [{ pointer: '/from', detail }] });
}
