import { z } from 'zod';
import type { Share } from '../../usage/shares.ts';
import type { Usage } from '../../usage/usage.ts';

/** The public metrics as JSON: `/api/v1/metrics/public/live`, and a part of `/monitoring/overview`. */

export type LiveMetricsSource = Pick<Usage, 'publicMetrics' | 'flushIntervalMs'>;

const percent = z.int().describe('Percent of the checks.');
const links = z.int();

export const liveMetricsAnswerSchema = z
  .strictObject({
    app: z.string().nullable().describe('Null: all applications.'),
    generated_at: z.string(),
    counted_since: z.string().nullable(),
    flush_interval_seconds: z
      .number()
      .describe('A server that crashes loses at most the counts of this time.'),
    download_links: z.strictObject({
      today: links.describe('Links issued this day, UTC. Downloads themselves are not counted.'),
      last_30_days: links.describe('Links issued in 30 days, today included.'),
      all_time: links.describe('Links issued since counted_since.'),
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
        'Shares of the checks of the last seven days, UTC. Small groups are added to "other"; "unstated" are clients that do not state the value.',
      ),
  })
  .describe('Counts are rounded down to multiples of the smallest group that is shown.');

/** @param application null for all applications together */
export function renderLiveMetrics(
  usage: LiveMetricsSource,
  application: string | null,
): z.output<typeof liveMetricsAnswerSchema> {
  const metrics = usage.publicMetrics(application);
  const { links, shares, countedSince } = metrics;
  return {
    app: application,
    generated_at: new Date(metrics.generatedAt).toISOString(),
    counted_since: countedSince === null ? null : new Date(countedSince).toISOString(),
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
