import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../../../src/features/accounts/accounts/change-account.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { ask, BILLING, JWKS, type Person, PORTAL, signIn, UNLIMITED } from './account-support.ts';

const ADDRESS = 'https://updates.example.com';
const BILLING_PORTAL_URL = 'https://billing.example.com/enter';

describe('the billing portal', () => {
  const clock = createHastyClock();
  let service: TestService;
  let person: Person;

  beforeAll(async () => {
    const env = { ...UNLIMITED, BILLING_PORTAL_URL: `${BILLING_PORTAL_URL}/`, PUBLIC_URL: ADDRESS };
    service = await createTestService({ env, clock });
    person = await signIn(service);
  });
  afterAll(() => service.close());

  const enter = async (): Promise<URL> => {
    const answer = await ask(service, 'POST', PORTAL, { bearer: person.access });
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body.expires_in).toBe(60);
    return new URL(answer.body.url);
  };
  /** Verifies a token as the portal would. */
  const verify = async (url: URL, atMs = clock.now()) => {
    const { body } = await ask(service, 'GET', JWKS);
    return jwtVerify(url.searchParams.get('token') ?? '', createLocalJWKSet(body), {
      algorithms: ['EdDSA'],
      typ: 'portal+jwt',
      audience: BILLING_PORTAL_URL,
      issuer: ADDRESS,
      requiredClaims: ['jti', 'exp', 'iat', 'sub'],
      currentDate: new Date(atMs),
    });
  };

  it('gets a token that identifies the account and that it can verify', async () => {
    const url = await enter();
    expect(`${url.origin}${url.pathname}`).toBe(BILLING_PORTAL_URL);
    expect([...url.searchParams.keys()]).toEqual(['token']);
    const { payload, protectedHeader } = await verify(url);
    expect(payload).toEqual({
      sub: person.id,
      email: person.email,
      tier: 'free',
      aud: BILLING_PORTAL_URL,
      iss: ADDRESS,
      iat: expect.any(Number),
      exp: Number(payload.iat) + 60,
      jti: expect.any(String),
    });
    expect(protectedHeader).toEqual({
      alg: 'EdDSA',
      typ: 'portal+jwt',
      kid: expect.any(String),
    });
  });

  it('gets a new token id each time, and the current tier', async () => {
    await setTier(service, person.id, 'pro');
    const first = await verify(await enter());
    const second = await verify(await enter());
    expect(first.payload.jti).not.toBe(second.payload.jti);
    expect(first.payload.tier).toBe('pro');
    await setTier(service, person.id, null);
  });

  it('must refuse it after a minute, and an access token in its place', async () => {
    const url = await enter();
    await verify(url, clock.now() + 58_000);
    await expect(verify(url, clock.now() + 61_000)).rejects.toThrow(/exp/);
    const access = new URL(`${BILLING_PORTAL_URL}?token=${person.access}`);
    await expect(verify(access)).rejects.toThrow();
  });

  it('finds the public keys in the key set, which contains no private key', async () => {
    const { status, headers, body } = await ask(service, 'GET', JWKS);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
    expect(Object.keys(body)).toEqual(['keys']);
    for (const key of body.keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    }
    const { kid } = decodeProtectedHeader(person.access);
    expect(body.keys.map((key: { kid: string }) => key.kid)).toContain(kid);
  });

  it('is 501 when it is not configured, and billing reports that', async () => {
    const plain = await createTestService({ env: UNLIMITED });
    const { access } = await signIn(plain);
    const answer = await ask(plain, 'POST', PORTAL, { bearer: access });
    expect(answer).toMatchObject({ status: 501, body: { code: 'not_configured' } });
    expect(answer.body.detail).toMatch(/BILLING_PORTAL_URL/);
    const portalOf = async (service_: TestService, bearer: string) =>
      (await ask(service_, 'GET', BILLING, { bearer })).body.portal;
    expect(await portalOf(plain, access)).toBe(false);
    expect(await portalOf(service, person.access)).toBe(true);
    await plain.close();
  });
});
