import { z } from 'zod';
import { SIGNATURE_SCHEMES } from '../../domain/signature.ts';
import { digestSchema } from '../../store/sequence/envelope.ts';
import {
  archSchema,
  formatSchema,
  minimumOsVersionSchema,
  platformSchema,
} from './artifact-document.ts';
import { endsNativeSchema, rangeSchema, timeSchema, versionSchema } from './manifest-document.ts';

/**
 * The fields with which offers and drafts describe a release: they name its manifest, and copy the fields that a
 * decision needs.
 */
export const offerStatementSchema = z.object({
  version: versionSchema,
  manifest: z
    .object({ number: z.number().int().positive(), digest: digestSchema })
    .describe('The number of the manifest of the version, and the digest it must have.'),
  released_at: timeSchema,
  requires: rangeSchema,
  mandatory_for: rangeSchema,
  ends_native: endsNativeSchema,
  signed_documents: z
    .literal(true)
    .optional()
    .describe('The manifest names documents that the publisher signed; absent: none.'),
  artifacts: z
    .array(
      z.object({
        os: platformSchema,
        arch: archSchema,
        format: formatSchema,
        minimum_os_version: minimumOsVersionSchema.optional(),
        signature_schemes: z.array(z.enum(SIGNATURE_SCHEMES)).optional(),
      }),
    )
    .describe('Copied from the manifest: the fields that choosing an artifact needs.'),
});
