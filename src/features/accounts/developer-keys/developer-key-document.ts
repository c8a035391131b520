import { createHash } from 'node:crypto';
import { z } from 'zod';
import { endKey } from '../../../store/sequence/end.ts';
import { SCHEMA_VERSION, type Sealed } from '../../../store/sequence/envelope.ts';
import { defineSequence } from '../../../store/sequence/sealed.ts';
import type { Sequence } from '../../../store/sequence/sequence.ts';
import { developerKeyKey, developerKeyPrefix } from '../keys.ts';

/** Developer key v1: one document, which never changes. Revoking a key ends its sequence. */

export const ACCESSES = ['read', 'publish'] as const;
type Access = (typeof ACCESSES)[number];

export interface Scope {
  readonly application: string;
  readonly access: Access;
}

const DEVELOPER_KEY_BYTES_MAX = 8 * 1024;

const timeSchema = z.iso.datetime();

export const developerKeySchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('developer_key'),
  account: z.string(),
  key: z.string(),
  change_id: z.uuid(),
  created_at: timeSchema,
  expires_at: timeSchema,
  name: z.string(),
  secret_digest: z.string().describe('SHA-256 of the secret of 32 random bytes, in hex.'),
  scopes: z.array(z.object({ application: z.string(), access: z.enum(ACCESSES) })),
});

export type DeveloperKeyJson = z.output<typeof developerKeySchema>;

export function developerKeySequence(
  account: string,
  key: string,
): Sequence<Sealed<DeveloperKeyJson>> {
  return defineSequence({
    name: 'developer key',
    schema: developerKeySchema,
    documentBytesMax: DEVELOPER_KEY_BYTES_MAX,
    key: () => developerKeyKey(account, key),
    endKey: endKey(developerKeyPrefix(account, key)),
    expected: () => ({ account, key }),
  });
}

/** The parts of a key. The owner gets the key as `slk_{account}_{id}_{secret}`. */
export interface KeyParts {
  readonly account: string;
  readonly id: string;
  readonly secret: string;
}

const KEY_PREFIX = 'slk_';
const KEY_FORM = /^slk_([0-9a-f]{32})_([0-9a-f]{16})_([\w-]{43})$/;

export function renderKey({ account, id, secret }: KeyParts): string {
  return `${KEY_PREFIX}${account}_${id}_${secret}`;
}

/** Undefined for a text that does not have the form of a key. */
export function parseKey(text: string): KeyParts | undefined {
  const match = KEY_FORM.exec(text);
  if (match === null) return undefined;
  const [, account = '', id = '', secret = ''] = match;
  return { account, id, secret };
}

/** True when a bearer token has the prefix of developer keys, even if the token is not valid. */
export function isDeveloperKey(token: string): boolean {
  return token.startsWith(KEY_PREFIX);
}

/** SHA-256 in hex. A fast hash is enough, because an attacker cannot guess a secret of 32 random bytes. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
