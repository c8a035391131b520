import argon2 from 'argon2';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { lockAccount } from '../../../../src/features/accounts/lock-account.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import {
  type MonitoringStub as Stub,
  startMonitoringStub,
} from '../../../server/monitoring/stub.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  AUTH,
  ask,
  comparable,
  logIn,
  newEmail,
  PASSWORD,
  register,
  signIn,
  UNLIMITED,
} from './account-support.ts';

describe('whether an address has an account', () => {
  const clock = createHastyClock();
  let service: TestService;
  let mailed: TestService;
  let gotrue: Stub;

  beforeAll(async () => {
    gotrue = await startMonitoringStub();
    const store = createMemoryStore({ clock: systemClock });
    [service, mailed] = await Promise.all([
      createTestService({ env: UNLIMITED, clock, store }),
      createTestService({
        env: {
          ...UNLIMITED,
          IDENTITY_PROVIDER: 'gotrue',
          GOTRUE_URL: gotrue.baseUrl,
          GOTRUE_API_KEY: 'key',
        },
        clock,
      }),
    ]);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => Promise.all([service.close(), mailed.close(), gotrue.close()]));

  const send = (to: TestService, path: string, body: object) =>
    ask(to, 'POST', `${AUTH}/${path}`, { body });

  it('is not in the answer to a registration', async () => {
    const known = await register(service);
    const { email: locked, id } = await signIn(service);
    await lockAccount(service, id, 'spam');
    const answers = [];
    for (const email of [newEmail(), known, known.toUpperCase(), locked]) {
      answers.push(comparable(await send(service, 'register', { email, password: PASSWORD })));
      const weak = await send(service, 'register', { email, password: 'weak' });
      expect(weak.body.code).toBe('weak_password');
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.status).toBe(202);
  });

  it('is not in the answer to a wrong password, for any kind of account', async () => {
    const known = await register(service);
    const { email: locked, id } = await signIn(service);
    await lockAccount(service, id, 'spam');
    const erased = await signIn(service);
    await ask(service, 'DELETE', '/api/v1/account', {
      bearer: erased.access,
      body: { password: PASSWORD },
    });
    const answers = [];
    for (const email of [newEmail(), known, locked, erased.email]) {
      answers.push(comparable(await logIn(service, { email, password: 'wrong password' })));
    }
    // Not even to who knows the password of an account that was deleted.
    answers.push(comparable(await logIn(service, { email: erased.email })));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.status).toBe(401);
    // Only who knows the password is told more.
    expect((await logIn(service, { email: locked })).body.code).toBe('account_locked');
  });

  it('is not in the answer to a mail request, for any answer of the provider', async () => {
    const said = [
      [200, {}],
      [400, { error_code: 'user_not_found' }],
      [404, { code: 404, error_code: 'user_not_found', msg: 'User not found' }],
      [422, { error_code: 'validation_failed' }],
      [429, { error_code: 'over_email_send_rate_limit' }],
    ] as const;
    for (const path of ['request-reset', 'resend-verification']) {
      const answers = [];
      for (const [status, body] of said) {
        gotrue.answerWith((_request, response) => {
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(body));
        });
        answers.push(comparable(await send(mailed, path, { email: newEmail() })));
      }
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(answers[0]?.status).toBe(202);
      // Without mail the answer says so, for every address.
      const unknown = await send(service, path, { email: newEmail() });
      const known = await send(service, path, { email: await register(service) });
      expect(comparable(known)).toEqual(comparable(unknown));
      expect(known.status).toBe(501);
    }
  });

  it('is not in the answer of the provider to a registration', async () => {
    const said = [
      [200, { id: 'new', email: 'new@example.com' }],
      [422, { error_code: 'user_already_exists' }],
      [422, { error_code: 'email_exists' }],
    ] as const;
    const answers = [];
    for (const [status, body] of said) {
      gotrue.answerWith((_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
      const answer = await send(mailed, 'register', { email: newEmail(), password: PASSWORD });
      answers.push(comparable(answer));
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  // Compares the work, because times vary.
  it.each(['login', 'register'])('is not visible in the work that a %s costs', async (path) => {
    const hash = vi.spyOn(argon2, 'hash');
    const verify = vi.spyOn(argon2, 'verify');
    const work = async (email: string) => {
      hash.mockClear();
      verify.mockClear();
      const before = clock.now();
      const device = { id: 'd', name: 'n' };
      const body = { email, password: 'wrong password', platform: 'linux', device };
      const { status } = await send(service, path, body);
      expect(status).toBe(path === 'login' ? 401 : 202);
      return {
        hashes: hash.mock.calls.length,
        verifications: verify.mock.calls.length,
        // Nothing is waited for really: this is the time that every answer is held back.
        isHeldBack: clock.now() - before >= 200,
      };
    };
    const known = await work(await register(service));
    expect(known).toEqual(await work(newEmail()));
    expect(known.hashes + known.verifications).toBe(1);
    expect(known.isHeldBack).toBe(true);
  });
});
