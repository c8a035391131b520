import { checkReason } from '../../domain/reason.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import type { Account } from './accounts/account-document.ts';
import { changeAccount } from './accounts/change-account.ts';
import { endAllSessions } from './sessions/end-session.ts';

/**
 * Locks an account and ends its sessions. After a failure half way, a second call completes the lock.
 *
 * @throws AppError `invalid_request` for the reason; `unknown_account`, `ended`
 */
export async function lockAccount(
  deps: AppendDeps,
  id: string,
  reason: string | null,
): Promise<Account> {
  checkReason(reason);
  const at = new Date(deps.clock.now()).toISOString();
  const account = await changeAccount(deps, id, ({ locked }) => {
    if (locked === null) {
      // `sessionsEnded` also ends a session whose client makes no request while the account is locked.
      const sessionsEnded = { before: at, except: null };
      return { change: 'locked', locked: { at, reason }, sessionsEnded };
    }
    const isSame = reason === null || reason === locked.reason;
    return isSame ? undefined : { change: 'locked', locked: { at: locked.at, reason } };
  });
  await endAllSessions(deps, id, 'account_locked');
  return account;
}

/** @throws AppError `unknown_account`, `ended` */
export function unlockAccount(deps: AppendDeps, id: string): Promise<Account> {
  return changeAccount(deps, id, ({ locked }) =>
    locked === null ? undefined : { change: 'unlocked', locked: null },
  );
}
