import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../core/errors.ts';
import { FORGERY_HEADER } from '../../../server/http/forgery-header.ts';
import type { ClientPlatform } from '../sessions/session-document.ts';
import type { CookieSettings } from './accounts-deps.ts';

/** Cookie mode: a website keeps its refresh token in a cookie that no script can read. */

/**
 * The prefix `__Host-` tells browsers to send the cookie to this host only, over TLS only, and to let no other host set
 * it (RFC 6265bis, 4.1.3.2).
 */
const SESSION_COOKIE = '__Host-slipway_session';

/** The methods of a reply that set cookies; the reply of any route has them. */
interface CookieReply {
  setCookie(name: string, value: string, options: CookieSerializeOptions): unknown;
}

export function usesCookie(settings: CookieSettings, platform: ClientPlatform): boolean {
  return settings.enabled && platform === 'web';
}

/** The refresh token in the request's cookie; undefined without a cookie, and when cookie mode is off. */
export function sessionCookieOf(
  { cookies }: Pick<FastifyRequest, 'cookies'>,
  { enabled }: CookieSettings,
): string | undefined {
  const token = enabled ? cookies[SESSION_COOKIE] : undefined;
  return token === '' ? undefined : token;
}

/** @param maxAge in seconds */
export function setSessionCookie(
  reply: CookieReply,
  { sameSite }: CookieSettings,
  token: string,
  maxAge: number,
): void {
  const attributes = { path: '/', secure: true, httpOnly: true } as const;
  reply.setCookie(SESSION_COOKIE, token, { ...attributes, sameSite: SAME_SITE[sameSite], maxAge });
}

const SAME_SITE = { Strict: 'strict', Lax: 'lax', None: 'none' } as const;

export function clearSessionCookie(reply: CookieReply, settings: CookieSettings): void {
  if (settings.enabled) setSessionCookie(reply, settings, '', 0);
}

/**
 * Checks that a page of the website sent the request: browsers attach the cookie to requests from pages of any site.
 *
 * @throws AppError `request_forgery`
 */
export function requireOwnOrigin(
  { headers: { origin } }: Pick<FastifyRequest, 'headers'>,
  settings: CookieSettings,
): void {
  if (origin !== undefined && settings.origins.includes(origin)) return;
  throw new AppError(
    'request_forgery',
    'This page may not sign visitors in: its origin is not in WEBSITE_ORIGINS.',
  );
}

/**
 * Checks the origin as {@link requireOwnOrigin} does, and also that a script sent the request.
 *
 * @throws AppError `request_forgery`
 */
export function requireOwnScript(
  request: Pick<FastifyRequest, 'headers'>,
  settings: CookieSettings,
): void {
  requireOwnOrigin(request, settings);
  if (request.headers[FORGERY_HEADER] !== undefined) return;
  throw new AppError('request_forgery', `Send the header ${FORGERY_HEADER}: 1 with this request.`);
}
