import { z } from 'zod';
import { SCHEMA_VERSION, skippedSchema } from '../sequence/envelope.ts';
import { timeSchema } from './manifest-document.ts';

/** The list of applications, v1: the stored document that names every application. */

export const APPLICATIONS_BYTES_MAX = 1024 * 1024;

export const applicationsSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('applications'),
  number: z.number().int().positive(),
  change_id: z.uuid(),
  at: timeSchema,
  by: z.string(),
  skipped: skippedSchema,
  applications: z.array(z.object({ name: z.string(), created_at: timeSchema })),
});
