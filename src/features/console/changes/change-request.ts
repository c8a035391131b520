import { z } from 'zod';

/** The requests that make or preview a change. The operations check the values of the fields. */

const word = z.string().min(1).max(200);
const reason = z
  .string()
  .max(4_000)
  .nullable()
  .transform((text) => (text === null || text.trim() === '' ? null : text.trim()));
/** The maximum length of notes, in UTF-16 units. The notes file of a publisher has the same limit. */
const NOTES_LENGTH_MAX = 64 * 1024;

const changeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['pause', 'resume', 'yank']),
    version: word,
    /** Null for every channel. */
    channel: word.nullable(),
    reason,
  }),
  z.object({ kind: z.literal('rollback'), to: word, channel: word, reason }),
  z.object({
    kind: z.literal('rollout'),
    version: word,
    channel: word,
    /**
     * A share such as `25%`, a plan such as `5%@0h,25%@1d,100%@4d`, or one of the words `freeze`, `unfreeze`,
     * `complete`.
     */
    plan: z.string().min(1).max(4_000),
    freezeWindows: z.array(z.string().min(1).max(200)).max(20),
    reason,
  }),
  z.object({
    kind: z.literal('notes'),
    version: word,
    locale: z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/),
    /** Null removes the notes in this language. */
    markdown: z.string().max(NOTES_LENGTH_MAX).nullable(),
    reason,
  }),
]);

/** The changes that the console makes. `slipway` has a command for each of these changes. */
export type Change = z.output<typeof changeSchema>;

/** The body of `POST /console/api/apps/{app}/preview` and `POST …/change`. */
export const changeRequestSchema = z.object({
  change: changeSchema,
  /**
   * The catalog revision that the screen showed. When the catalog has a newer revision, the server answers 409
   * `state_changed` and changes nothing. Null only for a pause, which the server makes in any revision.
   */
  revision: z.int().positive().nullable(),
});

export type ChangeRequest = z.output<typeof changeRequestSchema>;

/** The body of `POST /console/api/markdown`. */
export const markdownRequestSchema = z.object({ markdown: z.string().max(NOTES_LENGTH_MAX) });

export type MarkdownRequest = z.output<typeof markdownRequestSchema>;
