import { z } from 'zod';
import { digestSchema } from '../../store/sequence/envelope.ts';

/** The TUF metadata that a signed catalog revision is based on. */

export const referenceSchema = z.object({
  version: z.int().positive(),
  digest: digestSchema.describe('SHA-256 of the canonical JSON of `signed`, in hex.'),
});

export const trustSchema = z.object({
  root: referenceSchema.describe('The root of trust. Its operators sign the revision.'),
  channels: z
    .record(z.string(), referenceSchema)
    .optional()
    .describe("The role of each channel, which names the channel's releases; absent: none."),
});

/** A version of TUF metadata. */
export type MetadataReference = Readonly<z.output<typeof referenceSchema>>;

export type TrustJson = z.output<typeof trustSchema>;
