import type { FastifyRequest } from 'fastify';
import type { RouteDeps } from '../deps.ts';

/** Who asks, as far as channels care: the tier of the account, null for anybody without one. */
export type AskingTier = string | null;

/**
 * Looks at a bearer token only when there is one and some channel depends on it: millions of checks come
 * without, and must not pay for it. One that means nothing counts as none.
 */
export function tierOfRequest(
  deps: Pick<RouteDeps, 'tiers' | 'tierOf'>,
  request: Pick<FastifyRequest, 'headers'>,
): AskingTier | Promise<AskingTier> {
  const { authorization } = request.headers;
  if (authorization === undefined || deps.tiers.channels.length === 0) return null;
  return deps.tierOf(authorization);
}
