import { z } from 'zod';
import { COMPONENT_STATUSES, INDICATORS, type StatusReport } from '../../status/report.ts';
import type { Status } from '../../status/status.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';

export interface StatusRouteDeps {
  readonly status: Pick<Status, 'report'>;
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
}

export const STATUS_PATH = '/api/v1/system/status';
export const STATUS_CACHE = 'public, max-age=5';

const time = z.iso.datetime();

export const statusAnswerSchema = z.strictObject({
  page: z.strictObject({
    name: z.string(),
    url: z.string().describe('The address of this page.'),
    updated_at: time,
  }),
  status: z.strictObject({
    indicator: z
      .enum(INDICATORS)
      .describe(
        'minor: something is degraded. major: the object store is out, or a catalog is too old or comes from disk. critical: no catalog can answer.',
      ),
    description: z.string(),
  }),
  components: z.array(
    z.strictObject({
      id: z.string().describe('Stable: object_store, catalog, catalog:{application}, …'),
      name: z.string(),
      status: z.enum(COMPONENT_STATUSES),
      description: z.string(),
      updated_at: time.describe('When the status last changed.'),
      checked_at: time
        .nullable()
        .describe('Null before the first check, which counts as operational.'),
    }),
  ),
  catalogs: z.array(
    z.strictObject({
      app: z.string(),
      revision: z.int(),
      source: z
        .enum(['none', 'saved', 'live'])
        .describe('saved: from disk, the object store has not confirmed it yet.'),
      age_seconds: z
        .int()
        .nullable()
        .describe('Since the object store last confirmed it; null when it never did.'),
      problems_count: z.int().describe('Stored documents that cannot be used, and failures.'),
    }),
  ),
});

export type StatusAnswer = z.output<typeof statusAnswerSchema>;

const schema = {
  summary: 'How the service and what it depends on are doing',
  description: 'From checks made in the background. Answered 200 whatever it says.',
  tags: ['status'],
  response: { 200: statusAnswerSchema, ...problems({ 503: 'overloaded' }) },
};

export function registerStatus(app: App, deps: StatusRouteDeps): void {
  app.get(STATUS_PATH, { schema }, (_request, reply) => {
    reply
      .header('cache-control', STATUS_CACHE)
      .send(renderStatus(deps.status.report(), deps.publicUrl()));
  });
}

export function renderStatus(report: StatusReport, publicUrl: string): StatusAnswer {
  const { at, indicator, description, components, catalogs } = report;
  return {
    page: { name: 'Slipway', url: `${publicUrl}${STATUS_PATH}`, updated_at: timeText(at) },
    status: { indicator, description },
    components: components.map(({ updatedAt, checkedAt, ...component }) => ({
      ...component,
      updated_at: timeText(updatedAt),
      checked_at: checkedAt === null ? null : timeText(checkedAt),
    })),
    catalogs: catalogs.map(({ application, revision, source, ageSeconds, problemsCount }) => ({
      app: application,
      revision,
      source,
      age_seconds: ageSeconds,
      problems_count: problemsCount,
    })),
  };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
