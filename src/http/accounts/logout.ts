import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { bearerOf } from '../../identity/access-tokens/access-token.ts';
import type { Identity } from '../../identity/identity.ts';
import { notSignedIn } from '../../identity/identity-errors.ts';
import { standingOf } from '../../identity/sessions/check-session.ts';
import { signOutEverywhere } from '../../identity/sessions/end-session.ts';
import { SESSION_LIFE_MS } from '../../identity/sessions/session-lifetimes.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import { isGone, tryAgainWhenUnknown, WRITING } from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity } from './authenticate.ts';
import { clearSessionCookie, requireOwnScript, SESSION_COOKIE } from './session-answer.ts';

const schema = {
  summary: 'Sign out',
  description:
    'Ends this session, or all of the account. Says who asks by an access token, a refresh token, or the cookie; nothing to end is no error. Ending all of them needs an access token that expired an hour ago at most, or one of the two newest refresh tokens of its session.',
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
      401: 'not_signed_in',
      403: 'request_forgery',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      429: 'too_many_requests',
      501: 'not_configured',
      503: `${WRITING}, document_newer`,
    }),
  },
};

/** How long after its end an access token still signs out everywhere: a page that was left open. */
const LATE_MS_MAX = 3_600_000;

interface Holder {
  readonly account: string;
  readonly session: string;
  /** The state of the session that a refresh token stands for; undefined for an access token. */
  readonly counter?: number;
  /** Whether what it holds is too old to say more than that its own session is over. */
  readonly isStale: boolean;
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
  const { accessTokens, sessions } = identity;
  const bearer = bearerOf(request.headers.authorization) ?? '';
  const fresh = await accessTokens.verify(bearer, LATE_MS_MAX).catch(() => undefined);
  if (fresh !== undefined) return { ...fresh, isStale: false };
  const inCookie = (): string | undefined => {
    const cookie = deps.cookies.enabled ? request.cookies[SESSION_COOKIE] : undefined;
    if (cookie !== undefined && cookie !== '') requireOwnScript(request, deps.cookies);
    return cookie;
  };
  const claims = sessions.claimsOf(inBody ?? '') ?? sessions.claimsOf(inCookie() ?? '');
  if (claims !== undefined) return { ...claims, isStale: false };
  // A person who comes back later to sign out must not be told that it was done when it was not.
  const late = await accessTokens.verify(bearer, SESSION_LIFE_MS).catch(() => undefined);
  return late && { ...late, isStale: true };
}

async function end(identity: Identity, holder: Holder, scope: 'local' | 'global'): Promise<void> {
  const { account, session } = holder;
  if (scope === 'local') return identity.sessions.end(account, session, 'signed_out');
  const standing = await standingOf(identity, account, session, holder.counter);
  // There is nothing that a session that is over may end.
  if (standing === 'ended') return;
  // A token found on an old disk must not sign its owner out everywhere.
  if (holder.isStale || standing === 'replaced') throw notSignedIn();
  const owner = asOwner(identity, { account, session }, { isSigningOut: true });
  await signOutEverywhere(owner, account, session).catch((error: unknown) => {
    // An account that was erased has no sessions left.
    if (!isGone(error)) tryAgainWhenUnknown(error);
  });
}
