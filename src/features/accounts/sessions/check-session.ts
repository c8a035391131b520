import type { ObjectStore } from '../../../store/object-store.ts';
import { type EndDeps, isEnded } from '../../../store/sequence/end.ts';
import { readSoundDocument } from '../../../store/sequence/sequence.ts';
import type { Principal } from '../access-tokens/access-token.ts';
import { endsSession } from '../accounts/account-document.ts';
import type { ChangeGuard } from '../accounts/change-account.ts';
import { notSignedIn } from '../identity-errors.ts';
import { sessionPrefix } from '../keys.ts';
import { listOpen } from './list-sessions.ts';
import { sessionSequence } from './session-document.ts';
import { REFRESH_GRACE_MS } from './session-lifetimes.ts';

/** Reads from the store whether a session may still make changes. */

export type GuardedSession = Pick<Principal, 'account' | 'session'> &
  Partial<Pick<Principal, 'startedAt'>>;

/**
 * A guard that refuses changes by a session that has ended. Without this guard, the access tokens of an ended session
 * could make changes until they expire, ten minutes later at the latest.
 *
 * @param options.isSigningOut checks only the end marker, and not the account. Signing out everywhere changes the
 *   account first, and the same session must be able to try again after a failure
 * @throws AppError `not_signed_in` when the session has ended or the account is locked
 */
export function guardSession(
  store: ObjectStore,
  { account: id, session, startedAt = 0 }: GuardedSession,
  { isSigningOut = false } = {},
): ChangeGuard {
  return async (account) => {
    if (account.locked !== null) throw notSignedIn();
    if (!isSigningOut && endsSession(account, session, startedAt)) throw notSignedIn();
    if (await isEnded(store, sessionPrefix(id, session))) throw notSignedIn();
  };
}

/**
 * Says whether a session has ended, and whether a refresh token of the session is current. A token is current if it is
 * the newest token, or if the newest token replaced it at most {@link REFRESH_GRACE_MS} ago.
 *
 * @param counter the number of the refresh token; undefined for an access token, which is always `current`
 */
export async function standingOf(
  { store, clock }: EndDeps,
  account: string,
  session: string,
  counter?: number,
): Promise<'ended' | 'current' | 'replaced'> {
  const newest = (await listOpen(store, account)).get(session);
  if (newest === undefined) return 'ended';
  if (counter === undefined || counter >= newest) return 'current';
  if (counter < newest - 1) return 'replaced';
  const successor = await readSoundDocument(store, sessionSequence(account, session), newest);
  const at = Date.parse(successor?.signed.at ?? '');
  return clock.now() - at <= REFRESH_GRACE_MS ? 'current' : 'replaced';
}
