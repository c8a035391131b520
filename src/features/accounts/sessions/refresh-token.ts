import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../../core/response-body.ts';
import type { Secret } from '../../../core/secret.ts';

/**
 * The claims of a refresh token. The token names a state of its session, with a MAC that proves that this service
 * issued it: a forged token costs no store request.
 *
 * The token is derived from the state. A client that lost the answer to a refresh gets the same token again, from any
 * replica, and no replica has to remember the tokens that it issued.
 */
export interface RefreshClaims {
  readonly account: string;
  readonly session: string;
  /** See {@link RefreshTokens.deviceDigest}. */
  readonly device: string;
  /** The number of the session's document that the token names. */
  readonly counter: number;
  /** The number of the newest account document that the session's state knows. A refresh looks for changes above it. */
  readonly accountRevision: number;
  /** The time at which the session expires, in seconds since the epoch. */
  readonly expiresAt: number;
}

export interface RefreshTokens {
  render(claims: RefreshClaims): string;
  /** Undefined for a text that this service did not issue. */
  parse(token: string): RefreshClaims | undefined;
  /** A keyed digest of a device's id: readers of the store cannot recognize a device that they know. */
  deviceDigest(id: string): string;
}

const PREFIX = 'slr1.';
const TOKEN_LENGTH_MAX = 1_024;

const claimsSchema = z.tuple([
  z.string(),
  z.string(),
  z.string(),
  z.int().positive(),
  z.int().positive(),
  z.int().positive(),
]);

export function createRefreshTokens(secret: Secret): RefreshTokens {
  // Derives one key for each use (NIST SP 800-108): a MAC for one use must not be valid for the other.
  const keyFor = (use: string): Buffer =>
    createHmac('sha256', secret.reveal()).update(`slipway ${use} v1`).digest();
  const tokenKey = keyFor('refresh token');
  const deviceKey = keyFor('device');
  const macOf = (payload: string): Buffer =>
    createHmac('sha256', tokenKey).update(payload).digest();
  return {
    render: ({ account, session, device, counter, accountRevision, expiresAt }) => {
      const claims = [account, session, device, counter, accountRevision, expiresAt];
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${PREFIX}${payload}.${macOf(payload).toString('base64url')}`;
    },
    parse: (token) => {
      if (token.length > TOKEN_LENGTH_MAX || !token.startsWith(PREFIX)) return undefined;
      const [payload = '', mac = '', ...rest] = token.slice(PREFIX.length).split('.');
      const given = Buffer.from(mac, 'base64url');
      const right = macOf(payload);
      const isOurs = given.byteLength === right.byteLength && timingSafeEqual(given, right);
      // Base64url can spell the same bytes in several ways. Only the spelling that the service writes is the token.
      if (rest.length > 0 || !isOurs || right.toString('base64url') !== mac) return undefined;
      return readClaims(payload);
    },
    deviceDigest: (id) =>
      createHmac('sha256', deviceKey).update(id).digest('base64url').slice(0, 22),
  };
}

/** Undefined for claims in another format, signed with the same secret. */
function readClaims(payload: string): RefreshClaims | undefined {
  const parsed = claimsSchema.safeParse(parseJson(Buffer.from(payload, 'base64url')));
  if (!parsed.success) return undefined;
  const [account, session, device, counter, accountRevision, expiresAt] = parsed.data;
  return { account, session, device, counter, accountRevision, expiresAt };
}
