import { z } from 'zod';

/**
 * The bodies of requests that make or preview a change. The operations check the values of the
 * fields.
 */

const word = z.string().min(1).max(200);
const reason = z
  .string()
  .max(4_000)
  .nullable()
  .transform((text) => (text === null || text.trim() === '' ? null : text.trim()));
/** As in a notes file of a publisher; in UTF-16 units. */
const NOTES_LENGTH_MAX = 64 * 1024;

const changeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['pause', 'resume', 'yank']),
    version: word,
    channel: word.nullable(),
    reason,
  }),
  z.object({ kind: z.literal('rollback'), to: word, channel: word, reason }),
  z.object({
    kind: z.literal('rollout'),
    version: word,
    channel: word,
    plan: z.string().min(1).max(4_000),
    freezeWindows: z.array(z.string().min(1).max(200)).max(20),
    reason,
  }),
  z.object({
    kind: z.literal('notes'),
    version: word,
    locale: z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/),
    markdown: z.string().max(NOTES_LENGTH_MAX).nullable(),
    reason,
  }),
]);

export const changeRequestSchema = z.object({
  change: changeSchema,
  revision: z.int().positive().nullable(),
});

export const markdownSchema = z.object({ markdown: z.string().max(NOTES_LENGTH_MAX) });
