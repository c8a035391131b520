import type { AppendDeps } from '../../store/sequence/append.ts';
import { END_KEPT_MS_MIN, eraseSequence, isEnded, isMarker } from '../../store/sequence/end.ts';
import { readAccount } from './accounts/account.ts';
import { type ChangeDeps, changeAccount } from './accounts/change-account.ts';
import { endInvitations, endInvitationsOf } from './accounts/invitations.ts';
import { notSignedIn } from './identity-errors.ts';
import { accountPrefix, developerKeysPrefix, sessionsPrefix } from './keys.ts';
import { type OwnerProof, type ProofDeps, proveOwner } from './prove-password.ts';
import { endAllSessions } from './sessions/end-session.ts';

const ERASED = { reason: 'erased', keptMs: END_KEPT_MS_MIN };

/**
 * Deletes an account with its sessions, developer keys and invitations. The person can register the address again when
 * clean-up has removed the end marker, after one to two hours. After a failure, run it again.
 */
export async function eraseAccount(deps: AppendDeps, id: string): Promise<void> {
  const { email } = (await readAccount(deps.store, id)) ?? {};
  // The invitations end first, because the service stores them by address. When the account document is gone, a second
  // try cannot find the address.
  if (email !== undefined) await endInvitations(deps, email, 'erased');
  // The account ends before its sessions and keys, so that its owner cannot sign in meanwhile.
  await eraseSequence(deps, accountPrefix(id), ERASED);
  await eraseBelongings(deps, id);
}

/**
 * Deletes the remaining objects of an ended account. It also completes an erasure that failed half way. After a
 * failure, run it again.
 */
export async function eraseBelongings(deps: AppendDeps, id: string): Promise<void> {
  await endAllSessions(deps, id, 'account_erased');
  await eraseSequence(deps, developerKeysPrefix(id), ERASED);
  await endInvitationsOf(deps, id, 'erased');
  // The end markers of sessions stay for as long as their tokens could be valid.
  for await (const { key } of deps.store.list(sessionsPrefix(id))) {
    if (!isMarker(key)) await deps.store.delete(key);
  }
}

/**
 * Erases the account of an owner who proves their password. When an earlier try failed half way, it completes that
 * erasure.
 *
 * It first commits the owner's intention to the account, with the guard. When another process locks the account or
 * signs the owner out during the password check, the guard refuses the change and the service erases nothing.
 *
 * @throws AppError `not_signed_in`, `invalid_credentials`, `too_many_requests`
 */
export async function eraseOwnAccount(
  deps: ChangeDeps & ProofDeps,
  id: string,
  proof: OwnerProof,
): Promise<void> {
  const account = await readAccount(deps.store, id);
  if (account !== undefined) {
    await deps.guard?.(account);
    await proveOwner(deps, account, proof);
    await changeAccount(deps, id, () => ({ change: 'to be erased' }));
  } else if (!(await isEnded(deps.store, accountPrefix(id)))) {
    throw notSignedIn();
  }
  await eraseAccount(deps, id);
}
