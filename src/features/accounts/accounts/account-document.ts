import { z } from 'zod';
import { endKey } from '../../../store/sequence/end.ts';
import { SCHEMA_VERSION, type Sealed, skippedSchema } from '../../../store/sequence/envelope.ts';
import { defineSequence } from '../../../store/sequence/sealed.ts';
import type { Sequence } from '../../../store/sequence/sequence.ts';
import { accountKey, accountPrefix } from '../keys.ts';

/** Account v1: one document for each change. Each document has the whole state of the account. */

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
  change: z.string().describe('What this document changed: registered, name, tier, locked, …'),
  registered_at: timeSchema,
  provider: z.enum(['embedded', 'gotrue']),
  subject: z.string().describe("The provider's identifier of the user."),
  email: z.string(),
  email_verified: z.boolean(),
  name: z.string().nullable(),
  tier: z.string().nullable().describe('The tier that an admin set. Null for none.'),
  provider_tier: z
    .string()
    .nullable()
    .describe('The tier that the provider claims. It applies while an admin has set none.'),
  locked: z.object({ at: timeSchema, reason: z.string().nullable() }).nullable(),
  sessions_ended: z
    .object({
      before: timeSchema.describe('Every session that began before this time has ended.'),
      except: z
        .string()
        .nullable()
        .describe('The only session that continues: the one that changed the password.'),
    })
    .nullable(),
  keys_not_before: timeSchema
    .nullable()
    .describe('Developer keys that were created before this time are not valid.'),
  password: z
    .string()
    .nullable()
    .describe('The Argon2id hash in PHC form. Null where the provider keeps the password.'),
});

export type AccountJson = z.output<typeof accountSchema>;

export type Provider = AccountJson['provider'];

export interface Account {
  readonly id: string;
  /**
   * Number of the newest document, even if that document is not readable. Readers look for changes in documents with
   * higher numbers.
   */
  readonly revision: number;
  readonly provider: Provider;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** The tier that an admin set; without one, the tier that the provider claims; null when both are missing. */
  readonly tier: string | null;
  readonly adminTier: string | null;
  readonly providerTier: string | null;
  readonly locked: { readonly at: string; readonly reason: string | null } | null;
  /** All sessions that began before the time `before` have ended; only the session `except` continues. */
  readonly sessionsEnded: { readonly before: string; readonly except: string | null } | null;
  readonly keysNotBefore: string | null;
  readonly registeredAt: string;
  /** See {@link accountSchema}. */
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
    sessionsEnded: json.sessions_ended,
    keysNotBefore: json.keys_not_before,
    registeredAt: json.registered_at,
    password: json.password,
  };
}

/**
 * The inverse of {@link accountOf}. The result has no `revision`, because the sequence states the number, and no
 * `tier`, because it follows from the two stored tiers.
 */
export function renderAccount(account: Omit<Account, 'revision' | 'tier'>) {
  return {
    account: account.id,
    registered_at: account.registeredAt,
    provider: account.provider,
    subject: account.subject,
    email: account.email,
    email_verified: account.emailVerified,
    name: account.name,
    tier: account.adminTier,
    provider_tier: account.providerTier,
    locked: account.locked,
    sessions_ended: account.sessionsEnded,
    keys_not_before: account.keysNotBefore,
    password: account.password,
  } satisfies Partial<AccountJson>;
}

/**
 * True when the account states that a lock, a new password or a sign-out everywhere has ended a session.
 *
 * @param startedAt the time at which the session began, in milliseconds since the epoch
 */
export function endsSession(
  { sessionsEnded }: Account,
  session: string,
  startedAt: number,
): boolean {
  if (sessionsEnded === null || sessionsEnded.except === session) return false;
  return Date.parse(sessionsEnded.before) > startedAt;
}
