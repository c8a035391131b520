import { createHash } from 'node:crypto';
import { AppError, isAppError } from '../../errors.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { type AppendDeps, appendDocument } from '../../sequence/append.ts';
import { createRetrying } from '../../sequence/create-settled.ts';
import { isEnded } from '../../sequence/end.ts';
import { SCHEMA_VERSION } from '../../sequence/envelope.ts';
import { seal } from '../../sequence/sealed.ts';
import { findLast, findNewest, readDocument, type Sequence } from '../../sequence/sequence.ts';
import { isLongGone } from '../../sequence/trim.ts';
import { accountPrefix } from '../keys.ts';
import {
  type Account,
  type AccountJson,
  accountOf,
  accountSequence,
  type Provider,
} from './account-document.ts';

/** Accounts: what the store knows of somebody, one document for each change. */

/** What a change may set. */
export interface AccountEdit {
  readonly change: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly name?: string | null;
  readonly tier?: string | null;
  readonly providerTier?: string | null;
  readonly locked?: { readonly at: string; readonly reason: string | null } | null;
  readonly sessionsNotBefore?: string;
  /** With `sessionsNotBefore`: the one session that it does not end. */
  readonly sessionKept?: string;
  readonly keysNotBefore?: string;
  readonly password?: string;
}

/**
 * Whether the one who asks for a change may make it, held against every state that the change starts
 * from: a lock or a log-out that comes between two tries refuses the second.
 *
 * @throws AppError `not_signed_in`
 */
export type ChangeGuard = (account: Account) => Promise<void>;

export interface ChangeDeps extends AppendDeps {
  /** Undefined for what admins do. */
  readonly guard?: ChangeGuard;
}

/**
 * An address in the form under which accounts are known: without spaces around it, in lower case.
 * Mailboxes that differ only in case are one person's in practice, and two accounts a trap.
 */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').trim().toLowerCase();
}

/**
 * The account of somebody, from the provider's name for them: the same for every replica, and taken
 * only once because its first document can be created only once.
 *
 * @param subject the address for `embedded`, the user's id for others
 */
export function accountIdOf(provider: Provider, subject: string): string {
  return createHash('sha256')
    .update(`slipway account\n${provider}\n${subject}`)
    .digest('hex')
    .slice(0, 32);
}

/**
 * The account as it is now; undefined when there is none, or none any more.
 *
 * Most accounts have one or two documents: those are asked for at once, with the marker of the end, in
 * one round trip.
 *
 * @throws AppError `document_newer`, and the store's
 */
export async function readAccount(store: ObjectStore, id: string): Promise<Account | undefined> {
  const sequence = accountSequence(id);
  const [ended, first, second] = await Promise.all([
    isEnded(store, accountPrefix(id)),
    readUnlessCorrupt(store, sequence, 1),
    readUnlessCorrupt(store, sequence, 2),
  ]);
  if (ended || (first === undefined && second === undefined)) return undefined;
  const isAll = second === undefined && first !== undefined && first !== 'corrupt';
  if (isAll) return accountOf(first.signed);
  const { newest, last, corrupt } = await findNewest(store, sequence);
  if (newest === undefined || isLongGone(newest.number, last, corrupt.length)) return undefined;
  // Past the damage: else each refresh would stumble over it again, and its owner sign in for ever.
  return { ...accountOf(newest.document.signed), revision: last };
}

async function readUnlessCorrupt<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  number: number,
): Promise<T | 'corrupt' | undefined> {
  try {
    return await readDocument(store, sequence, number);
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    return 'corrupt';
  }
}

/**
 * The account's next document after a known one, in a single request; undefined when nothing changed.
 *
 * A document that cannot be read counts as a change that nobody can vouch for.
 *
 * @throws AppError `document_corrupt`, and the store's
 */
export async function readAccountAfter(
  store: ObjectStore,
  id: string,
  revision: number,
): Promise<Account | undefined> {
  const document = await readDocument(store, accountSequence(id), revision + 1);
  return document === undefined ? undefined : accountOf(document.signed);
}

/**
 * The account as it is now, from one of its documents that no session has seen: none after that was
 * trimmed. One request when that is the newest document, and few more otherwise.
 *
 * @throws AppError `document_newer`, and the store's
 */
export async function readAccountFrom(
  store: ObjectStore,
  earlier: Account,
): Promise<Account | undefined> {
  const sequence = accountSequence(earlier.id);
  const last = await findLast(store, sequence, earlier.revision);
  if (last === earlier.revision) return earlier;
  const newest = await readUnlessCorrupt(store, sequence, last);
  const isSound = newest !== undefined && newest !== 'corrupt';
  return isSound ? accountOf(newest.signed) : readAccount(store, earlier.id);
}

export interface NewAccount {
  readonly provider: Provider;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly providerTier: string | null;
  readonly password: string | null;
}

/**
 * Creates the account unless there is one: `exists` says that there is, or was until a moment ago.
 *
 * The same requests in the same order either way: what a stranger could measure of an address that is
 * registered is only what the store itself does differently.
 */
export async function createAccount(
  deps: AppendDeps,
  account: NewAccount,
): Promise<'created' | 'exists'> {
  const id = accountIdOf(account.provider, account.subject);
  const sequence = accountSequence(id);
  const at = new Date(deps.clock.now()).toISOString();
  const document = seal<AccountJson>({
    schema_version: SCHEMA_VERSION,
    type: 'account',
    account: id,
    number: 1,
    skipped: [],
    change_id: deps.randomness.id(),
    at,
    change: 'registered',
    registered_at: at,
    provider: account.provider,
    subject: account.subject,
    email: account.email,
    email_verified: account.emailVerified,
    name: account.name,
    tier: null,
    provider_tier: account.providerTier,
    locked: null,
    sessions_not_before: null,
    session_kept: null,
    keys_not_before: null,
    password: account.password,
  });
  if (await isEnded(deps.store, accountPrefix(id))) return 'exists';
  return createRetrying(deps, sequence.key(1), sequence.render(document));
}

/**
 * Commits one change to an account.
 *
 * @param edit undefined when nothing has to change; called again on the newer state whenever another
 *   writer was first
 * @throws AppError `unknown_account`, `ended`, those of the guard, and those of `appendDocument`
 */
export async function changeAccount(
  deps: ChangeDeps,
  id: string,
  edit: (account: Account) => AccountEdit | undefined,
): Promise<Account> {
  const appended = await appendDocument(deps, accountSequence(id), async (base) => {
    const { newest, number, skipped } = base;
    // As `readAccount` has it: no change goes on from a state that cannot be read.
    if (newest === undefined || isLongGone(newest.number, number - 1, skipped.length)) {
      throw unknownAccount();
    }
    const current = newest.document.signed;
    const account = accountOf(current);
    await deps.guard?.(account);
    const edited = edit(account);
    if (edited === undefined) return undefined;
    return seal<AccountJson>({
      ...current,
      number,
      skipped: [...skipped],
      change_id: base.changeId,
      at: new Date(deps.clock.now()).toISOString(),
      change: edited.change,
      email: edited.email ?? current.email,
      email_verified: edited.emailVerified ?? current.email_verified,
      name: edited.name === undefined ? current.name : edited.name,
      tier: edited.tier === undefined ? current.tier : edited.tier,
      provider_tier:
        edited.providerTier === undefined ? current.provider_tier : edited.providerTier,
      locked: edited.locked === undefined ? current.locked : edited.locked,
      ...(edited.sessionsNotBefore === undefined
        ? {}
        : {
            sessions_not_before: edited.sessionsNotBefore,
            session_kept: edited.sessionKept ?? null,
          }),
      keys_not_before: edited.keysNotBefore ?? current.keys_not_before,
      password: edited.password ?? current.password,
    });
  });
  const newest =
    appended.outcome === 'created' ? appended.entry.document : appended.newest?.document;
  if (newest === undefined) throw unknownAccount();
  return accountOf(newest.signed);
}

export function unknownAccount(): AppError {
  return new AppError(
    'unknown_account',
    'There is no such account (any more). "slipway accounts list" shows what there is.',
  );
}
