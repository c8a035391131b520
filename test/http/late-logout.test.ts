import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHastyClock } from '../support/clock.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { ask, logOut, refresh, signIn, UNLIMITED } from './account-support.ts';

describe('signing out with an access token that has expired', () => {
  const clock = createHastyClock();
  const log: string[] = [];
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService({ clock, env: UNLIMITED, log });
  });
  afterAll(() => service.close());

  it.each(['local', 'global'] as const)('%s: ends what it says it ends', async (scope) => {
    const person = await signIn(service);
    clock.advance(11 * 60_000);
    expect((await ask(service, 'GET', '/api/v1/account', { bearer: person.access })).status).toBe(
      401,
    );
    const answer = await logOut(service, { scope, bearer: person.access });
    expect(answer.status).toBe(204);
    expect((await refresh(service, person, person.refresh)).status).toBe(401);
  });

  it('global, with its own session over: somebody else’s old token ends nothing', async () => {
    const person = await signIn(service);
    await logOut(service, { scope: 'local', bearer: person.access });
    const other = await signIn(service, { email: person.email });
    clock.advance(11 * 60_000);
    expect((await logOut(service, { scope: 'global', bearer: person.access })).status).toBe(204);
    expect((await refresh(service, other, other.refresh)).status).toBe(200);
  });

  it('leaves no query in the log: clients put there what they should not', async () => {
    await ask(service, 'GET', '/api/v1/account?access_token=not-for-the-log', {});
    expect(log.join('\n')).toContain('"url":"/api/v1/account"');
    expect(log.join('\n')).not.toContain('not-for-the-log');
  });
});
