import { z } from 'zod';
import { endKey } from '../../sequence/end.ts';
import { SCHEMA_VERSION, type Sealed, skippedSchema } from '../../sequence/envelope.ts';
import { defineSequence } from '../../sequence/sealed.ts';
import type { Sequence } from '../../sequence/sequence.ts';
import { accountKey, accountPrefix } from '../keys.ts';

/** Account v1: one document for each change, each with all that the account is. */

const ACCOUNT_BYTES_MAX = 16 * 1024;

const timeSchema = z.iso.datetime();

export const accountSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('account'),
  account: z.string(),
  number: z.int().positive(),
  skipped: skippedSchema,
  change_id: z.uuid(),
  at: timeSchema,
  change: z.string().describe('What was done: registered, name, tier, locked, …'),
  registered_at: timeSchema,
  provider: z.enum(['embedded', 'gotrue']),
  subject: z.string().describe("The provider's own name for the account."),
  email: z.string(),
  email_verified: z.boolean(),
  name: z.string().nullable(),
  tier: z.string().nullable().describe('As admins set it.'),
  provider_tier: z.string().nullable().describe("The provider's claim, where admins set none."),
  locked: z.object({ at: timeSchema, reason: z.string().nullable() }).nullable(),
  sessions_not_before: timeSchema.nullable().describe('Sessions begun earlier are over.'),
  session_kept: z
    .string()
    .nullable()
    .describe('The session that goes on nevertheless: the one that changed the password.'),
  keys_not_before: timeSchema.nullable().describe('Developer keys made earlier are over.'),
  password: z.string().nullable().describe('Argon2id in PHC form, for the embedded provider.'),
});

export type AccountJson = z.output<typeof accountSchema>;

export type Provider = AccountJson['provider'];

export interface Account {
  readonly id: string;
  /** The newest document looked at, readable or not: changes are looked for above it. */
  readonly revision: number;
  readonly provider: Provider;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** As admins set it, else the provider's claim; null for neither. */
  readonly tier: string | null;
  readonly adminTier: string | null;
  readonly providerTier: string | null;
  readonly locked: { readonly at: string; readonly reason: string | null } | null;
  readonly sessionsNotBefore: string | null;
  /** The session that `sessionsNotBefore` does not end. */
  readonly sessionKept: string | null;
  readonly keysNotBefore: string | null;
  readonly registeredAt: string;
  readonly password: string | null;
}

export function accountSequence(id: string): Sequence<Sealed<AccountJson>> {
  return defineSequence({
    name: 'account',
    schema: accountSchema,
    documentBytesMax: ACCOUNT_BYTES_MAX,
    key: (number) => accountKey(id, number),
    endKey: endKey(accountPrefix(id)),
    expected: (number) => ({ account: id, number }),
  });
}

/** The account that a document says. */
export function accountOf(json: AccountJson): Account {
  return {
    id: json.account,
    revision: json.number,
    provider: json.provider,
    subject: json.subject,
    email: json.email,
    emailVerified: json.email_verified,
    name: json.name,
    tier: json.tier ?? json.provider_tier,
    adminTier: json.tier,
    providerTier: json.provider_tier,
    locked: json.locked,
    sessionsNotBefore: json.sessions_not_before,
    sessionKept: json.session_kept,
    keysNotBefore: json.keys_not_before,
    registeredAt: json.registered_at,
    password: json.password,
  };
}
