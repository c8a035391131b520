import { z } from 'zod';
import { FORMATS } from '../domain/platform.ts';
import type { Artifact } from '../domain/release.ts';
import type { PresignedUrl } from '../store/object-store.ts';

/** A file and the link to it, as answers state them. */
export const linkedFileSchema = z.strictObject({
  url: z.string().describe('A presigned URL, valid until expires_at.'),
  expires_at: z.string(),
  filename: z.string(),
  format: z.enum(FORMATS),
  size: z.int().describe('Bytes.'),
  sha256: z.string().describe('Hex.'),
  sha512: z.string().describe('Hex.'),
  signatures: z.array(z.object({ scheme: z.string(), key_id: z.string(), value: z.string() })),
});

export function describeLinkedFile(
  artifact: Artifact,
  link: PresignedUrl,
): z.output<typeof linkedFileSchema> {
  const { filename, format, size, sha256, sha512, signatures } = artifact;
  return {
    url: link.url,
    expires_at: link.expiresAt.toISOString(),
    filename,
    format,
    size,
    sha256,
    sha512,
    signatures: signatures.map(({ scheme, keyId, value }) => ({ scheme, key_id: keyId, value })),
  };
}
