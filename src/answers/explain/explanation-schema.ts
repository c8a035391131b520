import { z } from 'zod';
import { OUTCOMES, REASONS } from '../../domain/decide-update.ts';
import { INSTALLED_STATES } from '../../domain/explain-decision.ts';
import { OFFER_STATUSES } from '../../domain/offer.ts';
import { ARCHES, FORMATS, PLATFORMS } from '../../domain/platform.ts';

/**
 * The schema of an explanation as JSON. The service answers with this JSON, the console shows it, and the command
 * prints it as a part of its output with `--json`.
 */

const result = z
  .enum(['passed', 'failed', 'not_checked'])
  .describe('not_checked: an earlier rule left no build that this rule could be about.');
const percentage = z.number().describe('Of the installations: 0 to 100, in steps of 0.01.');
const time = z.string().describe('UTC, ISO 8601.');
/** The explanation for a client has null where only publishers see a value. */
const FOR_PUBLISHERS = 'Always null here: only publishers see it.';
const statusReason = z.string().nullable().describe(FOR_PUBLISHERS);

const ruleSchema = z.discriminatedUnion('rule', [
  z.strictObject({
    rule: z.literal('platform'),
    result,
    builds: z.array(z.string()).describe("The release's builds for the platform: windows-x64."),
    runs: z.array(z.string()).describe('The builds that run on the machine, best first.'),
  }),
  z.strictObject({
    rule: z.literal('native_build'),
    result,
    missing_arch: z
      .enum(ARCHES)
      .nullable()
      .describe('The machine keeps its native builds, and the release has none for it.'),
    built_in: z.string().nullable().describe('The newest older release with such a build.'),
  }),
  z.strictObject({
    rule: z.literal('format'),
    result,
    available: z.array(z.enum(FORMATS)).describe('Of the builds that run on the machine.'),
    wanted: z.array(z.enum(FORMATS)).nullable().describe('null: the usual ones.'),
    signature_scheme: z.string().nullable().describe('The signature that the client requires.'),
  }),
  z.strictObject({
    rule: z.literal('os_version'),
    result,
    minimums: z.array(z.string()).describe('Empty: any system version.'),
    stated: z.string().nullable(),
    checked_by: z.enum(['server', 'client']),
  }),
  z.strictObject({
    rule: z.literal('requires'),
    result,
    range: z.string().nullable().describe('The versions that may update straight to the release.'),
  }),
  z.strictObject({ rule: z.literal('status'), result, status: z.enum(OFFER_STATUSES) }),
  z.strictObject({
    rule: z.literal('rollout'),
    result,
    percentage,
    bucket: z
      .int()
      .nullable()
      .describe('0 to 9999; null without an id, and for a release without a rollout.'),
    needed_percentage: z.number().describe('From which this client is offered the release.'),
    reaches_at: time.nullable().describe(FOR_PUBLISHERS),
    frozen_by: z.enum(['publisher', 'freeze_window']).nullable().describe(FOR_PUBLISHERS),
    plan: z.string().nullable().describe(FOR_PUBLISHERS),
    is_linear: z.boolean().describe('Always false here.'),
    planned: z.array(z.strictObject({ at: time, percentage })).describe('Always empty here.'),
  }),
]);

export const explanationSchema = z.strictObject({
  app: z.string(),
  channel: z.string(),
  inherits: z.array(z.string()).describe('The channels whose releases the client also sees.'),
  catalog_revision: z.int(),
  revision_at: time,
  at: time.describe('The time for which the decision was made.'),
  is_forecast: z.boolean().describe('Always false here.'),
  unreadable_revisions: z.array(z.int()).describe('Corrupt ones that may have been the newest.'),
  reason: z.enum(REASONS),
  version: z.string().nullable().describe('The version that is offered.'),
  offered_by: z.string().nullable().describe('The channel that lists it.'),
  artifact: z
    .strictObject({
      platform: z.enum(PLATFORMS),
      arch: z.enum(ARCHES),
      format: z.enum(FORMATS),
    })
    .nullable(),
  mandatory: z.boolean(),
  installed: z
    .strictObject({
      version: z.string().nullable(),
      state: z.enum(INSTALLED_STATES).nullable().describe('null: the channel is closed.'),
      channel: z.string().nullable(),
      status_reason: statusReason,
      also_listed_on: z.array(z.string()),
    })
    .describe('What the channel says about the version that the client runs.'),
  may_go_back: z.boolean().describe('Whether the client may be offered an older version.'),
  early_access: z.boolean(),
  newest_version: z.string().nullable().describe('On the channel, offered to this client or not.'),
  releases: z
    .array(
      z.strictObject({
        version: z.string(),
        channel: z.string(),
        outcome: z.enum(OUTCOMES),
        status_reason: statusReason,
        rules: z.array(ruleSchema).describe('In the order in which they are applied.'),
      }),
    )
    .describe('The releases that were considered, newest first.'),
  releases_omitted: z.int().describe('How many more were considered.'),
  passed_over: z
    .array(
      z.strictObject({
        version: z.string(),
        channel: z.string(),
        why: z.enum(['yanked', 'unverified']),
        status_reason: statusReason,
      }),
    )
    .describe('Releases that no client is offered. unverified: the manifest cannot be verified.'),
  open_to_tiers: z.array(z.string()).describe('For not_entitled: the tiers that open the channel.'),
  drafts: z
    .array(
      z.strictObject({
        version: z.string(),
        channel: z.string(),
        waits_for: z.array(z.string()),
        since: time,
      }),
    )
    .describe('Always empty here: only publishers see drafts.'),
});

export type ExplanationJson = z.output<typeof explanationSchema>;
