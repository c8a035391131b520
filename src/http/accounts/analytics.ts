import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { Usage } from '../../usage/usage.ts';
import type { App } from '../deps.ts';
import { errorResponses } from '../error-responses.ts';
import { unknownApplication, word } from '../server/validation.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity, requireAccess } from './authenticate.ts';
import { SIGNED_IN } from './error-codes.ts';

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
/** A little longer than detailed counts are kept. */
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

export interface AnalyticsDeps extends AccountsDeps {
  readonly usage: Pick<Usage, 'analytics' | 'flushIntervalMs'>;
  readonly defaultApplication: string;
  /** Answers from memory. */
  readonly hasApplication: (name: string) => boolean;
}

export function registerAnalytics(app: App, deps: AnalyticsDeps): void {
  const { usage } = deps;
  app.get('/api/v1/analytics/releases', { schema }, async (request) => {
    const application = request.query.app ?? deps.defaultApplication;
    await requireAccess(deps, request, application, 'analytics');
    if (!deps.hasApplication(application)) throw unknownApplication(application);
    const { from, to } = rangeOf(request.query, openIdentity(deps).clock.now());
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
