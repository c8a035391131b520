import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import { bearerOf, notSignedIn } from '../../identity/access-token.ts';
import type { Usage } from '../../usage/usage.ts';
import type { App } from '../deps.ts';
import { problems, word } from '../server/validation.ts';
import { SIGNED_IN_PROBLEMS } from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity, requireFeature, requirePrincipal } from './authenticate.ts';

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
/** What is kept in detail, and a little more. */
const DAYS_MAX = 400;

const day = z.iso.date().describe('A day, UTC: 2026-11-21.');

const schema = {
  summary: 'How releases are doing',
  description:
    'For accounts whose tier includes analytics, and for their developer keys with access to the application. What another process counted comes with its next flush.',
  tags: ['analytics'],
  querystring: z.object({
    app: word.optional().describe('Default: the application this service is set up for.'),
    from: day.optional().describe('Default: 30 days back.'),
    to: day.optional().describe('Default: today.'),
  }),
  response: {
    200: z.strictObject({
      app: z.string(),
      from: z.string(),
      to: z.string(),
      flush_interval_seconds: z.number(),
      rows: z.array(
        z.strictObject({
          day: z.string(),
          version: z
            .string()
            .describe('For checks the version that asked, for the others the one handed out.'),
          platform: z.string(),
          channel: z.string(),
          checks: z.int(),
          offers: z.int(),
          links: z.int().describe('Download links handed out.'),
        }),
      ),
    }),
    ...problems({
      400: 'invalid_request',
      ...SIGNED_IN_PROBLEMS,
      403: 'not_entitled, scope_missing',
      404: 'unknown_application',
    }),
  },
};

export interface AnalyticsDeps extends AccountsDeps {
  readonly usage: Pick<Usage, 'analytics' | 'flushIntervalMs'>;
  readonly defaultApplication: string;
  /** From memory. */
  hasApplication(name: string): boolean;
}

export function registerAnalytics(app: App, deps: AnalyticsDeps): void {
  app.get('/api/v1/analytics/releases', { schema }, async (request) => {
    const application = request.query.app ?? deps.defaultApplication;
    await authorize(deps, request, application);
    if (!deps.hasApplication(application)) {
      const detail = `There is no application ${JSON.stringify(application)} here.`;
      throw new AppError('unknown_application', detail, { issues: [{ pointer: '/app', detail }] });
    }
    const { from, to } = rangeOf(request.query, openIdentity(deps).clock.now());
    const rows = deps.usage.analytics({ application, from, to });
    return {
      app: application,
      from,
      to,
      flush_interval_seconds: deps.usage.flushIntervalMs / 1000,
      rows: rows.map((row) => ({
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

/** A person with the tier, or a key of one whose scope names the application. */
async function authorize(
  deps: AnalyticsDeps,
  request: FastifyRequest,
  application: string,
): Promise<void> {
  const { developerKeys } = openIdentity(deps);
  const token = bearerOf(request.headers.authorization);
  if (token === undefined) throw notSignedIn();
  if (!developerKeys.isDeveloperKey(token)) {
    const { tier } = await requirePrincipal(deps, request);
    requireFeature(deps.tiers, tier, 'analytics');
    return;
  }
  // An invented key costs store requests: not as many as somebody likes.
  await deps.requestLimit.consume(request.ip);
  const { account, scopes } = await developerKeys.verify(token);
  requireFeature(deps.tiers, deps.tiers.tierNamed(account.tier), 'analytics');
  if (!scopes.some((scope) => scope.application === application)) {
    throw new AppError('scope_missing', `This key has no access to ${application}.`);
  }
}

function rangeOf(
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): { readonly from: string; readonly to: string } {
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const to = query.to ?? dayOf(now);
  const from = query.from ?? dayOf(Date.parse(to) - (DAYS_DEFAULT - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days >= 1 && days <= DAYS_MAX) return { from, to };
  const detail = `from must not be after to, and at most ${DAYS_MAX} days before it.`;
  throw new AppError('invalid_request', detail, { issues: [{ pointer: '/from', detail }] });
}
