import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isAppError } from '../errors.ts';
import { bearerOf } from '../identity/access-token.ts';
import type { Identity } from '../identity/identity.ts';
import { endEverySession } from '../identity/manage-account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import type { App } from './deps.ts';
import { clearSessionCookie, requireOwnScript, SESSION_COOKIE } from './session-answer.ts';
import { problems } from './validation.ts';

const schema = {
  summary: 'Sign out',
  description:
    'Ends this session, or all of the account. Says who asks by an access token, a refresh token, or the cookie; nothing to end is no error.',
  tags: ['auth'],
  body: z.object({
    scope: z.enum(['local', 'global']).describe('This session, or every one of the account.'),
    refresh_token: z.string().max(1024).optional(),
  }),
  response: {
    204: z.null().describe('Over. Access tokens of it are good for ten minutes at the most.'),
    ...problems({
      400: 'invalid_request, malformed_json',
      403: 'request_forgery',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      429: 'too_many_requests',
      501: 'not_configured',
      503: 'store_unavailable, store_denied',
    }),
  },
};

interface Holder {
  readonly account: string;
  readonly session: string;
}

export function registerLogout(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/auth/logout', { schema }, async (request, reply) => {
    const identity = openIdentity(deps);
    await deps.requestLimit.consume(request.ip);
    const { scope, refresh_token: inBody } = request.body;
    const holder = await holderOf(deps, identity, request, inBody);
    if (holder !== undefined) await end(identity, holder, scope);
    clearSessionCookie(reply as never, deps.cookies);
    return reply.code(204).send(null);
  });
}

/** Whose session it is, by whatever the request proves it with. @throws AppError `request_forgery` */
async function holderOf(
  deps: AccountsDeps,
  identity: Identity,
  request: FastifyRequest,
  inBody: string | undefined,
): Promise<Holder | undefined> {
  const bearer = bearerOf(request.headers.authorization);
  if (bearer !== undefined) {
    const principal = await identity.accessTokens.verify(bearer).catch(() => undefined);
    if (principal !== undefined) return principal;
  }
  if (inBody !== undefined) return identity.sessions.claimsOf(inBody);
  const cookie = deps.cookies.enabled ? request.cookies[SESSION_COOKIE] : undefined;
  if (cookie === undefined || cookie === '') return undefined;
  requireOwnScript(request, deps.cookies);
  return identity.sessions.claimsOf(cookie);
}

async function end(
  identity: Identity,
  { account, session }: Holder,
  scope: 'local' | 'global',
): Promise<void> {
  await identity.sessions.end(account, session, 'logged_out');
  if (scope === 'local') return;
  await endEverySession(identity, account).catch((error: unknown) => {
    // An account that was erased has no sessions left.
    if (!isAppError(error, 'ended') && !isAppError(error, 'unknown_account')) throw error;
  });
}
