import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { PublicMetrics } from '../../usage/public-metrics.ts';
import type { Share } from '../../usage/shares.ts';
import type { Usage } from '../../usage/usage.ts';
import { etagOf, matchesEtag } from '../conditional.ts';
import type { App } from '../deps.ts';
import { problems, word } from '../server/validation.ts';

export interface LiveMetricsDeps {
  readonly usage: Pick<Usage, 'publicMetrics' | 'flushIntervalMs'>;
  /** From memory. */
  hasApplication(name: string): boolean;
}

/** Figures are made again every few seconds; asking more often shows nothing more. */
const CACHE = 'public, max-age=10';

const querySchema = z.object({
  app: word.optional().describe('Only this application; without it, all of them together.'),
});

const percent = z.int().describe('Whole percents of the checks.');
const links = z.int();

export const liveMetricsAnswerSchema = z
  .strictObject({
    app: z.string().nullable().describe('Null: all applications.'),
    generated_at: z.string(),
    counted_since: z.string().nullable(),
    flush_interval_seconds: z
      .number()
      .describe('A server that crashes loses at most what it counted in this time.'),
    download_links: z.strictObject({
      today: links.describe('Links handed out this day, UTC; what became of them is not known.'),
      last_30_days: links.describe('The same of 30 days, today included.'),
      all_time: links.describe('The same since counted_since.'),
    }),
    checks_per_minute: z
      .int()
      .describe('Mean over the last five full minutes that all servers have reported.'),
    offers_per_minute: z.int().describe('Checks that were answered with a newer version.'),
    shares: z
      .strictObject({
        versions: z.array(z.strictObject({ version: z.string(), share_percent: percent })),
        platforms: z.array(z.strictObject({ platform: z.string(), share_percent: percent })),
        channels: z.array(z.strictObject({ channel: z.string(), share_percent: percent })),
      })
      .describe(
        'Of the checks of the last seven days, UTC. Small groups are part of "other"; "unstated" are clients that do not say.',
      ),
  })
  .describe('Counts are rounded down to multiples of the smallest group that is shown.');

const schema = {
  summary: 'Live metrics: links handed out, rates, shares',
  description: 'Aggregated over all servers; small groups are suppressed.',
  tags: ['metrics'],
  querystring: querySchema,
  response: {
    200: liveMetricsAnswerSchema,
    304: z.null().describe('Nothing new since the ETag in If-None-Match.'),
    ...problems({ 400: 'invalid_request', 404: 'unknown_application', 503: 'overloaded' }),
  },
};

export function registerLiveMetrics(app: App, deps: LiveMetricsDeps): void {
  app.get('/api/v1/metrics/public/live', { schema }, (request, typedReply) => {
    // The schema describes the document; what is sent is its text.
    const reply: FastifyReply = typedReply as unknown as FastifyReply;
    const application = request.query.app ?? null;
    if (application !== null && !deps.hasApplication(application)) {
      throw unknownApplication(application);
    }
    const body = JSON.stringify(renderLiveMetrics(deps.usage, application));
    const etag = etagOf(body);
    reply.header('cache-control', CACHE).header('etag', etag);
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });
}

function unknownApplication(name: string): AppError {
  const detail = `There is no application ${JSON.stringify(name.slice(0, 80))} here.`;
  return new AppError('unknown_application', detail, { issues: [{ pointer: '/app', detail }] });
}

export function renderLiveMetrics(
  usage: LiveMetricsDeps['usage'],
  application: string | null,
): z.input<typeof liveMetricsAnswerSchema> {
  const metrics: PublicMetrics = usage.publicMetrics(application);
  const { links, shares, countedSince } = metrics;
  return {
    app: application,
    generated_at: new Date(metrics.generatedAt).toISOString(),
    counted_since: new Date(countedSince).toISOString(),
    flush_interval_seconds: usage.flushIntervalMs / 1000,
    download_links: {
      today: links.today,
      last_30_days: links.last30Days,
      all_time: links.allTime,
    },
    checks_per_minute: metrics.checksPerMinute,
    offers_per_minute: metrics.offersPerMinute,
    shares: {
      versions: shares.versions.map((share) => ({ version: share.name, ...percentOf(share) })),
      platforms: shares.platforms.map((share) => ({ platform: share.name, ...percentOf(share) })),
      channels: shares.channels.map((share) => ({ channel: share.name, ...percentOf(share) })),
    },
  };
}

function percentOf({ percent }: Share): { share_percent: number } {
  return { share_percent: percent };
}
