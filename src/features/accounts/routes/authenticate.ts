import { AppError } from '../../../core/errors.ts';
import type { Feature, TierTable } from '../../../domain/tier.ts';
import type { SentRequest } from '../../../server/access/access.ts';
import { noAccounts } from '../../../server/access/anonymous.ts';
import { bearerOf, type Principal } from '../access-tokens/access-token.ts';
import type { ChangeDeps } from '../accounts/change-account.ts';
import type { Identity } from '../identity.ts';
import { notSignedIn } from '../identity-errors.ts';
import { type GuardedSession, guardSession } from '../sessions/check-session.ts';
import type { AccountsDeps } from './accounts-deps.ts';

/** Finds the account that sends a request, and checks which features its tier allows. */

/** @throws AppError `not_configured` */
export function openIdentity(deps: Pick<AccountsDeps, 'identity'>): Identity {
  if (deps.identity === undefined) throw noAccounts();
  return deps.identity;
}

/**
 * The account and session of the request's access token.
 *
 * @throws AppError `not_configured`, `too_many_requests`, `not_signed_in`
 */
export async function requirePrincipal(
  deps: Pick<AccountsDeps, 'identity' | 'tiers' | 'requestLimit'>,
  request: SentRequest,
): Promise<Principal> {
  const { accessTokens } = openIdentity(deps);
  // Counts the request before it verifies the token: most routes that require a token cost store requests.
  await deps.requestLimit.consume(request.ip);
  const token = bearerOf(request.headers.authorization);
  if (token === undefined) throw notSignedIn();
  const principal = await accessTokens.verify(token);
  return { ...principal, tier: deps.tiers.tierNamed(principal.tier) };
}

/**
 * The account and the guard with which the holder of an access token makes changes. The guard refuses every change when
 * the session has ended or the account is locked.
 *
 * @param options see `guardSession`
 */
export function asOwner(
  identity: Identity,
  principal: GuardedSession,
  options?: Parameters<typeof guardSession>[2],
): Identity & ChangeDeps {
  return { ...identity, guard: guardSession(identity.store, principal, options) };
}

/** @throws AppError `not_entitled` */
export function requireFeature(tiers: TierTable, tier: string, feature: Feature): void {
  if (tiers.opensFeature(tier, feature)) return;
  throw new AppError(
    'not_entitled',
    `Tier ${tier} does not include ${feature.replace('_', ' ')}. After a change of tier, refresh the session.`,
  );
}
