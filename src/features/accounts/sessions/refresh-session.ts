import { AppError, isAppError } from '../../../core/errors.ts';
import { isPresent } from '../../../store/presence.ts';
import { createSettled } from '../../../store/sequence/create-settled.ts';
import { isEnded } from '../../../store/sequence/end.ts';
import { seal } from '../../../store/sequence/sealed.ts';
import { readDocument } from '../../../store/sequence/sequence.ts';
import { readAccountAfter, readAccountFrom } from '../accounts/account.ts';
import { sessionEnded } from '../identity-errors.ts';
import { sessionPrefix } from '../keys.ts';
import { decideRefresh, type RefreshFacts } from './decide-refresh.ts';
import { endSession } from './end-session.ts';
import { type OpenSession, openSessionOf, type SessionDeps } from './open-session.ts';
import type { RefreshClaims } from './refresh-token.ts';
import { type ClientPlatform, type SessionJson, sessionSequence } from './session-document.ts';
import type { UnconfirmedRefreshes } from './unconfirmed-refreshes.ts';

export interface RefreshRequest {
  readonly token: string;
  readonly platform: ClientPlatform;
  readonly deviceId: string;
}

interface RefreshDeps extends SessionDeps {
  readonly unconfirmed: UnconfirmedRefreshes;
}

/**
 * Exchanges a refresh token for the next token: reads the facts, lets {@link decideRefresh} decide, and writes the
 * result.
 *
 * A refresh takes at most five store requests in two round trips, and more only when the account changed. Refresh N+1
 * creates document N+1. When several refreshes use one token at the same time, one of them creates the document, and
 * all answer with the same token.
 *
 * After an error of the store, the session continues.
 *
 * @param claims the claims of `request.token`
 * @throws AppError `session_ended`
 */
export async function refreshSession(
  deps: RefreshDeps,
  claims: RefreshClaims,
  { platform, deviceId }: Omit<RefreshRequest, 'token'>,
): Promise<OpenSession> {
  const { tokens, clock, unconfirmed } = deps;
  const { account, session } = claims;
  const key = sessionSequence(account, session).key(claims.counter + 1);
  const stored = await readStored(deps, claims);
  // Takes the time after the reads. Then no state that was read is in the future, and the process does not miss the end
  // of the grace time.
  const now = clock.now();
  const decision = decideRefresh({
    ...stored,
    now,
    platform,
    isSameDevice: claims.device === tokens.deviceDigest(deviceId),
    isUnconfirmed: unconfirmed.has(key, now),
  });
  switch (decision.action) {
    case 'refuse':
      throw sessionEnded();
    case 'end':
      await endSession(deps, account, session, decision.reason);
      throw sessionEnded();
    case 'repeat':
      unconfirmed.noteAnswered(key, now);
      return openSessionOf(tokens, decision.state);
    case 'advance': {
      const state = { ...decision.state, change_id: deps.randomness.id() };
      await createState(deps, key, state);
      // The client came back with the old token after an unconfirmed refresh, and the store had not created the next
      // state.
      unconfirmed.noteAnswered(key, now);
      return openSessionOf(tokens, state);
    }
  }
}

type StoredFacts = Pick<
  RefreshFacts,
  'isEnded' | 'presented' | 'successor' | 'isSuccessorExchanged' | 'account'
>;

async function readStored(deps: RefreshDeps, claims: RefreshClaims): Promise<StoredFacts> {
  const { store, log } = deps;
  const { account, session, counter, accountRevision } = claims;
  const sequence = sessionSequence(account, session);
  const [presented, successor, ended, changed] = await Promise.all([
    readDocument(store, sequence, counter),
    readDocument(store, sequence, counter + 1),
    isEnded(store, sessionPrefix(account, session)),
    readAccountAfter(store, account, accountRevision),
  ]).catch((error: unknown) => {
    if (!isAppError(error, 'document_corrupt')) throw error;
    // The state of the session is lost, so the owner has to sign in again.
    log.error({ account, session, err: error }, 'a document of a session is corrupt');
    throw sessionEnded();
  });
  const [isSuccessorExchanged, current] = await Promise.all([
    successor !== undefined && isPresent(store, sequence.key(counter + 2)),
    // Reads the newest account document instead of the next document. Otherwise an owner could keep a tier that an
    // admin has withdrawn: with each change of the name, the session would read the withdrawal one refresh later.
    changed && readAccountFrom(store, changed),
  ]);
  return {
    isEnded: ended,
    presented: presented?.signed,
    successor: successor?.signed,
    isSuccessorExchanged,
    account: changed === undefined ? 'unchanged' : (current ?? 'erased'),
  };
}

/**
 * Creates the next state of a session. When another refresh has created the state already, that is a success, too: all
 * refreshes from one state give the same token.
 *
 * @throws AppError `store_unavailable`, even if the store may have created the state
 */
async function createState(deps: RefreshDeps, key: string, state: SessionJson): Promise<void> {
  const sequence = sessionSequence(state.account, state.session);
  try {
    await createSettled(deps, key, sequence.render(seal(state)));
  } catch (error) {
    if (!isAppError(error, 'outcome_unknown')) throw error;
    deps.unconfirmed.note(key);
    throw new AppError('store_unavailable', error.message, { cause: error });
  }
}
