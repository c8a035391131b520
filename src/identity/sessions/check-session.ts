import type { ObjectStore } from '../../object-store/object-store.ts';
import { isEnded } from '../../sequence/end.ts';
import { notSignedIn, type Principal } from '../access-tokens/access-token.ts';
import type { ChangeGuard } from '../accounts/account.ts';
import { sessionPrefix } from '../keys.ts';

export type GuardedSession = Pick<Principal, 'account' | 'session'> &
  Partial<Pick<Principal, 'startedAt'>>;

/**
 * Refuses changes with the access token of a session that is over: the token itself is good for ten
 * minutes, whatever happens meanwhile.
 *
 * @param options.isSigningOut ignores that the account says that this session is over, and looks at its
 *   marker alone: signing out everywhere says so first, and must be possible again when it failed half way
 * @throws AppError `not_signed_in` when the session has ended or the account is locked; the store's
 */
export function guardSession(
  store: ObjectStore,
  { account, session, startedAt = 0 }: GuardedSession,
  { isSigningOut = false } = {},
): ChangeGuard {
  return async ({ locked, sessionsNotBefore, sessionKept }) => {
    const isBefore = sessionsNotBefore !== null && Date.parse(sessionsNotBefore) > startedAt;
    const isOver = isBefore && sessionKept !== session;
    if (locked !== null || (isOver && !isSigningOut)) throw notSignedIn();
    if (await isEnded(store, sessionPrefix(account, session))) throw notSignedIn();
  };
}
