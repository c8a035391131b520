import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../../core/response-body.ts';
import type { Secret } from '../../../core/secret.ts';

/**
 * The claims of a refresh token. The token names a state of its session, and a MAC proves that this service issued the
 * token, so a forged token costs no store request.
 *
 * The service derives the token from the state. When a client loses the answer to a refresh, it gets the same token
 * again from any replica, and no replica has to remember the tokens that it issued.
 */
export interface RefreshClaims {
  readonly account: string;
  readonly session: string;
  /** See {@link RefreshTokens.deviceDigest}. */
  readonly device: string;
  /** The number of the session document that the token names. */
  readonly counter: number;
  /**
   * The number of the newest account document that the state of the session includes. A refresh looks for changes in
   * account documents with higher numbers.
   */
  readonly accountRevision: number;
  /** The time at which the session expires, in seconds since the epoch. */
  readonly expiresAt: number;
}

export interface RefreshTokens {
  render(claims: RefreshClaims): string;
  /** Undefined for a text that this service did not issue. */
  parse(token: string): RefreshClaims | undefined;
  /** A keyed digest of a device's id. Someone who reads the store cannot recognize a device, even with its id. */
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
  // Derives a separate key for each use (NIST SP 800-108): a MAC for one use must not be valid for another use.
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
      // Base64url can encode the same bytes in several ways. The service accepts only the encoding that it writes.
      if (rest.length > 0 || !isOurs || right.toString('base64url') !== mac) return undefined;
      return readClaims(payload);
    },
    deviceDigest: (id) =>
      createHmac('sha256', deviceKey).update(id).digest('base64url').slice(0, 22),
  };
}

/** Undefined for claims that have another format, even if they are signed with the same secret. */
function readClaims(payload: string): RefreshClaims | undefined {
  const parsed = claimsSchema.safeParse(parseJson(Buffer.from(payload, 'base64url')));
  if (!parsed.success) return undefined;
  const [account, session, device, counter, accountRevision, expiresAt] = parsed.data;
  return { account, session, device, counter, accountRevision, expiresAt };
}
