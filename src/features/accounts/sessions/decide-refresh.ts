import { type Account, endsSession } from '../accounts/account-document.ts';
import type { EndReason } from './end-session.ts';
import { accountCopyOf, type ClientPlatform, type SessionJson } from './session-document.ts';
import { REFRESH_GRACE_MS, SESSION_IDLE_MS } from './session-lifetimes.ts';

/** The facts that one refresh has read. */
export interface RefreshFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** True when the session has an end marker. */
  readonly isEnded: boolean;
  /** The state of the session that the token names; undefined once clean-up has deleted it. */
  readonly presented: SessionJson | undefined;
  /** The state after `presented`. It exists when the token was exchanged before. */
  readonly successor: SessionJson | undefined;
  /** True when the successor's token was exchanged, too. */
  readonly isSuccessorExchanged: boolean;
  /**
   * True when this process wrote the successor but could not confirm that to the client, because the store failed. See
   * `UnconfirmedRefreshes`.
   */
  readonly isUnconfirmed: boolean;
  /** True when the request comes from the device that the token was issued to. */
  readonly isSameDevice: boolean;
  readonly platform: ClientPlatform;
  /** The account, if it changed after the state that the token names; `erased` when the account is gone. */
  readonly account: Account | 'unchanged' | 'erased';
}

export type RefreshDecision =
  /** The session has ended already. */
  | { readonly action: 'refuse' }
  /** End the session, then refuse. */
  | { readonly action: 'end'; readonly reason: EndReason }
  /** Answer with the token of this state, which an earlier refresh created. */
  | { readonly action: 'repeat'; readonly state: SessionJson }
  /** Create this state, and answer with its token. */
  | { readonly action: 'advance'; readonly state: Omit<SessionJson, 'change_id'> };

/**
 * Decides the answer to a refresh. The function is pure, and it never throws.
 *
 * Each refresh replaces the token, and the service detects the reuse of a replaced token (RFC 9700, section 4.14.2).
 * When a token is stolen, either the thief or the owner later presents a token that the other person has exchanged. The
 * session ends then, because the service cannot distinguish the thief from the owner. The reuse of a token is not a
 * sign of theft if the token was exchanged within {@link REFRESH_GRACE_MS} and its successor was not exchanged.
 */
export function decideRefresh(facts: RefreshFacts): RefreshDecision {
  const { now, presented, successor, account } = facts;
  if (facts.isEnded || account === 'erased') return { action: 'refuse' };
  // Clean-up deletes a state only after at least two later refreshes.
  if (presented === undefined) return end('reused');
  if (!facts.isSameDevice || presented.platform !== facts.platform) return end('other_device');
  if (account !== 'unchanged') {
    if (account.locked !== null) return end('account_locked');
    if (endsSession(account, presented.session, Date.parse(presented.started_at))) {
      return end('signed_out_everywhere');
    }
  }
  if (successor !== undefined) {
    const isLate = now - Date.parse(successor.at) > REFRESH_GRACE_MS;
    const isReused = facts.isSuccessorExchanged || (isLate && !facts.isUnconfirmed);
    return isReused ? end('reused') : { action: 'repeat', state: successor };
  }
  if (now - Date.parse(presented.at) > SESSION_IDLE_MS) return end('expired');
  const { change_id: _, ...state } = presented;
  return {
    action: 'advance',
    state: {
      ...state,
      counter: state.counter + 1,
      at: new Date(now).toISOString(),
      ...(account === 'unchanged' ? {} : accountCopyOf(account)),
    },
  };
}

function end(reason: EndReason): RefreshDecision {
  return { action: 'end', reason };
}
