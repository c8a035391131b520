import { createHmac, createPublicKey } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  ACCESS_TOKEN_SECONDS,
  type AccessTokens,
  bearerOf,
  createAccessTokens,
  type Principal,
} from '../../../../src/features/accounts/access-tokens/access-token.ts';
import {
  createSigningKeys,
  importSigningKeys,
  rotateSigningKeys,
  type SigningKeys,
} from '../../../../src/features/accounts/access-tokens/signing-keys.ts';
import { createFixedClock, createSeededRandomness } from '../../../support/clock.ts';

const ISSUER = 'https://updates.example.org';
const STARTED_AT = Date.parse('2026-11-21T08:59:59.123Z');
const WHO: Principal = {
  account: 'a'.repeat(32),
  session: 'session-1',
  tier: 'pro',
  startedAt: STARTED_AT,
};

const clock = createFixedClock();
const seconds = (): number => Math.floor(clock.now() / 1000);

function tokensWith(signingKeys: SigningKeys, issuer = ISSUER): AccessTokens {
  return createAccessTokens({ signingKeys, clock, randomness: createSeededRandomness(1), issuer });
}

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const decode = (part = ''): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString());

let json: string;
let keys: SigningKeys;
let tokens: AccessTokens;

beforeAll(async () => {
  json = await createSigningKeys();
  keys = await importSigningKeys(json);
  tokens = tokensWith(keys);
});

const header = () => ({ alg: 'EdDSA', typ: 'at+jwt', kid: keys.signing.kid });
const payload = () => ({
  iss: ISSUER,
  aud: `${ISSUER}/api`,
  sub: WHO.account,
  sid: WHO.session,
  tier: WHO.tier,
  auth_time: STARTED_AT / 1000,
  iat: seconds(),
  exp: seconds() + ACCESS_TOKEN_SECONDS,
  jti: 'x',
});

/** A token with any header and claims, signed with the service's own key. */
async function forge(
  changes: { header?: object; payload?: object; key?: SigningKeys['signing']['key'] } = {},
): Promise<string> {
  const input = `${encode({ ...header(), ...changes.header })}.${encode({ ...payload(), ...changes.payload })}`;
  const key = changes.key ?? keys.signing.key;
  const signature = await crypto.subtle.sign('Ed25519', key, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

async function expectRefused(token: string): Promise<void> {
  await expect(tokens.verify(token)).rejects.toMatchObject({
    name: 'AppError',
    code: 'not_signed_in',
  });
}

describe('an access token', () => {
  it('is a JWT after RFC 9068, valid for ten minutes', async () => {
    const token = await tokens.issue(WHO);
    const [head, body] = token.split('.');
    expect(decode(head)).toEqual(header());
    expect(decode(body)).toEqual({ ...payload(), jti: expect.any(String) });
    expect(await tokens.verify(token)).toEqual(WHO);
  });

  it('is valid when the test builds it: each test below changes one part', async () => {
    expect(await tokens.verify(await forge())).toEqual(WHO);
  });

  it('expires after ten minutes and the clock tolerance', async () => {
    const token = await tokens.issue(WHO);
    clock.advance(ACCESS_TOKEN_SECONDS * 1000 + 4_000);
    await tokens.verify(token);
    clock.advance(2_000);
    await expectRefused(token);
  });

  it('without a signature is refused, with any header', async () => {
    for (const alg of ['none', 'None', 'NONE', '', 'EdDSA', undefined]) {
      const body = encode(payload());
      await expectRefused(`${encode({ ...header(), alg })}.${body}.`);
      await expectRefused(`${encode({ ...header(), alg })}.${body}`);
    }
  });

  it('signed with the public key as a shared secret is refused', async () => {
    const [publicKey] = keys.publicKeys;
    const x = String(publicKey?.x);
    const der = createPublicKey({ key: publicKey as never, format: 'jwk' });
    const secrets = [
      Buffer.from(x, 'base64url'),
      Buffer.from(x),
      Buffer.from(JSON.stringify(publicKey)),
      der.export({ format: 'der', type: 'spki' }),
      Buffer.from(der.export({ format: 'pem', type: 'spki' })),
    ];
    for (const [alg, hash] of [
      ['HS256', 'sha256'],
      ['HS512', 'sha512'],
    ] as const) {
      for (const secret of secrets) {
        const input = `${encode({ ...header(), alg })}.${encode(payload())}`;
        const mac = createHmac(hash, secret).update(input).digest('base64url');
        await expectRefused(`${input}.${mac}`);
      }
    }
  });

  it('signed with another algorithm is refused', async () => {
    for (const alg of ['RS256', 'ES256', 'PS256']) {
      const { privateKey } = await generateKeyPair(alg);
      const token = await new SignJWT(payload())
        .setProtectedHeader({ ...header(), alg })
        .sign(privateKey);
      await expectRefused(token);
    }
  });

  it.each(['JWT', 'portal+jwt', 'application/portal+jwt', 'jwt', '', 'at', 1, null, ['at+jwt']])(
    'of type %j is refused',
    async (typ) => {
      await expectRefused(await forge({ header: { typ } }));
    },
  );

  it('for the billing portal is not valid for the API', async () => {
    const portal = { account: WHO.account, email: 'ada@example.org', tier: 'pro' };
    for (const audience of ['https://billing.example.org', `${ISSUER}/api`]) {
      const { token, seconds: life } = await tokens.issueForPortal({ ...portal, audience });
      expect(life).toBe(60);
      await expectRefused(token);
    }
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example.org' }],
    ['no issuer', { iss: undefined }],
    ['issuers', { iss: [ISSUER] }],
    ['another audience', { aud: 'https://billing.example.org' }],
    ['the issuer as its audience', { aud: ISSUER }],
    ['no audience', { aud: undefined }],
    ['others as its audiences', { aud: ['https://a.example.org', 'https://b.example.org'] }],
    ['no audiences', { aud: [] }],
    ['an audience that is no text', { aud: { [`${ISSUER}/api`]: true } }],
    ['no expiry', { exp: undefined }],
    ['an expiry that is text', { exp: '9999999999' }],
    ['an expiry that is null', { exp: null }],
    ['no time of issue', { iat: undefined }],
    ['no subject', { sub: undefined }],
    ['a subject that is no text', { sub: 1 }],
    ['a subject that is a list', { sub: [WHO.account] }],
    ['no session', { sid: undefined }],
    ['a session that is no text', { sid: {} }],
    ['no tier', { tier: undefined }],
    ['a tier that is no text', { tier: ['pro'] }],
    ['no beginning of its session', { auth_time: undefined }],
    ['a beginning that is text', { auth_time: '9999999999' }],
  ])('with %s is refused', async (_, claims) => {
    await expectRefused(await forge({ payload: claims }));
  });

  it('that is issued in the future, or expired, is refused', async () => {
    await expectRefused(await forge({ payload: { nbf: seconds() + 60 } }));
    await expectRefused(await forge({ payload: { exp: seconds() - 6 } }));
    await expectRefused(await forge({ payload: { exp: 0 } }));
    await expectRefused(await forge({ payload: { exp: -1 } }));
  });

  it('with an unknown key, or the id of another key, is refused', async () => {
    const other = await importSigningKeys(await createSigningKeys());
    await expectRefused(await tokensWith(other).issue(WHO));
    await expectRefused(await forge({ key: other.signing.key }));
    for (const kid of ['unknown', '', '__proto__', 'constructor', 1, null, {}, [header().kid]]) {
      await expectRefused(await forge({ header: { kid } }));
    }
    const { kid: _, ...withoutKid } = header();
    await expectRefused(await forge({ header: { ...withoutKid, kid: undefined } }));
    const both = await importSigningKeys(
      JSON.stringify({
        keys: [...JSON.parse(json).keys, ...JSON.parse(await createSigningKeys()).keys],
      }),
    );
    const second = both.publicKeys[1]?.kid;
    const wrongName = await forge({ header: { kid: second } });
    await expect(tokensWith(both).verify(wrongName)).rejects.toMatchObject({
      code: 'not_signed_in',
    });
  });

  it('with a key in its header is refused', async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA', {
      crv: 'Ed25519',
      extractable: true,
    });
    const jwk = await exportJWK(publicKey);
    const injected = [
      { jwk },
      { jwk, kid: undefined },
      { jku: 'http://127.0.0.1:1/jwks.json' },
      { x5u: 'http://127.0.0.1:1/cert.pem' },
      { x5c: ['AAAA'] },
      { jwk, kid: 'mine' },
    ];
    for (const extra of injected) {
      await expectRefused(await forge({ header: extra, key: privateKey }));
    }
  });

  it('with a "crit" header is refused', async () => {
    for (const extra of [
      { crit: ['exp'], exp: 1 },
      { crit: ['b64'], b64: false },
      { crit: [] },
      { crit: 'b64' },
    ]) {
      await expectRefused(await forge({ header: extra }));
    }
  });

  it('that is huge, or not a token, is refused at once', async () => {
    const token = await tokens.issue(WHO);
    const [head, body, signature] = token.split('.');
    for (const text of [
      '',
      '.',
      '..',
      '...',
      'x',
      `${token}.`,
      `${token}.x`,
      `${head}.${body}`,
      `${head}..${signature}`,
      `${encode('[]')}.${body}.${signature}`,
      `${encode('null')}.${body}.${signature}`,
      `${encode('{')}.${body}.${signature}`,
      'x'.repeat(10_000_000),
      `${'.'.repeat(1_000_000)}`,
      await forge({ payload: { padding: 'x'.repeat(1_000_000) } }),
      await forge({ header: { padding: 'x'.repeat(1_000_000) } }),
    ]) {
      await expectRefused(text);
    }
  });

  it('whose signature was altered is refused', async () => {
    const token = await tokens.issue(WHO);
    const flipped = `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.at(-1)}`;
    await expectRefused(flipped);
  });

  it('is read from an Authorization header with the Bearer scheme only', () => {
    expect(bearerOf('Bearer abc.def-_~+/==')).toBe('abc.def-_~+/==');
    expect(bearerOf('bearer  abc ')).toBe('abc');
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Basic abc',
      'abc',
      'Bearer a b',
      'xBearer a',
      'Bearer a, Bearer b',
    ]) {
      expect(bearerOf(wrong)).toBeUndefined();
    }
  });
});

describe('the signing keys', () => {
  it('publish no private part', () => {
    for (const key of keys.publicKeys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    }
    expect(JSON.stringify(keys.publicKeys)).not.toContain(JSON.parse(json).keys[0].d);
  });

  it('rotate in steps, at none of which a valid token is refused', async () => {
    const steps = [json];
    for (const step of ['add', 'switch', 'retire'] as const) {
      steps.push(await rotateSigningKeys(steps.at(-1) ?? '', step));
    }
    const services = await Promise.all(
      steps.map(async (step) => tokensWith(await importSigningKeys(step))),
    );
    const [before, added, switched, retired] = services;
    // During a rollout, replicas with the old keys and with the new keys run at the same time.
    for (const [one, other] of [
      [before, added],
      [added, switched],
      [switched, retired],
    ]) {
      if (one === undefined || other === undefined) throw new Error('A step is missing.');
      expect(await other.verify(await one.issue(WHO))).toEqual(WHO);
      expect(await one.verify(await other.issue(WHO))).toEqual(WHO);
    }
    const kidOf = async (service?: AccessTokens) =>
      decode((await service?.issue(WHO))?.split('.')[0]).kid;
    const kids = await Promise.all(services.map(kidOf));
    expect(kids[0]).toBe(kids[1]);
    expect(kids[2]).toBe(kids[3]);
    expect(kids[1]).not.toBe(kids[2]);
    const old = await before?.issue(WHO);
    await expect(retired?.verify(old ?? '')).rejects.toMatchObject({ code: 'not_signed_in' });
    expect(JSON.parse(steps[3] ?? '').keys).toHaveLength(1);
  });

  it('are refused with a message when they are invalid', async () => {
    const [key] = JSON.parse(json).keys;
    const [other] = JSON.parse(await createSigningKeys()).keys;
    const { d: _, ...withoutPrivate } = key;
    for (const wrong of [
      '',
      '{}',
      '{"keys":[]}',
      'null',
      JSON.stringify({ keys: [withoutPrivate] }),
      JSON.stringify({ keys: [{ ...key, crv: 'X25519' }] }),
      JSON.stringify({ keys: [{ ...key, kty: 'oct' }] }),
      JSON.stringify({ keys: [{ ...key, kid: '' }] }),
      JSON.stringify({ keys: [{ ...key, d: 'AAAA' }] }),
      JSON.stringify({ keys: [{ ...key, x: other.x }] }),
    ]) {
      await expect(importSigningKeys(wrong), wrong.slice(0, 60)).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.not.stringContaining(key.d),
      });
    }
  });
});
