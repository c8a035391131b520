import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isAppError } from '../errors.ts';
import { bearerOf } from '../identity/access-token.ts';
import { listSessions } from '../identity/account-sessions.ts';
import type { Identity } from '../identity/identity.ts';
import { endEverySession } from '../identity/manage-account.ts';
import { SESSION_LIFE_MS } from '../identity/sessions.ts';
import { isGone, tryAgainWhenUnknown, WRITING } from './account-route.ts';
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
  body: z
    .object({
      scope: z.enum(['local', 'global']).describe('This session, or every one of the account.'),
      refresh_token: z.string().max(1024).optional(),
    })
    .meta({ example: { scope: 'local' } }),
  response: {
    204: z.null().describe('Over. Access tokens of it are good for ten minutes at the most.'),
    ...problems({
      400: 'invalid_request, malformed_json',
      403: 'request_forgery',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      429: 'too_many_requests',
      501: 'not_configured',
      503: `${WRITING}, document_newer`,
    }),
  },
};

interface Holder {
  readonly account: string;
  readonly session: string;
  /** Whether an access token says so, and not a refresh token, which may be long over. */
  readonly isSignedIn: boolean;
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
    const { accessTokens } = identity;
    const principal = await accessTokens.verify(bearer).catch(() => undefined);
    if (principal !== undefined) return { ...principal, isSignedIn: true };
    // Whoever comes back after the ten minutes to sign out must not be told that it was done, and it was not.
    const late = await accessTokens.verify(bearer, SESSION_LIFE_MS).catch(() => undefined);
    if (late !== undefined) return { ...late, isSignedIn: false };
  }
  const claimsOf = (token: string | undefined): Holder | undefined => {
    const claims = identity.sessions.claimsOf(token ?? '');
    return claims && { ...claims, isSignedIn: false };
  };
  const holder = claimsOf(inBody);
  if (holder !== undefined) return holder;
  const cookie = deps.cookies.enabled ? request.cookies[SESSION_COOKIE] : undefined;
  if (cookie === undefined || cookie === '') return undefined;
  requireOwnScript(request, deps.cookies);
  return claimsOf(cookie);
}

async function end(
  identity: Identity,
  { account, session, isSignedIn }: Holder,
  scope: 'local' | 'global',
): Promise<void> {
  // A token found on an old disk must not sign its owner out everywhere for ever.
  if (scope === 'global' && (isSignedIn || (await isOpen(identity, account, session)))) {
    await endEverySession(identity, account).catch((error: unknown) => {
      // An account that was erased has no sessions left.
      if (!isGone(error)) tryAgainWhenUnknown(error);
    });
  }
  // Last: with its own session over, a global log-out that failed half way could not be tried again.
  await identity.sessions.end(account, session, 'logged_out');
}

async function isOpen(identity: Identity, account: string, session: string): Promise<boolean> {
  try {
    return (await listSessions(identity, account)).some(({ id }) => id === session);
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    // One damaged session, of whatever device, must not keep the others signed in.
    return true;
  }
}
