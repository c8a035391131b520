import { z } from 'zod';
import { ARCHES, FORMATS, PLATFORMS } from '../../domain/platform.ts';
import { PROTOCOLS } from '../../updaters/registry.ts';
import { COMPONENT_STATUSES, INDICATORS, type StatusReport } from '../status/report.ts';
import { renderStatus, statusAnswerSchema, timeText } from '../status/status-answer.ts';
import type { DescribedApplication } from './describe-catalog.ts';

/** The answers under `/monitoring` of a process without an upstream monitoring service. */

const HEALTH_BY_INDICATOR = {
  none: 'ok',
  minor: 'degraded',
  major: 'degraded',
  critical: 'down',
} as const;

export const healthAnswerSchema = z.strictObject({
  status: z.enum(['ok', 'degraded', 'down']),
  indicator: z.enum(INDICATORS),
  description: z.string(),
  updated_at: z.iso.datetime(),
  components: z.array(z.strictObject({ id: z.string(), status: z.enum(COMPONENT_STATUSES) })),
});

const newest = z
  .strictObject({ version: z.string(), released_at: z.string() })
  .nullable()
  .describe('Null when the channel offers no release.');

export const overviewAnswerSchema = z.strictObject({
  status: statusAnswerSchema,
  pulse: z.looseObject({}).describe('Live activity: the public metrics.'),
  overview: z.strictObject({
    applications: z.int(),
    applications_unavailable: z.int(),
    channels: z.int(),
    releases: z.int(),
    newest: z
      .array(z.strictObject({ app: z.string(), channel: z.string(), releases: z.int(), newest }))
      .describe('The first 50 channels, by application.'),
  }),
  arsenal: z.strictObject({
    applications: z
      .array(
        z.strictObject({
          app: z.string(),
          available: z.boolean().describe('False: its catalog cannot be read at the moment.'),
          catalog_revision: z.int().nullable(),
          channels: z.array(z.string()),
          machines: z.array(
            z.strictObject({
              platform: z.enum(PLATFORMS),
              arch: z.enum(ARCHES),
              formats: z.array(z.enum(FORMATS)),
            }),
          ),
        }),
      )
      .describe('The first 50, by name.'),
    dialects: z.array(z.strictObject({ name: z.string(), title: z.string() })),
  }),
});

type OverviewAnswer = z.output<typeof overviewAnswerSchema>;

/** Every visitor can read the overview, so the length of its lists is limited. Its counts include all applications. */
const LISTED_MAX = 50;

export function renderHealth(report: StatusReport): z.output<typeof healthAnswerSchema> {
  const { at, indicator, description, components } = report;
  return {
    status: HEALTH_BY_INDICATOR[indicator],
    indicator,
    description,
    updated_at: timeText(at),
    components: components.map(({ id, status }) => ({ id, status })),
  };
}

export function renderOverview(
  report: StatusReport,
  publicUrl: string,
  pulse: object,
  applications: readonly DescribedApplication[],
): OverviewAnswer {
  return {
    status: renderStatus(report, publicUrl),
    pulse: { ...pulse },
    overview: renderCounts(applications),
    arsenal: {
      applications: applications.slice(0, LISTED_MAX).map(renderApplication),
      dialects: PROTOCOLS.map(({ name, title }) => ({ name, title })),
    },
  };
}

function renderCounts(applications: readonly DescribedApplication[]): OverviewAnswer['overview'] {
  const available = applications.filter((described) => described.isAvailable);
  const channels = available.flatMap(({ application, channels }) =>
    channels.map(({ name, releasesCount, newest }) => ({
      app: application,
      channel: name,
      releases: releasesCount,
      newest: newest === null ? null : { version: newest.version, released_at: newest.releasedAt },
    })),
  );
  return {
    applications: applications.length,
    applications_unavailable: applications.length - available.length,
    channels: channels.length,
    releases: available.reduce((sum, { releasesCount }) => sum + releasesCount, 0),
    newest: channels.slice(0, LISTED_MAX),
  };
}

function renderApplication(
  described: DescribedApplication,
): OverviewAnswer['arsenal']['applications'][number] {
  const { application: app, isAvailable: available } = described;
  if (!described.isAvailable) {
    return { app, available, catalog_revision: null, channels: [], machines: [] };
  }
  return {
    app,
    available,
    catalog_revision: described.revision,
    channels: described.channels.slice(0, LISTED_MAX).map(({ name }) => name),
    machines: described.machines.map((machine) => ({ ...machine, formats: [...machine.formats] })),
  };
}
