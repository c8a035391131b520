import { z } from 'zod';
import { endKey } from '../../../store/sequence/end.ts';
import { SCHEMA_VERSION, type Sealed } from '../../../store/sequence/envelope.ts';
import { defineSequence } from '../../../store/sequence/sealed.ts';
import type { Sequence } from '../../../store/sequence/sequence.ts';
import type { Account } from '../accounts/account-document.ts';
import { sessionKey, sessionPrefix } from '../keys.ts';

/**
 * Session v1: one document for each refresh. It copies the account's fields that a refresh needs, so a refresh reads
 * the account only when the account has changed.
 */

const SESSION_BYTES_MAX = 8 * 1024;

export const CLIENT_PLATFORMS = ['windows', 'macos', 'linux', 'web'] as const;
export type ClientPlatform = (typeof CLIENT_PLATFORMS)[number];

const timeSchema = z.iso.datetime();

export const sessionSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('session'),
  account: z.string(),
  session: z.string(),
  counter: z.int().positive(),
  change_id: z.uuid(),
  at: timeSchema.describe('When this document was created: at the sign-in or at a refresh.'),
  started_at: timeSchema,
  expires_at: timeSchema.describe('When the session expires, however often it is refreshed.'),
  platform: z.enum(CLIENT_PLATFORMS),
  device: z.object({
    digest: z.string().describe('A keyed digest of the id of the device.'),
    name: z.string(),
    os_version: z.string().nullable(),
    app_version: z.string().nullable(),
  }),
  account_revision: z
    .int()
    .positive()
    .describe('The number of the account document that account_copy was copied from.'),
  account_copy: z.object({
    email: z.string(),
    email_verified: z.boolean(),
    tier: z.string().nullable(),
  }),
});

export type SessionJson = z.output<typeof sessionSchema>;

export function sessionSequence(account: string, session: string): Sequence<Sealed<SessionJson>> {
  return defineSequence({
    name: 'session',
    schema: sessionSchema,
    documentBytesMax: SESSION_BYTES_MAX,
    key: (counter) => sessionKey(account, session, counter),
    endKey: endKey(sessionPrefix(account, session)),
    expected: (counter) => ({ account, session, counter }),
  });
}

export function accountCopyOf(
  account: Account,
): Pick<SessionJson, 'account_revision' | 'account_copy'> {
  return {
    account_revision: account.revision,
    account_copy: {
      email: account.email,
      email_verified: account.emailVerified,
      tier: account.tier,
    },
  };
}
