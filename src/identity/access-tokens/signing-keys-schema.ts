import { z } from 'zod';

/** Private Ed25519 keys as a JWKS (RFC 7517, RFC 8037), each under a name of its own. */
export const privateKeySetSchema = z.object({
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
    // A token would say which key signed it, and mean another.
    .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length),
});
