import { z } from 'zod';
import { STEPS_MAX } from '../../domain/rollout-plan.ts';
import { targetSchema, timeSchema, versionSchema } from './manifest-document.ts';
import { offerStatementSchema } from './offer-statement.ts';

/** Drafts: releases that a channel holds back, as a catalog revision states them. No client sees them. */

export const expectSchema = z.array(targetSchema);

export const draftSchema = offerStatementSchema.extend({
  since: timeSchema.describe('When the first files were added.'),
  opens: z
    .enum(['when_complete', 'on_command', 'when_signed'])
    .describe(
      '`when_complete`: the publish that adds the last expected build offers the release. `on_command`: `slipway publish VERSION` offers it. `when_signed`: the signature that completes the threshold of the channel offers it.',
    ),
  expect: expectSchema
    .optional()
    .describe('The targets that must have a build before the release is offered; absent: none.'),
  rollout: z
    .object({ text: z.string().max(4_000), freeze_windows: z.array(z.string()) })
    .optional()
    .describe('As the publisher wrote it. It starts when the release is offered; absent: none.'),
});

export type DraftJson = z.output<typeof draftSchema>;

export const discardedSchema = z.object({
  version: versionSchema,
  revision: z.number().int().positive().describe('The catalog revision that discarded the draft.'),
  at: timeSchema,
});

/** Room for the fields of an offer that a draft lacks: the status, and the rollout that starts with the offer. */
const OFFER_BYTES_MAX = 400;
const ROLLOUT_STEP_BYTES_MAX = 60;

/**
 * The largest number of bytes by which the JSON of a draft grows when the draft is offered. A reason does not count.
 */
export function growthBytes({ rollout }: DraftJson): number {
  return OFFER_BYTES_MAX + (rollout === undefined ? 0 : STEPS_MAX * ROLLOUT_STEP_BYTES_MAX);
}
