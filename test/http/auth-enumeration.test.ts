import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockAccount } from '../../src/identity/manage-account.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { systemClock } from '../../src/system.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { type MonitoringStub as Stub, startMonitoringStub } from '../telemetry/monitoring-stub.ts';
import {
  AUTH,
  ask,
  comparable,
  createHastyClock,
  logIn,
  newEmail,
  PASSWORD,
  register,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const PAIRS = 40;
const MEDIANS_RATIO_MAX = 1.5;

describe('whether an address has an account', () => {
  // Waits are skipped: what is measured is the work, without the time that hides what is left of it.
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

  it('is not in the answer to a wrong password, whatever the account is like', async () => {
    const known = await register(service);
    const { email: locked, id } = await signIn(service);
    await lockAccount(service, id, 'spam');
    const erased = await signIn(service);
    await ask(service, 'DELETE', '/api/v1/account', { bearer: erased.access });
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

  it('is not in the answer when a mail is asked for, whatever the provider says', async () => {
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
      // Without mail the answer says so, to everybody.
      const unknown = await send(service, path, { email: newEmail() });
      const known = await send(service, path, { email: await register(service) });
      expect(comparable(known)).toEqual(comparable(unknown));
      expect(known.status).toBe(501);
    }
  });

  it('is not in what a provider says of a registration', async () => {
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

  it.each(['login', 'register'])('is not in the time of a %s', async (path) => {
    const device = { id: 'd', name: 'n' };
    const timed = async (email: string): Promise<number> => {
      const body = { email, password: 'wrong password', platform: 'linux', device };
      const startedAt = performance.now();
      const { status } = await send(service, path, body);
      expect(status).toBe(path === 'login' ? 401 : 202);
      return performance.now() - startedAt;
    };
    await timed(newEmail());
    const known: number[] = [];
    const unknown: number[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const email = await register(service);
      // By turns, so that a slower moment is one for both.
      const first = pair % 2 === 0;
      if (first) known.push(await timed(email));
      unknown.push(await timed(newEmail()));
      if (!first) known.push(await timed(email));
    }
    const [a, b] = [median(known), median(unknown)];
    const ratio = Math.max(a, b) / Math.min(a, b);
    console.log(
      `${path}, ${PAIRS} pairs: known ${a.toFixed(2)} ms, unknown ${b.toFixed(2)} ms, ratio ${ratio.toFixed(3)}`,
    );
    expect(ratio).toBeLessThan(MEDIANS_RATIO_MAX);
    // It is the hash that is measured, and not an answer that came without one.
    expect(Math.min(a, b)).toBeGreaterThan(3);
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
