import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ACCOUNTS } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { bearerOf } from '../access-tokens/access-token.ts';
import type { Identity } from '../identity.ts';
import { notSignedIn } from '../identity-errors.ts';
import { standingOf } from '../sessions/check-session.ts';
import { signOutEverywhere } from '../sessions/end-session.ts';
import { SESSION_LIFE_MS } from '../sessions/session-lifetimes.ts';
import { isErased, tryAgainWhenUnknown } from './account-error.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity } from './authenticate.ts';
import { WITH_BODY, WRITING } from './error-codes.ts';
import { clearSessionCookie, requireOwnScript, sessionCookieOf } from './session-cookie.ts';

const schema = {
  operationId: 'signOut',
  summary: 'Sign out',
  description:
    'Ends this session, or every session of the account. The client proves the session with an access token, a refresh token or the cookie; a request without any of them succeeds and ends nothing. Scope `global` requires an access token that expired at most an hour ago, or one of the two newest refresh tokens of the session.',
  tags: ['auth'],
  body: z
    .object({
      scope: z.enum(['local', 'global']).describe('This session, or every one of the account.'),
      refresh_token: z.string().max(1024).optional(),
    })
    .meta({ example: { scope: 'local' } }),
  response: {
    204: z.null().describe('Ended. Its access tokens stay valid for ten minutes at most.'),
    ...errorResponses(
      ...ACCOUNTS,
      ...WITH_BODY,
      ...WRITING,
      'invalid_request',
      'not_signed_in',
      'request_forgery',
    ),
  },
};

/**
 * For this long after an access token expired, the token can still end every session: the user may have left a page
 * open.
 */
const LATE_MS_MAX = 3_600_000;

/** The session that the token of a request proves. */
interface ProvenSession {
  readonly account: string;
  readonly session: string;
  /** The number of the refresh token in its session; undefined for an access token. */
  readonly counter?: number;
  /** True when the access token is so old that it may end only its own session. */
  readonly isStale: boolean;
}

export function registerLogout(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/auth/logout', { schema }, async (request, reply) => {
    const identity = openIdentity(deps);
    await deps.requestLimit.consume(request.ip);
    const { scope, refresh_token: inBody } = request.body;
    const proven = await proveSession(deps, identity, request, inBody);
    if (proven !== undefined) {
      await (scope === 'local' ? endLocally(identity, proven) : endGlobally(identity, proven));
    }
    clearSessionCookie(reply, deps.cookies);
    return reply.code(204).send(null);
  });
}

/**
 * @param inBody the refresh token of the body
 * @returns undefined when the request proves no session
 * @throws AppError `request_forgery`
 */
async function proveSession(
  { cookies }: AccountsDeps,
  { accessTokens, sessions }: Identity,
  request: Pick<FastifyRequest, 'headers' | 'cookies'>,
  inBody: string | undefined,
): Promise<ProvenSession | undefined> {
  const bearer = bearerOf(request.headers.authorization) ?? '';
  // An invalid token proves nothing, here and below. The request may have another proof.
  const fresh = await accessTokens.verify(bearer, LATE_MS_MAX).catch(() => undefined);
  if (fresh !== undefined) return { ...fresh, isStale: false };
  const inCookie = (): string => {
    const token = sessionCookieOf(request, cookies);
    if (token !== undefined) requireOwnScript(request, cookies);
    return token ?? '';
  };
  const claims = sessions.claimsOf(inBody ?? '') ?? sessions.claimsOf(inCookie());
  if (claims !== undefined) return { ...claims, isStale: false };
  // Without this late proof, a user who signs out late would get 204 although no session has ended.
  const late = await accessTokens.verify(bearer, SESSION_LIFE_MS).catch(() => undefined);
  return late && { ...late, isStale: true };
}

function endLocally({ sessions }: Identity, { account, session }: ProvenSession): Promise<void> {
  return sessions.end(account, session, 'signed_out');
}

/** @throws AppError `not_signed_in` */
async function endGlobally(identity: Identity, proven: ProvenSession): Promise<void> {
  const { account, session, counter, isStale } = proven;
  const standing = await standingOf(identity, account, session, counter);
  // A session that has ended must not end another session.
  if (standing === 'ended') return;
  // Someone may find an old token on a discarded disk. Such a token must not end every session of its owner.
  if (isStale || standing === 'replaced') throw notSignedIn();
  const owner = asOwner(identity, { account, session }, { isSigningOut: true });
  await signOutEverywhere(owner, account, session).catch((error: unknown) => {
    // An erased account has no sessions left.
    if (!isErased(error)) tryAgainWhenUnknown(error);
  });
}
