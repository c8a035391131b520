import pLimit from 'p-limit';
import { AppError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import { type EndDeps, endSequence } from '../../../store/sequence/end.ts';
import { type ChangeDeps, changeAccount, requireOpenAccount } from '../accounts/change-account.ts';
import { sessionPrefix } from '../keys.ts';
import { listOpen, STORE_CALLS_AT_ONCE } from './list-sessions.ts';
import { SESSION_END_KEPT_MS } from './session-lifetimes.ts';

export type EndReason =
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'ended_by_owner'
  | 'reused'
  | 'other_device'
  | 'account_locked'
  | 'account_erased'
  | 'expired';

/**
 * Ends a session permanently. Ending it again changes nothing. The access tokens of the session are valid until they
 * expire, at the latest ten minutes after the service issued them.
 */
export async function endSession(
  deps: EndDeps & { readonly log?: Log },
  account: string,
  session: string,
  reason: EndReason,
): Promise<void> {
  const ending = { reason, keptMs: SESSION_END_KEPT_MS };
  const isNew = await endSequence(deps, sessionPrefix(account, session), ending);
  if (isNew) deps.log?.info({ account, session, reason }, 'session ended');
}

/**
 * Ends one session of an account, when the owner requests it from another session.
 *
 * @throws AppError `unknown_session` when the account has no such session, `not_signed_in`
 */
export async function endOneSession(
  deps: ChangeDeps,
  account: string,
  session: string,
): Promise<void> {
  if (deps.guard !== undefined) await requireOpenAccount(deps, account);
  if (!(await listOpen(deps.store, account)).has(session)) {
    throw new AppError('unknown_session', 'There is no such session, or it has ended.');
  }
  await endSession(deps, account, session, 'ended_by_owner');
}

/**
 * Ends every session of an account. After a failure, some of the sessions may have ended.
 *
 * @param except a session that continues
 */
export async function endAllSessions(
  deps: EndDeps,
  account: string,
  reason: EndReason,
  except: string | null = null,
): Promise<void> {
  const open = [...(await listOpen(deps.store, account)).keys()].filter((id) => id !== except);
  const limit = pLimit(STORE_CALLS_AT_ONCE);
  await Promise.all(open.map((session) => limit(() => endSession(deps, account, session, reason))));
}

/**
 * Signs the owner out everywhere: ends every session of the account, including one that begins meanwhile.
 *
 * @param own the session that sent the request. This session ends last, so that the owner can try again after a failure
 */
export async function signOutEverywhere(deps: ChangeDeps, id: string, own: string): Promise<void> {
  const before = new Date(deps.clock.now()).toISOString();
  const sessionsEnded = { before, except: null };
  await changeAccount(deps, id, () => ({ change: 'sessions ended', sessionsEnded }));
  await endAllSessions(deps, id, 'signed_out_everywhere', own);
  await endSession(deps, id, own, 'signed_out_everywhere');
}
