import { AppError, isAppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { isPresent } from '../../object-store/presence.ts';
import type { AppendDeps } from '../../sequence/append.ts';
import { type EndDeps, endSequence, isEnded } from '../../sequence/end.ts';
import { SCHEMA_VERSION } from '../../sequence/envelope.ts';
import { seal } from '../../sequence/sealed.ts';
import { readDocument } from '../../sequence/sequence.ts';
import { readAccount, readAccountAfter, readAccountFrom } from '../accounts/account.ts';
import type { Account } from '../accounts/account-document.ts';
import { sessionPrefix } from '../keys.ts';
import { createLostAnswers } from './lost-answers.ts';
import type { RefreshClaims, RefreshTokens } from './refresh-token.ts';
import { type ClientPlatform, type SessionJson, sessionSequence } from './session-document.ts';

/**
 * Sessions: begun by a log-in, carried on by refreshes, ended for good.
 *
 * Refresh N+1 *is* the creation of document N+1, so that of any number of refreshes with one token one
 * wins, and the others are told the same token.
 */

/** A refresh token that is not used for so long is over. */
export const SESSION_IDLE_MS = 30 * 86_400_000;
export const SESSION_LIFE_MS = 90 * 86_400_000;
/** How long a token that was exchanged is answered again: a lost answer, two tabs. */
export const REFRESH_GRACE_MS = 60_000;
/** The marker of the end outlives every token of the session. */
const END_KEPT_MS = SESSION_LIFE_MS + 86_400_000;

export type EndReason =
  | 'logged_out'
  | 'logged_out_everywhere'
  | 'ended_by_owner'
  | 'reused'
  | 'other_device'
  | 'account_locked'
  | 'account_erased'
  | 'expired';

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
}

/** A session as its client is told of it. */
export interface OpenSession {
  readonly account: string;
  readonly session: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** As stored; the tier table may not have it any more. */
  readonly tier: string | null;
  /** When the owner proved their password; milliseconds since the epoch. */
  readonly startedAt: number;
  readonly refreshToken: string;
  /** Milliseconds since the epoch. */
  readonly refreshExpiresAt: number;
}

export interface SessionDeps extends AppendDeps {
  readonly log: Log;
  readonly tokens: RefreshTokens;
}

export interface RefreshRequest {
  readonly token: string;
  readonly platform: ClientPlatform;
  readonly deviceId: string;
}

export interface Sessions {
  /**
   * Begins a session, under an id that no client can choose.
   *
   * @param provenAt when its owner began to prove who they are, in milliseconds since the epoch: a
   *   password or log-out of later than that ends it
   * @throws AppError `account_locked` when the account was locked meanwhile, `session_ended` when it was
   *   erased or logged out everywhere; the store's
   */
  begin(
    account: Account,
    platform: ClientPlatform,
    device: Device,
    provenAt?: number,
  ): Promise<OpenSession>;
  /**
   * The next token of a session: at most five store requests in two round trips, and more of them only
   * when the account changed.
   *
   * @throws AppError `session_ended`: sign in again. The store's failures end nothing
   */
  refresh(request: RefreshRequest): Promise<OpenSession>;
  /** Ends a session; ending it again changes nothing. @throws AppError the store's */
  end(account: string, session: string, reason: EndReason): Promise<void>;
  /** The session a refresh token belongs to, if this service made it and it has not expired. */
  claimsOf(token: string): RefreshClaims | undefined;
}

export function createSessions(deps: SessionDeps): Sessions {
  const { store, clock, log, tokens } = deps;
  const lostAnswers = createLostAnswers(REFRESH_GRACE_MS);

  const end = async (account: string, session: string, reason: EndReason): Promise<void> => {
    const isNew = await endSession(deps, account, session, reason);
    if (isNew) log.info({ account, session, reason }, 'session ended');
  };

  const refuse = async (claims: RefreshClaims, reason: EndReason): Promise<never> => {
    await end(claims.account, claims.session, reason);
    throw sessionEnded();
  };

  /** Creates document N+1; a second try after an unclear answer, with the identical bytes. */
  const create = async (document: SessionJson): Promise<void> => {
    const { account, session, counter } = document;
    const sequence = sessionSequence(account, session);
    const key = sequence.key(counter);
    const bytes = sequence.render(seal(document));
    const attempt = () => store.create(key, bytes, { contentType: 'application/json' });
    await attempt().catch((error: unknown) => {
      if (!isAppError(error, 'store_unavailable')) throw error;
      return attempt().catch((again: unknown) => {
        // The answer that its client never got may have been a good one.
        lostAnswers.note(key);
        throw again;
      });
    });
  };

  const refresh = async ({ token, platform, deviceId }: RefreshRequest): Promise<OpenSession> => {
    const claims = claimsOf(token);
    if (claims === undefined) throw sessionEnded();
    const { account, session, counter } = claims;
    const sequence = sessionSequence(account, session);
    const [own, successor, ended, changed] = await Promise.all([
      readDocument(store, sequence, counter),
      readDocument(store, sequence, counter + 1),
      isEnded(store, sessionPrefix(account, session)),
      readAccountAfter(store, account, claims.accountRevision),
    ]).catch((error: unknown) => {
      if (!isAppError(error, 'document_corrupt')) throw error;
      // Nobody can say any more what it was: its owner signs in again.
      log.error({ account, session, err: error }, 'a session cannot be read');
      throw sessionEnded();
    });
    if (ended) throw sessionEnded();
    // Its own document gone means that it was used long ago, and the oldest ones were cleared away.
    if (own === undefined) return refuse(claims, 'reused');
    const state = own.signed;
    if (claims.device !== tokens.deviceDigest(deviceId) || state.platform !== platform) {
      return refuse(claims, 'other_device');
    }
    // Not the next document, but the newest: else a tier that was withdrawn could be held for long, by
    // changing one's name often.
    const newest = changed && (await readAccountFrom(store, changed));
    if (changed !== undefined && newest === undefined) throw sessionEnded();
    if (newest?.locked) return refuse(claims, 'account_locked');
    const isKept = newest?.sessionKept === session;
    if ((newest?.sessionsNotBefore ?? '') > state.started_at && !isKept) {
      return refuse(claims, 'logged_out_everywhere');
    }
    if (successor !== undefined) {
      const next = successor.signed;
      const key = sequence.key(counter + 1);
      const now = clock.now();
      const isLate = now - Date.parse(next.at) > REFRESH_GRACE_MS;
      if (isLate && !lostAnswers.excuses(key, now)) return refuse(claims, 'reused');
      if (await isPresent(store, sequence.key(counter + 2))) {
        return refuse(claims, 'reused');
      }
      lostAnswers.noteAnswered(key, now);
      return openSessionOf(next);
    }
    if (clock.now() - Date.parse(state.at) > SESSION_IDLE_MS) return refuse(claims, 'expired');
    const next: SessionJson = {
      ...state,
      counter: counter + 1,
      change_id: deps.randomness.id(),
      at: new Date(clock.now()).toISOString(),
      ...(newest === undefined ? {} : copyOf(newest)),
    };
    // Whoever created it: the token of that state is the same.
    await create(next);
    return openSessionOf(next);
  };

  const openSessionOf = (state: SessionJson): OpenSession => ({
    account: state.account,
    session: state.session,
    email: state.account_copy.email,
    emailVerified: state.account_copy.email_verified,
    tier: state.account_copy.tier,
    startedAt: Date.parse(state.started_at),
    refreshToken: tokens.render({
      account: state.account,
      session: state.session,
      device: state.device.digest,
      counter: state.counter,
      accountRevision: state.account_revision,
      expiresAt: Math.floor(Date.parse(state.expires_at) / 1000),
    }),
    refreshExpiresAt: Math.min(
      Date.parse(state.expires_at),
      Date.parse(state.at) + SESSION_IDLE_MS,
    ),
  });

  const begin = async (
    account: Account,
    platform: ClientPlatform,
    device: Device,
    provenAt = clock.now(),
  ): Promise<OpenSession> => {
    const now = clock.now();
    const state: SessionJson = {
      schema_version: SCHEMA_VERSION,
      type: 'session',
      account: account.id,
      session: deps.randomness.id(),
      counter: 1,
      change_id: deps.randomness.id(),
      at: new Date(now).toISOString(),
      started_at: new Date(provenAt).toISOString(),
      expires_at: new Date(now + SESSION_LIFE_MS).toISOString(),
      platform,
      device: {
        digest: tokens.deviceDigest(device.id),
        name: device.name,
        os_version: device.osVersion,
        app_version: device.appVersion,
      },
      ...copyOf(account),
    };
    await create(state);
    // Whoever locks or erases an account changes it first and ends its sessions then; a session that
    // was begun in between is seen from one of the two sides. Its newest document: the lock may be any.
    const over = whyOver(account, await readAccount(store, account.id), state.started_at);
    if (over === undefined) return openSessionOf(state);
    await end(account.id, state.session, over);
    throw over === 'account_locked' ? accountLocked() : sessionEnded();
  };

  const claimsOf = (token: string): RefreshClaims | undefined => {
    const claims = tokens.parse(token);
    return claims !== undefined && claims.expiresAt * 1000 > clock.now() ? claims : undefined;
  };

  return { begin, refresh, end, claimsOf };
}

/**
 * Ends a session for good; its access tokens live on for their ten minutes.
 *
 * @returns whether it had not ended before
 * @throws AppError the store's
 */
export function endSession(
  deps: EndDeps,
  account: string,
  session: string,
  reason: EndReason,
): Promise<boolean> {
  return endSequence(deps, sessionPrefix(account, session), { reason, keptMs: END_KEPT_MS });
}

/** Why a session that is being begun must not be: what happened to its account since that was read. */
function whyOver(
  then: Account,
  now: Account | undefined,
  startedAt: string,
): EndReason | undefined {
  if (now === undefined) return 'account_erased';
  if (now.locked !== null) return 'account_locked';
  const { sessionsNotBefore } = now;
  const isOut =
    sessionsNotBefore !== then.sessionsNotBefore || (sessionsNotBefore ?? '') > startedAt;
  return isOut ? 'logged_out_everywhere' : undefined;
}

function copyOf(account: Account): Pick<SessionJson, 'account_revision' | 'account_copy'> {
  return {
    account_revision: account.revision,
    account_copy: {
      email: account.email,
      email_verified: account.emailVerified,
      tier: account.tier,
    },
  };
}

export function sessionEnded(): AppError {
  return new AppError('session_ended', 'This session is over. Sign in again.');
}

export function accountLocked(): AppError {
  return new AppError('account_locked', 'This account is locked. Ask whoever runs this service.');
}
