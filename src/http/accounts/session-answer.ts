import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isDisplayName } from '../../domain/display-name.ts';
import { AppError } from '../../errors.ts';
import { ACCESS_TOKEN_SECONDS } from '../../identity/access-tokens/access-token.ts';
import type { OpenSession } from '../../identity/sessions/open-session.ts';
import { CLIENT_PLATFORMS, type ClientPlatform } from '../../identity/sessions/session-document.ts';
import { NOT_A_NAME, word } from '../server/validation.ts';
import type { AccountsDeps, CookieSettings } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';

/** What log-in and refresh answer, and the cookie that a website keeps in place of a token. */

/** The `__Host-` prefix: of this host alone, over TLS alone, set by no other (RFC 6265bis, 4.1.3.2). */
export const SESSION_COOKIE = '__Host-slipway_session';
/** No form and no image sends it, and no other site's script may: a request with it was meant. */
export const FORGERY_HEADER = 'x-slipway-request';

export const platformSchema = z
  .enum(CLIENT_PLATFORMS)
  .describe('The kind of client; `web` gets a cookie in place of a refresh token in cookie mode.');
export const deviceIdSchema = word.describe('Stable for this installation or browser profile.');
export const emailSchema = z.email().max(254);
export const passwordSchema = z.string().min(1).max(1024);
/** A name of a person, a device or a key. */
export const lineSchema = (lengthMax: number) =>
  z.string().trim().min(1).max(lengthMax).refine(isDisplayName, NOT_A_NAME);

/** Of the page to try the interface: each is answered at the first click, one after the other. */
export const EXAMPLE_EMAIL = 'ada@example.com';
export const EXAMPLE_PASSWORD = 'correct horse battery staple';
export const EXAMPLE_DEVICE = 'an-id-of-this-installation';

export const sessionAnswerSchema = z.strictObject({
  access_token: z.string().describe('For `Authorization: Bearer …`; keep it in memory only.'),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds.'),
  refresh_token: z.string().optional().describe('Not for a client that has it as a cookie.'),
  refresh_expires_in: z.int().describe('Seconds, unless it is used before.'),
  account: z.strictObject({
    id: z.string(),
    email: z.string(),
    email_verified: z.boolean(),
    tier: z.string(),
  }),
});

/** Answers with a session: its refresh token in the body, or in a cookie that no script can read. */
export async function sendSession(
  deps: AccountsDeps,
  reply: FastifyReply,
  session: OpenSession,
  platform: ClientPlatform,
): Promise<FastifyReply> {
  const { accessTokens, clock } = openIdentity(deps);
  const { account, email, emailVerified, startedAt } = session;
  const tier = deps.tiers.tierNamed(session.tier);
  const refreshSeconds = Math.floor((session.refreshExpiresAt - clock.now()) / 1000);
  const usesCookie = deps.cookies.enabled && platform === 'web';
  if (usesCookie) setSessionCookie(reply, deps.cookies, session.refreshToken, refreshSeconds);
  const answer: z.output<typeof sessionAnswerSchema> = {
    access_token: await accessTokens.issue({
      account,
      session: session.session,
      tier,
      startedAt,
    }),
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    ...(usesCookie ? {} : { refresh_token: session.refreshToken }),
    refresh_expires_in: refreshSeconds,
    account: { id: account, email, email_verified: emailVerified, tier },
  };
  return reply.type('application/json; charset=utf-8').send(answer);
}

function setSessionCookie(
  reply: FastifyReply,
  { sameSite }: CookieSettings,
  value: string,
  maxAge: number,
): void {
  reply.setCookie(SESSION_COOKIE, value, {
    path: '/',
    secure: true,
    httpOnly: true,
    sameSite: sameSite.toLowerCase() as 'strict' | 'lax' | 'none',
    maxAge,
  });
}

export function clearSessionCookie(reply: FastifyReply, settings: CookieSettings): void {
  if (settings.enabled) setSessionCookie(reply, settings, '', 0);
}

/**
 * That a browser's request comes from the website itself: the cookie is sent whoever made it ask.
 *
 * @throws AppError `request_forgery`
 */
export function requireOwnOrigin(request: FastifyRequest, settings: CookieSettings): void {
  const { origin } = request.headers;
  if (origin === undefined || !settings.origins.includes(origin)) {
    throw new AppError(
      'request_forgery',
      'This page may not sign anybody in: its origin is not among WEBSITE_ORIGINS.',
    );
  }
}

/** As {@link requireOwnOrigin}, and that a script of its own made it. @throws AppError `request_forgery` */
export function requireOwnScript(request: FastifyRequest, settings: CookieSettings): void {
  requireOwnOrigin(request, settings);
  if (request.headers[FORGERY_HEADER] === undefined) {
    throw new AppError(
      'request_forgery',
      `Send the header ${FORGERY_HEADER}: 1 with this request.`,
    );
  }
}
