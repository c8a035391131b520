import type { AppendDeps } from '../sequence/append.ts';
import { endSequence, isEnded, removeEnded } from '../sequence/end.ts';
import { endExpiredInvitations } from './accounts/invitations.ts';
import { eraseBelongings } from './erase-account.ts';
import {
  ACCOUNTS_ROOT,
  accountPrefix,
  DEVELOPER_KEYS_ROOT,
  INVITATIONS_ROOT,
  parseAccountEnd,
  parseSessionKey,
  SESSIONS_ROOT,
  sessionKey,
  sessionPrefix,
} from './keys.ts';
import { removeOldLockouts } from './passwords/lockout.ts';
import { SESSION_IDLE_MS, SESSION_LIFE_MS } from './sessions/sessions.ts';
import { trimAccounts, trimDeveloperKeyLists } from './trim.ts';

/** Clearing up, in the background: listings and deletions, a refresh waits for none of them. */

/** So many of a session's newest documents are kept: enough to tell a lost answer from a stolen token. */
export const SESSION_DOCUMENTS_KEPT = 3;
/** A refresh at the last moment, and a store whose clock differs, must not find its session ended. */
const IDLE_MARGIN_MS = 86_400_000;

/**
 * Ends the sessions that nobody can refresh any more, keeps the newest documents of the others and of
 * accounts, and clears away what has ended.
 *
 * @returns how many objects were deleted
 * @throws AppError the store's; the rest is done the next time
 */
export async function clearUpIdentity(deps: AppendDeps): Promise<number> {
  await completeErasures(deps);
  await endExpiredInvitations(deps);
  return (
    (await trimSessions(deps)) +
    (await trimAccounts(deps)) +
    (await trimDeveloperKeyLists(deps)) +
    (await removeEnded(deps, SESSIONS_ROOT, SESSION_LIFE_MS)) +
    (await removeEnded(deps, ACCOUNTS_ROOT)) +
    (await removeEnded(deps, DEVELOPER_KEYS_ROOT)) +
    (await removeEnded(deps, INVITATIONS_ROOT)) +
    (await removeOldLockouts(deps))
  );
}

/** Erasures that were cut short, before the marker goes that keeps everybody out of the account. */
async function completeErasures(deps: AppendDeps): Promise<void> {
  for await (const { key } of deps.store.list(ACCOUNTS_ROOT)) {
    const account = parseAccountEnd(key);
    // Looked for again: since it was listed, another process may have cleared it away, and somebody
    // registered anew.
    if (account === undefined || !(await isEnded(deps.store, accountPrefix(account)))) continue;
    await eraseBelongings(deps, account);
  }
}

interface Stored {
  readonly account: string;
  readonly session: string;
  readonly counters: number[];
  isEnded: boolean;
  /** By the store's clock; milliseconds since the epoch. */
  writtenAt: number;
}

async function trimSessions(deps: AppendDeps): Promise<number> {
  let deleted = 0;
  // In key order: all of a session comes in one piece.
  let current: Stored | undefined;
  for await (const { key, lastModified } of deps.store.list(SESSIONS_ROOT)) {
    const object = parseSessionKey(key);
    if (object === undefined) continue;
    const { account, session, counter } = object;
    if (current?.session !== session || current.account !== account) {
      if (current !== undefined) deleted += await trim(deps, current);
      current = { account, session, counters: [], isEnded: false, writtenAt: 0 };
    }
    if (counter === undefined) current.isEnded = true;
    else {
      current.counters.push(counter);
      current.writtenAt = Math.max(current.writtenAt, lastModified.getTime());
    }
  }
  if (current !== undefined) deleted += await trim(deps, current);
  return deleted;
}

async function trim(deps: AppendDeps, stored: Stored): Promise<number> {
  const { account, session, counters, isEnded, writtenAt } = stored;
  if (isEnded) return 0;
  if (deps.clock.now() - writtenAt > SESSION_IDLE_MS + IDLE_MARGIN_MS) {
    await endSequence(deps, sessionPrefix(account, session), {
      reason: 'expired',
      keptMs: SESSION_LIFE_MS,
    });
    return 0;
  }
  const oldest = counters
    .sort((a, b) => b - a)
    .slice(SESSION_DOCUMENTS_KEPT)
    .reverse();
  for (const counter of oldest) await deps.store.delete(sessionKey(account, session, counter));
  return oldest.length;
}
