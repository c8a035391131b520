import { AppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { AppendDeps } from '../sequence/append.ts';
import { END_KEPT_MS_MIN, eraseSequence, isMarker } from '../sequence/end.ts';
import {
  accountIdOf,
  type ChangeDeps,
  changeAccount,
  normalizeEmail,
  readAccount,
  unknownAccount,
} from './accounts/account.ts';
import type { Account } from './accounts/account-document.ts';
import { endInvitations, endInvitationsOf } from './accounts/invitations.ts';
import { revokeAllDeveloperKeys } from './developer-keys/developer-keys.ts';
import { ACCOUNTS_ROOT, accountPrefix, developerKeysPrefix, sessionsPrefix } from './keys.ts';
import type { PasswordHasher } from './passwords/password-hasher.ts';
import { checkPassword } from './passwords/password-rule.ts';
import { endAllSessions } from './sessions/list-sessions.ts';
import { endSession } from './sessions/sessions.ts';

/** What owners and admins do to accounts. A change comes first, the end of its sessions after it. */

/** @throws AppError `unknown_account`, and those of `changeAccount` */
export function setName(deps: ChangeDeps, id: string, name: string | null): Promise<Account> {
  return changeAccount(deps, id, (account) =>
    account.name === name ? undefined : { change: 'name', name },
  );
}

/** @param tier one of the table's, or null: what the provider says, else the first */
export function setTier(deps: AppendDeps, id: string, tier: string | null): Promise<Account> {
  return changeAccount(deps, id, (account) =>
    account.adminTier === tier ? undefined : { change: 'tier', tier },
  );
}

/** Locks an account and ends its sessions; run it again when it failed half way. */
export async function lockAccount(
  deps: AppendDeps,
  id: string,
  reason: string | null,
): Promise<Account> {
  const at = new Date(deps.clock.now()).toISOString();
  const account = await changeAccount(deps, id, ({ locked }) => {
    // A session that misses the lock because it was lifted soon is over all the same.
    if (locked === null) {
      return { change: 'locked', locked: { at, reason }, sessionsNotBefore: at };
    }
    const isSame = reason === null || reason === locked.reason;
    return isSame ? undefined : { change: 'locked', locked: { at: locked.at, reason } };
  });
  await endAllSessions(deps, id, 'account_locked');
  return account;
}

export function unlockAccount(deps: AppendDeps, id: string): Promise<Account> {
  return changeAccount(deps, id, ({ locked }) =>
    locked === null ? undefined : { change: 'unlocked', locked: null },
  );
}

/**
 * Ends every session of an account, also one that is being begun at this moment. The session that asks
 * ends last: with it over, a log-out that failed half way could not be tried again.
 */
export async function endEverySession(deps: ChangeDeps, id: string, own: string): Promise<void> {
  const sessionsNotBefore = new Date(deps.clock.now()).toISOString();
  await changeAccount(deps, id, () => ({ change: 'sessions ended', sessionsNotBefore }));
  await endAllSessions(deps, id, 'logged_out_everywhere', own);
  await endSession(deps, id, own, 'logged_out_everywhere');
}

/**
 * A new password. It ends every session that was begun with the old one, and every developer key:
 * whoever knew the old password may have made one.
 *
 * @throws AppError `weak_password`, `not_configured`, and those of `changeAccount`
 */
export async function setPassword(
  deps: AppendDeps & { readonly passwords: PasswordHasher },
  id: string,
  password: string,
): Promise<Account> {
  const { email } = (await readAccount(deps.store, id)) ?? {};
  if (email === undefined) throw unknownAccount();
  await checkPassword(password, email);
  const hash = await deps.passwords.hash(password);
  const now = new Date(deps.clock.now()).toISOString();
  const account = await changeAccount(deps, id, ({ provider }) => {
    if (provider === 'embedded') {
      return { change: 'password', password: hash, sessionsNotBefore: now, keysNotBefore: now };
    }
    throw new AppError(
      'not_configured',
      `The password of this account is kept by ${provider}; change it there.`,
    );
  });
  await endAllSessions(deps, id, 'logged_out_everywhere');
  await revokeAllDeveloperKeys(deps, id);
  return account;
}

/**
 * Deletes everything of an account: sessions, developer keys, the account. Its address can register
 * again when the marker of the end is gone, after an hour or two.
 *
 * @throws AppError the store's: run it again then
 */
export async function eraseAccount(deps: AppendDeps, id: string): Promise<void> {
  const { email } = (await readAccount(deps.store, id)) ?? {};
  // Named after its address, not after the account of another provider: once that is gone, a second try
  // would not find them.
  if (email !== undefined) await endInvitations(deps, email, 'erased');
  // The account ends before the rest: nobody can sign in while the rest is being deleted.
  await eraseSequence(deps, accountPrefix(id), { reason: 'erased', keptMs: END_KEPT_MS_MIN });
  await eraseBelongings(deps, id);
}

/** What an account that has ended still has; also the rest of an erasure that was cut short. */
export async function eraseBelongings(deps: AppendDeps, id: string): Promise<void> {
  await endAllSessions(deps, id, 'account_erased');
  await eraseSequence(deps, developerKeysPrefix(id), { reason: 'erased', keptMs: END_KEPT_MS_MIN });
  await endInvitationsOf(deps, id, 'erased');
  await removeSessionDocuments(deps, id);
}

/** Sessions keep their markers for as long as their tokens live, and nothing else. */
async function removeSessionDocuments(deps: AppendDeps, id: string): Promise<void> {
  const { store } = deps;
  for await (const { key } of store.list(sessionsPrefix(id))) {
    if (!isMarker(key)) await store.delete(key);
  }
}

/**
 * The account that admins mean: by its id, or by its address.
 *
 * @throws AppError `unknown_account`, and the store's
 */
export async function findAccount(store: ObjectStore, idOrEmail: string): Promise<Account> {
  const isId = /^[0-9a-f]{32}$/.test(idOrEmail);
  const id = isId ? idOrEmail : accountIdOf('embedded', normalizeEmail(idOrEmail));
  const account = await readAccount(store, id);
  if (account !== undefined) return account;
  if (!isId) {
    // Other providers' accounts are found under the provider's name for them.
    for await (const candidate of listAccounts(store)) {
      if (candidate.email === normalizeEmail(idOrEmail)) return candidate;
    }
  }
  throw unknownAccount();
}

/** Every account, in no order that means anything. @throws AppError the store's */
export async function* listAccounts(store: ObjectStore): AsyncIterable<Account> {
  let last = '';
  for await (const { key } of store.list(ACCOUNTS_ROOT)) {
    const id = key.slice(ACCOUNTS_ROOT.length).split('/')[0] ?? '';
    if (id === last) continue;
    last = id;
    const account = await readAccount(store, id);
    if (account !== undefined) yield account;
  }
}
