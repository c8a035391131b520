import type { FastifyRequest } from 'fastify';
import type { RouteDeps } from '../deps.ts';

/**
 * The tier of the account that sends a request; null without an account.
 *
 * Verifies a bearer token only when some channel requires a tier, because a verification costs time. An invalid token
 * counts as no token.
 */
export function tierOfRequest(
  deps: Pick<RouteDeps, 'tiers' | 'tierOf'>,
  request: Pick<FastifyRequest, 'headers'>,
): string | null | Promise<string | null> {
  const { authorization } = request.headers;
  if (authorization === undefined || deps.tiers.channels.length === 0) return null;
  return deps.tierOf(authorization);
}
