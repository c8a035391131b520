import { z } from 'zod';
import { refusal } from './refusal.ts';

/**
 * The shape of electron-builder's signed update documents ("EBUM1"): an Ed25519 signature covers the version, the
 * staging percentage, the minimum system, and the address, hash and size of every file and package.
 *
 * This file makes the checks that a client makes before it verifies a signature. This file does not verify the
 * signature itself, because only the application has the public key.
 */

/** The client refuses control characters. */
const signedText = z.string().regex(/^[^\p{Cc}]+$/u, 'is empty or has a control character');
const bytes = z.number().optional();
/** The size of an Ed25519 signature. */
const SIGNATURE_BYTES = 64;

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
    signature: z.string().nullish(),
    signatures: z.array(z.object({ signature: z.string() })).nullish(),
  })
  .refine(
    ({ signature, signatures }) =>
      [signature ?? '', ...(signatures ?? []).map((each) => each.signature)].some(
        (text) => Buffer.from(text, 'base64').length === SIGNATURE_BYTES,
      ),
    `has no signature of ${SIGNATURE_BYTES} bytes in base64`,
  );

/** True when the parsed YAML of a feed claims to be signed. The client ignores blank signatures. */
export function isSigned({ signature, signatures }: Readonly<Record<string, unknown>>): boolean {
  const isBlank = typeof signature === 'string' && signature.trim() === '';
  const isEmpty = Array.isArray(signatures) && signatures.length === 0;
  return ((isBlank ? null : signature) ?? (isEmpty ? null : signatures) ?? null) !== null;
}

/** @throws AppError `invalid_artifact` for a document that a client with any key would refuse */
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
