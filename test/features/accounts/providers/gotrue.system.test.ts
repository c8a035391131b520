import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/core/clock.ts';
import type { AppError } from '../../../../src/core/errors.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { systemClock } from '../../../../src/core/system.ts';
import { accountIdOf, readAccount } from '../../../../src/features/accounts/accounts/account.ts';
import { setTier } from '../../../../src/features/accounts/accounts/change-account.ts';
import { lockAccount } from '../../../../src/features/accounts/lock-account.ts';
import { createLockout } from '../../../../src/features/accounts/passwords/lockout.ts';
import { createGotrueProvider } from '../../../../src/features/accounts/providers/gotrue.ts';
import type { IdentityProvider } from '../../../../src/features/accounts/providers/identity-provider.ts';
import { signIn } from '../../../../src/features/accounts/sign-in.ts';
import { createTestSessions, DEVICE, dump, setUp } from '../support.ts';
import {
  type Answer,
  API_KEY,
  errorAnswer,
  type GotrueStandIn,
  PROVIDER_TOKENS,
  startGotrueStandIn,
} from './gotrue-stand-in.ts';

/** With a stand-in on loopback, not with a real Supabase project. */

/** For tests in which GoTrue does not answer. In the others, a busy machine may be slow. */
const TIMEOUT_MS = 300;
const ANSWER_AFTER_MS = 100;
const USERS = [
  { id: 'user-ada', email: 'ada@example.org', password: 'correct horse' },
  {
    id: 'user-new',
    email: 'new@example.org',
    password: 'correct horse',
    isConfirmed: false,
  },
  { id: 'user-out', email: 'out@example.org', password: 'correct horse', isBanned: true },
  {
    id: 'user-pro',
    email: 'pro@example.org',
    password: 'correct horse',
    more: {
      app_metadata: { tier: 'pro' },
      user_metadata: { name: 'Grace', tier: 'enterprise', email: 'root@example.org' },
    },
  },
  {
    id: 'user-sly',
    email: 'sly@example.org',
    password: 'correct horse',
    more: { user_metadata: { tier: 'enterprise', name: 'x'.repeat(200) }, tier: 'enterprise' },
  },
  {
    id: 'user-phone',
    email: 'phone@example.org',
    password: 'correct horse',
    more: { email_confirmed_at: null, confirmed_at: '2026-01-01T00:00:00Z' },
  },
];

/** A clock whose sleeps end at once. */
const hasty: Clock = { ...systemClock, sleep: async () => undefined };

let standIn: GotrueStandIn;
let provider: IdentityProvider;
let outcomes: (AppError | undefined)[];

function providerAt(
  url: string,
  apiKey = API_KEY,
  clock = hasty,
  timeoutMs = 20_000,
): IdentityProvider {
  return createGotrueProvider({
    url,
    apiKey: new Secret(apiKey),
    timeoutMs,
    clock,
    answerAfterMs: ANSWER_AFTER_MS,
    onOutcome: (failure) => outcomes.push(failure),
  });
}

beforeEach(async () => {
  outcomes = [];
  standIn = await startGotrueStandIn(USERS);
  provider = providerAt(standIn.url);
});
afterEach(() => standIn.close());

const impatient = () => providerAt(standIn.url, API_KEY, hasty, TIMEOUT_MS);

const verify = (name: string, password = 'correct horse') =>
  provider.verifyPassword({ email: `${name}@example.org`, password });
const register = (name: string, password = 'correct horse') =>
  provider.register({ email: `${name}@example.org`, password, name: null });

const UNAVAILABLE = { code: 'identity_provider_unavailable', kind: 'unavailable' };

function renderAnswer(status: number) {
  const json = status === 200 ? {} : { code: status, error_code: 'over_email_send_rate_limit' };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) };
}

describe('GoTrue', () => {
  it('registers new users, and answers alike for known addresses', async () => {
    await provider.register({ email: 'nobody@example.org', password: 'correct horse', name: 'No' });
    await register('ada');
    standIn.answer('/signup', errorAnswer(422, 'user_already_exists'));
    await register('ada');
    standIn.answer('/signup', errorAnswer(422, 'email_exists'));
    await register('ada');
    expect(standIn.requests[0]).toMatchObject({
      method: 'POST',
      path: '/signup',
      body: { email: 'nobody@example.org', password: 'correct horse', data: { name: 'No' } },
      headers: { apikey: API_KEY },
    });
  });

  it("verifies a password; this service closes GoTrue's session and passes its tokens to no client", async () => {
    const identity = await verify('ada');
    expect(identity).toEqual({
      subject: 'user-ada',
      email: 'ada@example.org',
      emailVerified: true,
      name: null,
      tier: null,
    });
    await expect.poll(() => standIn.requests.at(-1)?.path).toBe('/logout?scope=local');
    expect(standIn.requests.map(({ path }) => path)).toEqual([
      '/token?grant_type=password',
      '/logout?scope=local',
    ]);
    expect(standIn.requests[1]?.headers.authorization).toBe(`Bearer ${PROVIDER_TOKENS[0]}`);
  });

  it('answers alike to a wrong password, an unknown address and a ban', async () => {
    expect(await verify('ada', 'wrong')).toBeUndefined();
    expect(await verify('nobody')).toBeUndefined();
    expect(await verify('out')).toBeUndefined();
    standIn.answer('/token', errorAnswer(400, 'user_not_found'));
    expect(await verify('ada')).toBeUndefined();
    expect(standIn.requests.some(({ path }) => path.startsWith('/logout'))).toBe(false);
  });

  it('answers after the same time whether or not it sends a mail, counted from the request', async () => {
    for (const path of ['/signup', '/recover', '/resend']) {
      for (const status of [200, 429]) {
        let answerNow = () => {};
        const asked = new Promise<void>((resolve) => {
          standIn.answer(path, (response) => {
            const { headers, body } = renderAnswer(status);
            answerNow = () => void response.writeHead(status, headers).end(body);
            resolve();
          });
        });
        const waits: { ms: number; end(): void }[] = [];
        const sleep = (ms: number) =>
          new Promise<void>((resolve) => waits.push({ ms, end: resolve }));
        let now = 0;
        provider = providerAt(standIn.url, API_KEY, { now: () => now, sleep });
        let isAnswered = false;
        const answered = (
          path === '/signup'
            ? register('ada')
            : provider.requestMail(
                path === '/recover' ? 'reset' : 'verification',
                'ada@example.org',
              )
        ).then(() => {
          isAnswered = true;
        });
        await asked;
        // The provider's time is part of the response time, and is not added to it.
        now = ANSWER_AFTER_MS / 4;
        answerNow();
        await expect.poll(() => waits.length).toBe(1);
        expect(waits.map(({ ms }) => ms)).toEqual([ANSWER_AFTER_MS - now]);
        await setImmediate();
        expect(isAnswered).toBe(false);
        for (const { end } of waits) end();
        await answered;
      }
    }
  });

  it("takes the tier from what GoTrue's operator writes, never from what users write", async () => {
    expect(await verify('pro')).toMatchObject({
      tier: 'pro',
      name: 'Grace',
      email: 'pro@example.org',
    });
    expect(await verify('sly')).toMatchObject({ tier: null, name: null });
  });

  it('counts an address as verified only if the address was confirmed, and not only a telephone number', async () => {
    expect(await verify('phone')).toMatchObject({ emailVerified: false });
  });

  it.each<[string, Answer, object]>([
    [
      'an unconfirmed address',
      errorAnswer(400, 'email_not_confirmed'),
      { code: 'email_not_verified', kind: 'forbidden' },
    ],
    [
      'a weak password',
      errorAnswer(422, 'weak_password'),
      { code: 'weak_password', issues: [{ pointer: '/password' }] },
    ],
    ['closed registration', errorAnswer(422, 'signup_disabled'), { code: 'not_configured' }],
    ['e-mail turned off', errorAnswer(400, 'email_provider_disabled'), { code: 'not_configured' }],
    [
      'too many requests',
      errorAnswer(429, 'over_request_rate_limit'),
      { code: 'too_many_requests', retryAfterSeconds: 60 },
    ],
    [
      'an address it does not like',
      errorAnswer(400, 'email_address_invalid'),
      { code: 'invalid_request' },
    ],
    ['a failure', errorAnswer(500, 'unexpected_failure'), UNAVAILABLE],
    ['a gateway that fails', { status: 502, text: '<html>Bad Gateway</html>' }, UNAVAILABLE],
    ['a page', { status: 200, text: '<html>Welcome to the hotel</html>' }, UNAVAILABLE],
    ['nothing', { status: 200, text: '' }, UNAVAILABLE],
    ['half an answer', { status: 200, text: '{"access_token":' }, UNAVAILABLE],
    ['something unknown', errorAnswer(418, 'teapot'), UNAVAILABLE],
    [
      'a redirect',
      { status: 307, headers: { location: 'http://127.0.0.1:1/' }, json: {} },
      UNAVAILABLE,
    ],
    ['no end', 'hang', UNAVAILABLE],
    ['a broken connection', (response) => void response.destroy(), UNAVAILABLE],
    [
      'a beginning without an end',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"access_token"');
      },
      UNAVAILABLE,
    ],
    [
      'far too much',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(`"${'x'.repeat(5_000_000)}"`);
      },
      UNAVAILABLE,
    ],
  ])('%s becomes the matching error', async (what, answer, expected) => {
    if (/no end|without an end/.test(what)) provider = impatient();
    standIn.answer('/token', answer);
    standIn.answer('/signup', answer);
    await expect(verify('ada')).rejects.toMatchObject(expected);
    await expect(register('ada')).rejects.toMatchObject(expected);
    if (expected === UNAVAILABLE) {
      expect(await verify('ada').catch(({ retryAfterSeconds }) => retryAfterSeconds)).toBe(10);
    }
  });

  it('reports an unconfirmed address only with the right password', async () => {
    await expect(verify('new')).rejects.toMatchObject({ code: 'email_not_verified' });
    expect(await verify('new', 'wrong')).toBeUndefined();
  });

  it('reads the error code from the header first, then from the body of any GoTrue version', async () => {
    const headers = { 'x-sb-error-code': 'email_not_confirmed' };
    standIn.answer('/token', { status: 400, headers, json: { code: 'invalid_credentials' } });
    await expect(verify('ada')).rejects.toMatchObject({ code: 'email_not_verified' });
    for (const json of [
      { code: 400, error_code: 'invalid_credentials', msg: 'Invalid login credentials' },
      { code: 'invalid_credentials', message: 'Invalid login credentials' },
      { error: 'invalid_grant', error_description: 'Invalid login credentials' },
    ]) {
      standIn.answer('/token', { status: 400, json });
      expect(await verify('ada')).toBeUndefined();
    }
  });

  it('refuses a response with an invalid user', async () => {
    for (const user of [
      undefined,
      null,
      {},
      { id: '', email: 'a@b.c' },
      { id: 'x' },
      { id: 1, email: 'a@b.c' },
    ]) {
      standIn.answer('/token', { status: 200, json: { access_token: 'a', user } });
      await expect(verify('ada')).rejects.toMatchObject(UNAVAILABLE);
    }
  });

  it('sends the API key and passwords to the configured URL only', async () => {
    let reached = 0;
    const elsewhere = createServer((_request, response) => {
      reached += 1;
      response.end('{}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { location: `http://127.0.0.1:${port}/token` };
      standIn.answer('/token', { status, headers, json: {} });
      await expect(verify('ada')).rejects.toMatchObject(UNAVAILABLE);
    }
    elsewhere.close();
    expect(reached).toBe(0);
  });

  it("signs users in even if GoTrue's logout fails", async () => {
    for (const answer of [{ status: 500 }, 'hang'] as const) {
      standIn.answer('/logout', answer);
      if (answer === 'hang') provider = impatient();
      expect(await verify('ada')).toMatchObject({ subject: 'user-ada' });
    }
  });

  it('sends mails, and answers alike for unknown addresses', async () => {
    await provider.requestMail('reset', 'ada@example.org');
    await provider.requestMail('verification', 'ada@example.org');
    expect(standIn.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/recover', { email: 'ada@example.org' }],
      ['/resend', { type: 'signup', email: 'ada@example.org' }],
    ]);
    for (const answer of [
      errorAnswer(400, 'user_not_found'),
      errorAnswer(429, 'over_email_send_rate_limit'),
      errorAnswer(422, 'email_address_invalid'),
    ]) {
      standIn.answer('/recover', answer);
      await provider.requestMail('reset', 'nobody@example.org');
    }
    standIn.answer('/recover', errorAnswer(500, 'unexpected_failure'));
    await expect(provider.requestMail('reset', 'ada@example.org')).rejects.toMatchObject(
      UNAVAILABLE,
    );
  });

  it('reports each outcome to the status page', async () => {
    await provider.probe(AbortSignal.timeout(20_000));
    expect(outcomes).toEqual([undefined]);
    await verify('ada', 'wrong');
    expect(outcomes.at(-1)).toBeUndefined();
    for (const answer of [{ status: 503 }, { status: 404, text: '<html>' }, 'hang'] as const) {
      standIn.answer('/health', answer);
      if (answer === 'hang') provider = impatient();
      await expect(provider.probe(AbortSignal.timeout(20_000))).rejects.toMatchObject(UNAVAILABLE);
      expect(outcomes.at(-1)).toMatchObject(UNAVAILABLE);
    }
    const withWrongKey = providerAt(standIn.url, 'not the key');
    await expect(
      withWrongKey.verifyPassword({ email: 'ada@example.org', password: 'x' }),
    ).rejects.toMatchObject(UNAVAILABLE);
    expect(outcomes.at(-1)).toMatchObject(UNAVAILABLE);
    await standIn.close();
    await expect(verify('ada')).rejects.toMatchObject(UNAVAILABLE);
    expect(outcomes.at(-1)).toMatchObject(UNAVAILABLE);
  });

  it('has the configured timeout', async () => {
    standIn.answer('/token', 'hang');
    provider = impatient();
    const begun = process.hrtime.bigint();
    await expect(verify('ada')).rejects.toMatchObject(UNAVAILABLE);
    const ms = Number(process.hrtime.bigint() - begun) / 1e6;
    // The stand-in never answers.
    expect(ms).toBeGreaterThan(TIMEOUT_MS - 50);
  });
});

describe('signing in with GoTrue', () => {
  async function signedUp() {
    const deps = setUp();
    const sessions = createTestSessions(deps);
    const signing = { ...deps, provider, lockout: createLockout(deps), sessions };
    const login = (name: string, password = 'correct horse') =>
      signIn(signing, {
        email: `${name}@example.org`,
        password,
        platform: 'linux',
        device: DEVICE,
      });
    return { deps, login };
  }

  it("creates an account under GoTrue's user id, and stores no secret", async () => {
    const { deps, login } = await signedUp();
    const session = await login('pro');
    expect(session).toMatchObject({
      account: accountIdOf('gotrue', 'user-pro'),
      email: 'pro@example.org',
      emailVerified: true,
      tier: 'pro',
    });
    const stored = await dump(deps.store);
    for (const secret of [...PROVIDER_TOKENS, 'correct horse', API_KEY]) {
      expect(stored).not.toContain(secret);
      expect(JSON.stringify(session)).not.toContain(secret);
    }
  });

  it('updates the address and tier from GoTrue; the tier that an admin set comes first', async () => {
    const { deps, login } = await signedUp();
    const { account } = await login('pro');
    const moved = { ...USERS[3], app_metadata: { tier: 'team' }, email: 'moved@example.org' };
    standIn.answer('/token', {
      status: 200,
      json: { access_token: 'a', user: { ...moved, email_confirmed_at: '2026-01-01T00:00:00Z' } },
    });
    expect(await login('moved')).toMatchObject({
      account,
      tier: 'team',
      email: 'moved@example.org',
    });
    await setTier(deps, account, 'staff');
    expect(await login('moved')).toMatchObject({ account, tier: 'staff' });
    expect((await readAccount(deps.store, account))?.revision).toBe(3);
  });

  it('reports the lock of an account only to a client with the right password', async () => {
    const { deps, login } = await signedUp();
    const { account } = await login('ada');
    await lockAccount(deps, account, null);
    await expect(login('ada', 'wrong')).rejects.toMatchObject({ code: 'invalid_credentials' });
    await expect(login('ada')).rejects.toMatchObject({ code: 'account_locked' });
  });

  it('answers 503 while GoTrue is down, and does not count a failure of the user', async () => {
    const { deps, login } = await signedUp();
    standIn.answer('/token', { status: 500 });
    await expect(login('ada')).rejects.toMatchObject(UNAVAILABLE);
    expect(await dump(deps.store)).toBe('');
  });
});
