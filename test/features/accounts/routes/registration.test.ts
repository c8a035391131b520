import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invite } from '../../../../src/features/accounts/accounts/invitations.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { AUTH, ask, comparable, logIn, newEmail, PASSWORD, UNLIMITED } from './account-support.ts';

describe('registration', () => {
  let open: TestService;
  let invited: TestService;
  let closed: TestService;
  let production: TestService;

  beforeAll(async () => {
    [open, invited, closed, production] = await Promise.all([
      createTestService({ env: UNLIMITED }),
      createTestService({ env: { ...UNLIMITED, REGISTRATION: 'invite' } }),
      createTestService({ env: { ...UNLIMITED, REGISTRATION: 'closed' } }),
      createTestService({
        env: {
          ...UNLIMITED,
          NODE_ENV: 'production',
          PUBLIC_URL: 'https://updates.example.com',
          IDENTITY_PROVIDER: 'embedded',
          CAPTCHA_PROVIDER: 'none',
        },
      }),
    ]);
  });
  afterAll(() => Promise.all([open, invited, closed, production].map((one) => one.close())));

  const register = (service: TestService, body: object) =>
    ask(service, 'POST', `${AUTH}/register`, { body: { password: PASSWORD, ...body } });
  const codeFor = async (service: TestService, email: string) =>
    (await invite(service, email, 7)).code;

  it('is open in development, and needs an invitation in production', async () => {
    expect((await register(open, { email: newEmail() })).status).toBe(202);
    for (const service of [invited, production]) {
      const email = newEmail();
      const refused = await register(service, { email });
      expect([refused.status, refused.body.code]).toEqual([403, 'registration_refused']);
      const invitation = await codeFor(service, email);
      expect((await register(service, { email, invitation })).status).toBe(202);
      expect((await logIn(service, { email })).status).toBe(200);
      expect((await register(service, { email, invitation })).status).toBe(403);
    }
  });

  it('is refused where it is closed, also with an invitation', async () => {
    const email = newEmail();
    const invitation = await codeFor(closed, email);
    for (const body of [{ email }, { email, invitation }]) {
      expect((await register(closed, body)).body.code).toBe('registration_refused');
    }
  });

  it('is refused in the same way for every invalid invitation', async () => {
    const known = newEmail();
    const other = newEmail();
    const used = await codeFor(invited, known);
    await register(invited, { email: known, invitation: used });
    const others = await codeFor(invited, other);
    const answers = [];
    for (const body of [
      { email: known },
      { email: known, invitation: used },
      { email: known, invitation: others },
      { email: newEmail(), invitation: others },
      { email: newEmail(), invitation: 'nothing' },
      { email: newEmail() },
    ]) {
      answers.push(comparable(await register(invited, body)));
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.status).toBe(403);
    expect((await register(invited, { email: other, invitation: others })).status).toBe(202);
  });
});
