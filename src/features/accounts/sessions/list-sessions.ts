import pLimit from 'p-limit';
import type { ObjectStore } from '../../../store/object-store.ts';
import type { EndDeps } from '../../../store/sequence/end.ts';
import { readSoundDocument } from '../../../store/sequence/sequence.ts';
import { parseSessionKey, sessionsPrefix } from '../keys.ts';
import { type SessionJson, sessionSequence } from './session-document.ts';
import { SESSION_IDLE_MS } from './session-lifetimes.ts';

/** The sessions of one account. This file lists keys of the store; a refresh never waits for such a listing. */

/**
 * The number of requests that one listing sends to the store at once. The limit is necessary because an account may
 * have any number of sessions.
 */
export const STORE_CALLS_AT_ONCE = 8;

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

/** For each session of an account that has not ended, the number of its newest document. */
export async function listOpen(
  store: ObjectStore,
  account: string,
): Promise<ReadonlyMap<string, number>> {
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
 * The newest document of each session that has not ended. Leaves out a session whose newest document is corrupt,
 * because no client can refresh it.
 */
async function readOpen(store: ObjectStore, account: string): Promise<readonly SessionJson[]> {
  const open = [...(await listOpen(store, account))];
  const limit = pLimit(STORE_CALLS_AT_ONCE);
  const documents = await Promise.all(
    open.map(([session, counter]) =>
      limit(() => readSoundDocument(store, sessionSequence(account, session), counter)),
    ),
  );
  return documents.flatMap((document) => (document === undefined ? [] : [document.signed]));
}

/** The sessions that can be refreshed, with the last refreshed session first. */
export async function listSessions(
  { store, clock }: EndDeps,
  account: string,
): Promise<readonly SessionSummary[]> {
  return (await readOpen(store, account))
    .map(summaryOf)
    .filter(
      ({ expiresAt, refreshedAt }) =>
        Date.parse(expiresAt) > clock.now() &&
        Date.parse(refreshedAt) + SESSION_IDLE_MS > clock.now(),
    )
    .sort((a, b) => (a.refreshedAt < b.refreshedAt ? 1 : -1));
}

/**
 * The lowest account revision that an open session has copied. Sessions need the account documents above this revision.
 *
 * @returns infinity when the account has no open session
 */
export async function lowestAccountRevision(store: ObjectStore, account: string): Promise<number> {
  const documents = await readOpen(store, account);
  return Math.min(...documents.map(({ account_revision: revision }) => revision));
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
