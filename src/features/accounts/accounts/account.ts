import { createHash } from 'node:crypto';
import { isAppError } from '../../../core/errors.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { createRetrying } from '../../../store/sequence/create-settled.ts';
import { isEnded } from '../../../store/sequence/end.ts';
import { SCHEMA_VERSION } from '../../../store/sequence/envelope.ts';
import { seal } from '../../../store/sequence/sealed.ts';
import {
  findLast,
  findNewest,
  readDocument,
  type Sequence,
} from '../../../store/sequence/sequence.ts';
import { isLongGone } from '../../../store/sequence/trim.ts';
import { accountPrefix } from '../keys.ts';
import {
  type Account,
  type AccountJson,
  accountOf,
  accountSequence,
  type Provider,
  renderAccount,
} from './account-document.ts';

/** Reads accounts, and creates them. */

/**
 * The normal form of a mail address: in lower case, without white space around it.
 *
 * In practice, one person owns all mailboxes that differ only in case. With two accounts, that person would confuse the
 * two.
 */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').trim().toLowerCase();
}

/**
 * The id of an account, derived from the provider's identifier of the user. Every replica derives the same id. So two
 * concurrent registrations try to create the same first document, and one of them fails.
 *
 * @param subject the mail address for `embedded`, the user's id for other providers
 * @returns 32 hex digits
 */
export function accountIdOf(provider: Provider, subject: string): string {
  return createHash('sha256')
    .update(`slipway account\n${provider}\n${subject}`)
    .digest('hex')
    .slice(0, 32);
}

/**
 * The current state of an account; undefined when it does not exist, or was erased.
 *
 * Most accounts have one or two documents. The function reads both documents and the end marker in one round trip.
 *
 * @throws AppError `document_newer`
 */
export async function readAccount(store: ObjectStore, id: string): Promise<Account | undefined> {
  const sequence = accountSequence(id);
  const [ended, first, second] = await Promise.all([
    isEnded(store, accountPrefix(id)),
    readUnlessCorrupt(store, sequence, 1),
    readUnlessCorrupt(store, sequence, 2),
  ]);
  if (ended || (first === undefined && second === undefined)) return undefined;
  const isOnlyOne = second === undefined && first !== undefined && first !== 'corrupt';
  if (isOnlyOne) return accountOf(first.signed);
  const { newest, last, corrupt } = await findNewest(store, sequence);
  if (newest === undefined || isLongGone(newest.number, last, corrupt.length)) return undefined;
  // The number of the last document, even if it is corrupt. A session that remembers this number does not read the
  // corrupt document at each refresh. Reading the document would end the session.
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
 * The account's document that follows the known document `revision`. It takes one request. Undefined when nothing
 * changed.
 *
 * @throws AppError `document_corrupt`
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
 * The current state of an account. The search starts at `earlier`, and takes one request when `earlier` is the newest
 * state. Clean-up keeps every account document that is newer than the oldest document known to a session, so the search
 * misses no document.
 *
 * @returns undefined when the account was erased
 * @throws AppError `document_newer`
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

type NewAccount = Pick<
  Account,
  'provider' | 'subject' | 'email' | 'emailVerified' | 'name' | 'providerTier' | 'password'
>;

/**
 * Creates the account if it does not exist.
 *
 * It makes the same requests in both cases, so the number and order of the requests do not reveal whether an address
 * has an account.
 *
 * @returns `exists` also for an account that was erased within the last hour
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
    number: 1,
    skipped: [],
    change_id: deps.randomness.id(),
    at,
    change: 'registered',
    ...renderAccount({
      ...account,
      id,
      adminTier: null,
      locked: null,
      sessionsEnded: null,
      keysNotBefore: null,
      registeredAt: at,
    }),
  });
  if (await isEnded(deps.store, accountPrefix(id))) return 'exists';
  return createRetrying(deps, sequence.key(1), sequence.render(document));
}
