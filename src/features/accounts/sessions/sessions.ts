import type { Account } from '../accounts/account-document.ts';
import { sessionEnded } from '../identity-errors.ts';
import { beginSession, type Device } from './begin-session.ts';
import { type EndReason, endSession } from './end-session.ts';
import type { OpenSession, SessionDeps } from './open-session.ts';
import { type RefreshRequest, refreshSession } from './refresh-session.ts';
import type { RefreshClaims } from './refresh-token.ts';
import type { ClientPlatform } from './session-document.ts';
import { REFRESH_GRACE_MS } from './session-lifetimes.ts';
import { createUnconfirmedRefreshes } from './unconfirmed-refreshes.ts';

/** The sessions of a service: a sign-in begins a session, refreshes continue it, and its end is permanent. */
export interface Sessions {
  /** See {@link beginSession}. */
  begin(
    account: Account,
    platform: ClientPlatform,
    device: Device,
    provenAt?: number,
  ): Promise<OpenSession>;
  /** See {@link refreshSession}. */
  refresh(request: RefreshRequest): Promise<OpenSession>;
  /** See {@link endSession}. */
  end(account: string, session: string, reason: EndReason): Promise<void>;
  /** The claims of a refresh token; undefined if this service did not issue the token, or if the token has expired. */
  claimsOf(token: string): RefreshClaims | undefined;
}

export function createSessions(deps: SessionDeps): Sessions {
  const unconfirmed = createUnconfirmedRefreshes(REFRESH_GRACE_MS);
  const claimsOf = (token: string): RefreshClaims | undefined => {
    const claims = deps.tokens.parse(token);
    return claims !== undefined && claims.expiresAt * 1000 > deps.clock.now() ? claims : undefined;
  };
  return {
    begin: (...request) => beginSession(deps, ...request),
    refresh: async ({ token, ...client }) => {
      const claims = claimsOf(token);
      if (claims === undefined) throw sessionEnded();
      return refreshSession({ ...deps, unconfirmed }, claims, client);
    },
    end: (...request) => endSession(deps, ...request),
    claimsOf,
  };
}
