import type { Log } from '../../../core/log.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import type { RefreshTokens } from './refresh-token.ts';
import type { SessionJson } from './session-document.ts';
import { SESSION_IDLE_MS } from './session-lifetimes.ts';

export interface SessionDeps extends AppendDeps {
  readonly log: Log;
  readonly tokens: RefreshTokens;
}

/** The result of a sign-in or a refresh, for the client. */
export interface OpenSession {
  readonly account: string;
  readonly session: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** The tier as the session stores it. The present tier table may lack this tier. */
  readonly tier: string | null;
  /** The time at which the owner proved their password, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly refreshToken: string;
  /** Milliseconds since the epoch. */
  readonly refreshExpiresAt: number;
}

export function openSessionOf(tokens: RefreshTokens, state: SessionJson): OpenSession {
  const expiresAt = Date.parse(state.expires_at);
  return {
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
      expiresAt: Math.floor(expiresAt / 1000),
    }),
    refreshExpiresAt: Math.min(expiresAt, Date.parse(state.at) + SESSION_IDLE_MS),
  };
}
