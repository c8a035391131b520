import type { AppendDeps } from '../../store/sequence/append.ts';
import { endSequence, isEnded, removeEnded } from '../../store/sequence/end.ts';
import { listSequences, removableKeys } from '../../store/sequence/trim.ts';
import { endExpiredInvitations } from './accounts/invitations.ts';
import { eraseBelongings } from './erase-account.ts';
import {
  ACCOUNTS_ROOT,
  accountPrefix,
  DEVELOPER_KEYS_ROOT,
  INVITATIONS_ROOT,
  parseAccountEnd,
  parseAccountKey,
  parseDeveloperKeyListKey,
  parseSessionKey,
  SESSIONS_ROOT,
  sessionPrefix,
} from './keys.ts';
import { removeOldLockouts } from './passwords/lockout.ts';
import { lowestAccountRevision } from './sessions/list-sessions.ts';
import { SESSION_IDLE_MS, SESSION_LIFE_MS } from './sessions/session-lifetimes.ts';

/** Cleans up in the background, with listings and deletions that no request waits for. */

/**
 * The service keeps this number of the newest documents of a session. With these documents, a refresh can tell a lost
 * answer from theft.
 */
export const SESSION_DOCUMENTS_KEPT = 3;
/** A margin for refreshes at the last moment, and for a store whose clock differs from this process's. */
const IDLE_MARGIN_MS = 86_400_000;

/**
 * Completes erasures, ends expired sessions and invitations, and deletes the documents that the service does not need.
 * After a failure, the next run does the rest.
 *
 * @returns the number of objects that were deleted
 */
export async function cleanUpIdentity(deps: AppendDeps): Promise<number> {
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

/**
 * Completes erasures that failed half way. The caller removes the end markers, which block the accounts, only
 * afterwards.
 */
async function completeErasures(deps: AppendDeps): Promise<void> {
  for await (const { key } of deps.store.list(ACCOUNTS_ROOT)) {
    const account = parseAccountEnd(key);
    // Checks the end marker again: since the listing, another process may have removed the marker, and the person may
    // have registered again.
    if (account === undefined || !(await isEnded(deps.store, accountPrefix(account)))) continue;
    await eraseBelongings(deps, account);
  }
}

/** Ends the sessions that have expired, and keeps only the newest documents of the other sessions. */
async function trimSessions(deps: AppendDeps): Promise<number> {
  let deleted = 0;
  for await (const { of, documents } of listSequences(deps.store, SESSIONS_ROOT, parseSession)) {
    const writtenAt = Math.max(...documents.map((document) => document.writtenAt));
    if (deps.clock.now() - writtenAt > SESSION_IDLE_MS + IDLE_MARGIN_MS) {
      await endSequence(deps, of, { reason: 'expired', keptMs: SESSION_LIFE_MS });
      continue;
    }
    const inOrder = [...documents].sort((a, b) => a.number - b.number);
    for (const { key } of inOrder.slice(0, -SESSION_DOCUMENTS_KEPT)) {
      await deps.store.delete(key);
      deleted++;
    }
  }
  return deleted;
}

/** The session's prefix and the document's number in the key of a session document; undefined for any other key. */
function parseSession(key: string): { readonly of: string; readonly number: number } | undefined {
  const object = parseSessionKey(key);
  if (object?.counter === undefined) return undefined;
  return { of: sessionPrefix(object.account, object.session), number: object.counter };
}

/**
 * Deletes the account documents that neither galloping nor a session needs. A session looks for changes in the account
 * document after the last document that it knows. If that next document were missing, the session would miss every
 * change.
 */
async function trimAccounts(deps: AppendDeps): Promise<number> {
  let deleted = 0;
  for await (const listed of listSequences(deps.store, ACCOUNTS_ROOT, parseAccountKey)) {
    const removable = removableKeys(deps, listed);
    if (removable.length === 0) continue;
    const lowest = await lowestAccountRevision(deps.store, listed.of);
    for (const { key } of removable.filter(({ number }) => number <= lowest)) {
      await deps.store.delete(key);
      deleted++;
    }
  }
  return deleted;
}

/**
 * Deletes old lists of developer keys. No session reads these lists, so sessions set no limit as they do in
 * {@link trimAccounts}.
 */
async function trimDeveloperKeyLists(deps: AppendDeps): Promise<number> {
  let deleted = 0;
  const lists = listSequences(deps.store, DEVELOPER_KEYS_ROOT, parseDeveloperKeyListKey);
  for await (const listed of lists) {
    for (const { key } of removableKeys(deps, listed)) {
      await deps.store.delete(key);
      deleted++;
    }
  }
  return deleted;
}
