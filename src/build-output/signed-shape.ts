import { z } from 'zod';
import { refusal } from './refusal.ts';

/**
 * The shape of electron-builder's signed update documents ("EBUM1"): an Ed25519 signature covers the version, the
 * staging percentage, the minimum system, and the address, hash and size of every file and package.
 *
 * This file checks what the client checks before it verifies a signature. The signature itself is not verified: the
 * public key is in the application.
 */

/** The client refuses control characters. */
const signedText = z.string().regex(/^[^\p{Cc}]+$/u, 'is empty or has a control character');
const bytes = z.number().optional();
/** Ed25519 signatures have 64 bytes. */
const signature = z
  .string()
  .refine(
    (text) => Buffer.from(text, 'base64').length === 64,
    'is not a signature of 64 bytes in base64',
  );

const signedFeedSchema = z
  .object({
    version: signedText,
    files: z.array(z.object({ url: signedText, sha512: signedText, size: bytes })).min(1),
    stagingPercentage: z.number().nullish(),
    minimumSystemVersion: signedText.nullish(),
    packages: z
      .record(
        signedText,
        z.object({
          path: signedText,
          sha512: signedText,
          size: bytes,
          blockMapSize: bytes,
          isAdminRightsRequired: z.boolean().optional(),
        }),
      )
      .nullish(),
    signature: signature.nullish(),
    signatures: z
      .array(z.object({ keyId: z.string().regex(/^[0-9a-f]{64}$/, 'is not a key id'), signature }))
      .nullish(),
  })
  .refine(
    (feed) => typeof feed.signature === 'string' || (feed.signatures ?? []).length > 0,
    'has no signature',
  );

/** Whether the parsed YAML of a feed claims to be signed. */
export function isSigned(info: Readonly<Record<string, unknown>>): boolean {
  return (info.signature ?? info.signatures ?? null) !== null;
}

/** @throws AppError `invalid_artifact` for a document that the client would refuse, whatever its key */
export function checkSignedShape(path: string, info: object): void {
  const checked = signedFeedSchema.safeParse(info);
  if (checked.success) return;
  const [issue] = checked.error.issues;
  const where = issue === undefined ? '' : `${issue.path.join('.')} ${issue.message}`.trim();
  throw refusal(
    path,
    `it is signed, and electron-updater would refuse it: ${where}. Build and sign it again.`,
  );
}
