import { z } from 'zod';
import { COMPONENT_STATUSES, INDICATORS, type StatusReport } from './report.ts';

/** The status of the service as JSON: `/api/v1/system/status`, and a part of `/monitoring/overview`. */

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
        'minor: some component is degraded. major: the object store is down, or a catalog is too old or was read from disk. critical: no catalog is available.',
      ),
    description: z.string(),
  }),
  components: z.array(
    z.strictObject({
      id: z.string().describe('Stable: object_store, catalog, identity_provider, …'),
      name: z.string(),
      status: z.enum(COMPONENT_STATUSES),
      description: z.string(),
      updated_at: time.describe('When the status last changed.'),
      checked_at: time
        .nullable()
        .describe('Null before the first check; the component counts as operational until then.'),
    }),
  ),
});

type StatusAnswer = z.output<typeof statusAnswerSchema>;

/** @param publicUrl absolute, without a trailing slash */
export function renderStatus(report: StatusReport, publicUrl: string): StatusAnswer {
  const { at, indicator, description, components } = report;
  return {
    page: { name: 'Slipway', url: `${publicUrl}${STATUS_PATH}`, updated_at: timeText(at) },
    status: { indicator, description },
    components: components.map(({ updatedAt, checkedAt, ...component }) => ({
      ...component,
      updated_at: timeText(updatedAt),
      checked_at: checkedAt === null ? null : timeText(checkedAt),
    })),
  };
}

/** @param ms milliseconds since the Unix epoch. @returns RFC 3339, UTC */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
