import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Clock, Randomness } from '../../../core/clock.ts';
import { notSignedIn } from '../identity-errors.ts';
import { SIGNATURE_ALGORITHM, type SigningKeys } from './signing-keys.ts';

/**
 * Access tokens: JWTs as RFC 9068 defines them. They are valid for ten minutes, and a service verifies them without the
 * store.
 */

export const ACCESS_TOKEN_SECONDS = 600;
const TOKEN_TYPE = 'at+jwt';
const PORTAL_TOKEN_TYPE = 'portal+jwt';
const PORTAL_TOKEN_SECONDS = 60;
/** The seconds by which the clocks of two replicas may differ. */
const CLOCK_TOLERANCE_SECONDS = 5;
/** The tokens of this service have about 400 characters. */
const TOKEN_LENGTH_MAX = 4_096;

/** The claims of an access token about the client that sends it. */
export interface Principal {
  readonly account: string;
  readonly session: string;
  /** The name of a tier in the tier table. */
  readonly tier: string;
  /** The time at which the owner proved their password, in milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface AccessTokens {
  issue(principal: Principal): Promise<string>;
  /**
   * @param expiredMs accepts a token that expired at most this many milliseconds ago; above 0 only for signing out
   * @throws AppError `not_signed_in` for every problem of the token
   */
  verify(token: string, expiredMs?: number): Promise<Principal>;
  /** Issues a token that signs the owner in to the billing portal. It is valid for `seconds`. */
  issueForPortal(portal: {
    readonly account: string;
    readonly email: string;
    readonly tier: string;
    readonly audience: string;
  }): Promise<{ readonly token: string; readonly seconds: number }>;
}

interface AccessTokenOptions {
  readonly signingKeys: SigningKeys;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** The `iss` claim: the public URL of this service, or a name that its replicas share. */
  readonly issuer: string;
}

export function createAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { signingKeys, clock, randomness, issuer } = options;
  const audience = `${issuer}/api`;
  const seconds = (): number => Math.floor(clock.now() / 1000);
  const sign = (claims: JWTPayload, type: string, life: number): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: SIGNATURE_ALGORITHM, typ: type, kid: signingKeys.signing.kid })
      .setIssuer(issuer)
      .setIssuedAt(seconds())
      .setExpirationTime(seconds() + life)
      .setJti(randomness.id())
      .sign(signingKeys.signing.key);
  return {
    issue: ({ account, session, tier, startedAt }) =>
      sign(
        { sub: account, sid: session, tier, aud: audience, auth_time: startedAt / 1000 },
        TOKEN_TYPE,
        ACCESS_TOKEN_SECONDS,
      ),
    verify: async (token, expiredMs = 0) => {
      if (token.length > TOKEN_LENGTH_MAX) throw notSignedIn();
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid = '' }) => {
            const key = signingKeys.verifying(kid);
            if (key === undefined) throw notSignedIn();
            return key;
          },
          {
            // The service sets the algorithm, because an attacker can write the header of a token.
            algorithms: [SIGNATURE_ALGORITHM],
            typ: TOKEN_TYPE,
            issuer,
            audience,
            requiredClaims: ['exp', 'iat', 'sub', 'sid', 'tier', 'auth_time'],
            clockTolerance: CLOCK_TOLERANCE_SECONDS + expiredMs / 1000,
            currentDate: new Date(clock.now()),
          },
        );
        // `auth_time` is a NumericDate, which may have a fraction (RFC 9068, 2.2.1; RFC 7519, 2).
        const { sub, sid, tier, auth_time: seconds } = payload;
        const isWhole =
          typeof sub === 'string' && typeof sid === 'string' && typeof tier === 'string';
        if (!isWhole || typeof seconds !== 'number') throw notSignedIn();
        return { account: sub, session: sid, tier, startedAt: Math.round(seconds * 1000) };
      } catch (error) {
        throw notSignedIn(error);
      }
    },
    issueForPortal: async ({ account, email, tier, audience: portal }) => {
      const claims = { sub: account, email, tier, aud: portal };
      const token = await sign(claims, PORTAL_TOKEN_TYPE, PORTAL_TOKEN_SECONDS);
      return { token, seconds: PORTAL_TOKEN_SECONDS };
    },
  };
}

/** The token in an `Authorization: Bearer …` header (RFC 6750, section 2.1); undefined for any other header. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
}
