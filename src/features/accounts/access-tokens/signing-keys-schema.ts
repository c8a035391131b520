import { z } from 'zod';

/**
 * Private Ed25519 keys as a JWKS (RFC 7517, RFC 8037), each with its own id.
 *
 * The schema has its own file, so that reading the configuration does not load jose.
 */
export const signingKeysSchema = z.object({
  keys: z
    .array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        kid: z.string().min(1).max(128),
        x: z.string(),
        d: z.string(),
      }),
    )
    .min(1)
    // The id selects the key that verifies a token, so it must be unique.
    .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length),
});
