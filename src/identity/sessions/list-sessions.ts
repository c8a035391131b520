import pLimit from 'p-limit';
import { AppError } from '../../errors.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { EndDeps } from '../../sequence/end.ts';
import { readSoundDocument } from '../../sequence/sequence.ts';
import { type ChangeDeps, readAccount, unknownAccount } from '../accounts/account.ts';
import { parseSessionKey, sessionsPrefix } from '../keys.ts';
import { type SessionJson, sessionSequence } from './session-document.ts';
import { type EndReason, endSession, REFRESH_GRACE_MS, SESSION_IDLE_MS } from './sessions.ts';

/** The sessions of one account, for its owner and for admins. Listings: never on the way of a refresh. */

/** However many sessions somebody began: the store is asked for a few at a time. */
const AT_ONCE = 8;

export interface SessionSummary {
  readonly id: string;
  readonly platform: SessionJson['platform'];
  readonly deviceName: string;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
  readonly startedAt: string;
  readonly refreshedAt: string;
  readonly expiresAt: string;
}

/** What is stored below an account's sessions: the newest counter of each that has not ended. */
async function listOpen(store: ObjectStore, account: string): Promise<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>();
  const ended = new Set<string>();
  for await (const { key } of store.list(sessionsPrefix(account))) {
    const object = parseSessionKey(key);
    if (object === undefined) continue;
    const { session, counter } = object;
    if (counter === undefined) ended.add(session);
    else newest.set(session, Math.max(counter, newest.get(session) ?? 0));
  }
  for (const session of ended) newest.delete(session);
  return newest;
}

/**
 * Whether a session is over, and whether a state of it is still the one that its client has: the newest,
 * or the one before while its answer may have been lost.
 *
 * @param counter undefined for what does not depend on a state
 * @throws AppError the store's
 */
export async function standingOf(
  { store, clock }: EndDeps,
  account: string,
  session: string,
  counter?: number,
): Promise<'over' | 'current' | 'replaced'> {
  const newest = (await listOpen(store, account)).get(session);
  if (newest === undefined) return 'over';
  if (counter === undefined || counter >= newest) return 'current';
  if (counter < newest - 1) return 'replaced';
  const successor = await readSoundDocument(store, sessionSequence(account, session), newest);
  const at = Date.parse(successor?.signed.at ?? '');
  return clock.now() - at <= REFRESH_GRACE_MS ? 'current' : 'replaced';
}

/**
 * The lowest number of the account's documents that an open session has seen last; infinite without any.
 *
 * @throws AppError the store's
 */
export async function lowestAccountRevision(store: ObjectStore, account: string): Promise<number> {
  const documents = await readOpen(store, account);
  return Math.min(...documents.map(({ account_revision: revision }) => revision));
}

/** Sessions that can still be refreshed, the latest first. @throws AppError the store's */
export async function listSessions(
  deps: EndDeps,
  account: string,
): Promise<readonly SessionSummary[]> {
  const { store, clock } = deps;
  return (await readOpen(store, account))
    .map(summaryOf)
    .filter(
      ({ expiresAt, refreshedAt }) =>
        Date.parse(expiresAt) > clock.now() &&
        Date.parse(refreshedAt) + SESSION_IDLE_MS > clock.now(),
    )
    .sort((a, b) => (a.refreshedAt < b.refreshedAt ? 1 : -1));
}

/** The newest document of each session that has not ended; a corrupt one cannot be refreshed. */
async function readOpen(store: ObjectStore, account: string): Promise<readonly SessionJson[]> {
  const open = [...(await listOpen(store, account))];
  const limit = pLimit(AT_ONCE);
  const documents = await Promise.all(
    open.map(([session, counter]) =>
      limit(() => readSoundDocument(store, sessionSequence(account, session), counter)),
    ),
  );
  return documents.flatMap((document) => (document === undefined ? [] : [document.signed]));
}

function summaryOf(state: SessionJson): SessionSummary {
  return {
    id: state.session,
    platform: state.platform,
    deviceName: state.device.name,
    osVersion: state.device.os_version,
    appVersion: state.device.app_version,
    startedAt: state.started_at,
    refreshedAt: state.at,
    expiresAt: state.expires_at,
  };
}

/**
 * Ends one session of an account, as its owner asks from another.
 *
 * @throws AppError `unknown_session` when the account has no such session, `unknown_account`, those of
 *   the guard, and the store's
 */
export async function endOneSession(
  deps: ChangeDeps,
  account: string,
  session: string,
): Promise<void> {
  if (deps.guard !== undefined) {
    const current = await readAccount(deps.store, account);
    if (current === undefined) throw unknownAccount();
    await deps.guard(current);
  }
  if (!(await listOpen(deps.store, account)).has(session)) {
    throw new AppError('unknown_session', 'There is no such session, or it has ended.');
  }
  await endSession(deps, account, session, 'ended_by_owner');
}

/**
 * Ends every session there is; returns how many.
 *
 * @param except one that is left
 * @throws AppError the store's: some may have ended
 */
export async function endAllSessions(
  deps: EndDeps,
  account: string,
  reason: EndReason,
  except: string | null = null,
): Promise<number> {
  const open = [...(await listOpen(deps.store, account)).keys()].filter((id) => id !== except);
  const limit = pLimit(AT_ONCE);
  await Promise.all(open.map((session) => limit(() => endSession(deps, account, session, reason))));
  return open.length;
}
