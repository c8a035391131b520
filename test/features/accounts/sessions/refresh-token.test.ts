import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/core/secret.ts';
import {
  createRefreshTokens,
  type RefreshClaims,
} from '../../../../src/features/accounts/sessions/refresh-token.ts';
import { rounds } from '../../../support/rounds.ts';
import {
  beginSession,
  createTestSessions,
  expectEnded,
  refreshWith,
  SECRET,
  setUp,
} from '../support.ts';

const tokens = createRefreshTokens(SECRET);

const claims: fc.Arbitrary<RefreshClaims> = fc.record({
  account: fc.stringMatching(/^[0-9a-f]{32}$/),
  session: fc.uuid(),
  device: fc.stringMatching(/^[\w-]{22}$/),
  counter: fc.integer({ min: 1, max: 1e9 }),
  accountRevision: fc.integer({ min: 1, max: 1e9 }),
  expiresAt: fc.integer({ min: 1, max: 4e9 }),
});

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Other texts that an attacker with a token could make of it. */
const altered = (token: string): fc.Arbitrary<string> => {
  const at = fc.nat(token.length - 1);
  const letter = fc.constantFrom(...BASE64URL, '.', '=', '+', '/', ' ', '\n', '\0', 'é');
  const [prefix = '', payload = '', mac = ''] = token.split('.');
  const bytes = Buffer.from(payload, 'base64url');
  return fc
    .oneof(
      fc.tuple(at, letter).map(([i, c]) => token.slice(0, i) + c + token.slice(i + 1)),
      fc.tuple(at, letter).map(([i, c]) => token.slice(0, i) + c + token.slice(i)),
      at.map((i) => token.slice(0, i)),
      at.map((i) => token.slice(i + 1)),
      at.map((i) => token.slice(0, i) + token.slice(i + 1)),
      letter.map((c) => token + c),
      // The same bytes in other spellings.
      fc.constantFrom(
        token.toUpperCase(),
        token.toLowerCase(),
        ` ${token}`,
        `${token}=`,
        `${token}.`,
        `${prefix}.${bytes.toString('base64')}.${mac}`,
        `${prefix}.${payload}=.${mac}`,
        `${prefix}.${payload}.${Buffer.from(mac, 'base64url').toString('base64')}`,
        `${prefix}.${payload}.${Buffer.from(mac, 'base64url').toString('hex')}`,
        `${prefix}.${payload}..${mac}`,
        `${prefix}.${payload}`,
        `${prefix}.${payload}.`,
        `${prefix}..${mac}`,
        `${prefix}.${mac}.${payload}`,
        `slr2.${payload}.${mac}`,
      ),
      // Two bits of a MAC's last letter are not used.
      fc.constantFrom(...BASE64URL).map((c) => token.slice(0, -1) + c),
      // Another payload under the same MAC.
      claims.map((other) => `${prefix}.${tokens.render(other).split('.')[1]}.${mac}`),
    )
    .filter((text) => text !== token);
};

describe('refresh tokens', () => {
  it('contain their claims, and are the same for the same claims', () => {
    fc.assert(
      fc.property(claims, (made) => {
        const token = tokens.render(made);
        expect(token).toMatch(/^slr1\.[\w-]+\.[\w-]{43}$/);
        expect(token.length).toBeLessThan(1024);
        expect(tokens.parse(token)).toEqual(made);
        expect(createRefreshTokens(SECRET).render(made)).toBe(token);
      }),
    );
  });

  it('that were altered, cut or spelled otherwise are refused', () => {
    fc.assert(
      fc.property(
        claims.map((made) => tokens.render(made)).chain(altered),
        (text) => tokens.parse(text) === undefined,
      ),
      { numRuns: rounds(200, 5_000) },
    );
  });

  it('of another secret are refused', () => {
    fc.assert(
      fc.property(claims, fc.string({ minLength: 32, maxLength: 40 }), (made, secret) => {
        const other = createRefreshTokens(new Secret(secret));
        return tokens.parse(other.render(made)) === undefined;
      }),
    );
  });

  it('cost no store request when they are refused', async () => {
    const deps = setUp();
    const sessions = createTestSessions(deps);
    const { token } = await beginSession(deps, sessions);
    const otherSecret = createTestSessions(deps, new Secret('t'.repeat(32)));
    deps.store.forgetCalls();
    await fc.assert(
      fc.asyncProperty(altered(token), async (text) => {
        await expectEnded(sessions, text);
        expect(sessions.claimsOf(text)).toBeUndefined();
      }),
      { numRuns: rounds(200, 1_000) },
    );
    for (const text of ['', 'slr1.', 'x'.repeat(1e6), `slr1.${'A'.repeat(1e6)}.AAAA`]) {
      await expectEnded(sessions, text);
    }
    await expectEnded(otherSecret, token);
    expect(deps.store.total()).toBe(0);
    await refreshWith(sessions, token);
  });

  it('do not reveal the ids of devices', () => {
    const digest = tokens.deviceDigest('device-1');
    expect(digest).toMatch(/^[\w-]{22}$/);
    expect(createRefreshTokens(SECRET).deviceDigest('device-1')).toBe(digest);
    expect(tokens.deviceDigest('device-2')).not.toBe(digest);
    const other = createRefreshTokens(new Secret('t'.repeat(32)));
    expect(other.deviceDigest('device-1')).not.toBe(digest);
  });
});
