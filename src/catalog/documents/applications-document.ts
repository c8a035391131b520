import { z } from 'zod';
import { type Check, SCHEMA_VERSION, skippedSchema } from '../../store/sequence/envelope.ts';
import { listSchema, parseItemsInSteps } from '../../store/sequence/list-check.ts';
import { timeSchema } from './manifest-document.ts';

/** The list of applications, v1: the stored document that names every application. */

export const APPLICATIONS_BYTES_MAX = 1024 * 1024;

const applicationSchema = z.object({ name: z.string(), created_at: timeSchema });

export const applicationsSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('applications'),
  number: z.number().int().positive(),
  change_id: z.uuid(),
  at: timeSchema,
  by: z.string(),
  skipped: skippedSchema,
  hint: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      'The newest known hint of a change when it was made. A later hint that names an application that the list lacks shows that the newest list was deleted.',
    ),
  applications: z.array(applicationSchema),
});

const outlineSchema = applicationsSchema.extend({ applications: listSchema });

/** Like `applicationsSchema.safeParse`, in steps. */
export const checkApplications: Check<z.output<typeof applicationsSchema>> = function* (value) {
  const outline = outlineSchema.safeParse(value);
  if (!outline.success) return outline;
  const { applications } = outline.data;
  const items = yield* parseItemsInSteps(applications, applicationSchema, ['applications']);
  return items.success
    ? { success: true, data: { ...outline.data, applications: items.data } }
    : items;
};
