import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../secret.ts';

/**
 * What a client keeps to stay signed in. The token names a state of its session and proves with a MAC
 * that this service made it: an invented one costs no store request.
 *
 * Making it again from the same state gives the same token: whoever lost the answer to a refresh gets
 * the same one once more, and no replica has to remember which it gave out.
 */
export interface RefreshClaims {
  readonly account: string;
  readonly session: string;
  /** Digest of the device's id; see {@link deviceDigest}. */
  readonly device: string;
  /** The number of the session's document that it stands for. */
  readonly counter: number;
  /** The account's newest document when it was made: changes are looked for above it. */
  readonly accountRevision: number;
  /** Seconds since the epoch; no refresh goes beyond. */
  readonly expiresAt: number;
}

export interface RefreshTokens {
  render(claims: RefreshClaims): string;
  /** Undefined for anything that this service did not make. */
  parse(token: string): RefreshClaims | undefined;
  /** Digest of a device's id, keyed: the store does not tell what devices are called outside. */
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
  // Keys of their own for each use (NIST SP 800-108): a MAC made for one says nothing for the other.
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
      // Two spellings of one token would be two tokens to whoever keeps a list of them.
      if (rest.length > 0 || !isOurs || right.toString('base64url') !== mac) return undefined;
      return readClaims(payload);
    },
    deviceDigest: (id) =>
      createHmac('sha256', deviceKey).update(id).digest('base64url').slice(0, 22),
  };
}

function readClaims(payload: string): RefreshClaims | undefined {
  try {
    const claims = claimsSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    const [account, session, device, counter, accountRevision, expiresAt] = claims;
    return { account, session, device, counter, accountRevision, expiresAt };
  } catch {
    // Made with this secret in another format: as good as none.
    return undefined;
  }
}
