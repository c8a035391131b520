import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHastyClock } from '../../../support/clock.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { ask, logOut, type Person, refresh, signIn, UNLIMITED } from './account-support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('signing out with an expired access token', () => {
  const clock = createHastyClock();
  const log: string[] = [];
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService({ clock, env: UNLIMITED, log });
  });
  afterAll(() => service.close());

  it.each(['local', 'global'] as const)('%s: ends the session', async (scope) => {
    const person = await signIn(service);
    clock.advance(11 * 60_000);
    expect((await ask(service, 'GET', '/api/v1/account', { bearer: person.access })).status).toBe(
      401,
    );
    const answer = await logOut(service, { scope, bearer: person.access });
    expect(answer.status).toBe(204);
    expect((await refresh(service, person, person.refresh)).status).toBe(401);
  });

  it('global, after its own session ended: the token ends no other session', async () => {
    const person = await signIn(service);
    await logOut(service, { scope: 'local', bearer: person.access });
    const other = await signIn(service, { email: person.email });
    clock.advance(11 * 60_000);
    expect((await logOut(service, { scope: 'global', bearer: person.access })).status).toBe(204);
    expect((await refresh(service, other, other.refresh)).status).toBe(200);
  });

  it.each([2 * HOUR, 80 * DAY])(
    'global, after %d ms: a token found on an old disk ends nothing, and is refused',
    async (late) => {
      const person = await signIn(service);
      const other = await signIn(service, { email: person.email, deviceId: 'device-2' });
      const [own, others] = await keepOpen([person, other], late);
      const answer = await logOut(service, { scope: 'global', bearer: person.access });
      expect([answer.status, answer.body?.code]).toEqual([401, 'not_signed_in']);
      expect((await refresh(service, person, own)).status).toBe(200);
      expect((await refresh(service, other, others)).status).toBe(200);
    },
  );

  it('global, with an access token from two hours ago and the newest refresh token: ends every session', async () => {
    const person = await signIn(service);
    const other = await signIn(service, { email: person.email, deviceId: 'device-2' });
    clock.advance(2 * HOUR);
    const body = { refresh_token: person.refresh };
    const answer = await logOut(service, { scope: 'global', bearer: person.access, body });
    expect(answer.status, answer.text).toBe(204);
    expect((await refresh(service, other, other.refresh)).status).toBe(401);
  });

  it('local, with an access token from two hours ago and an invalid refresh token: ends its own session', async () => {
    const person = await signIn(service);
    clock.advance(2 * HOUR);
    const asked = { bearer: person.access, body: { refresh_token: 'none' } };
    expect((await logOut(service, asked)).status).toBe(204);
    expect((await refresh(service, person, person.refresh)).status).toBe(401);
  });

  it('global, with a refresh token that was used long ago: the same', async () => {
    const person = await signIn(service);
    const [own] = await keepOpen([person], 3 * DAY);
    clock.advance(2 * 60_000);
    const body = { refresh_token: person.refresh };
    expect((await logOut(service, { scope: 'global', body })).body?.code).toBe('not_signed_in');
    expect((await refresh(service, person, own)).status).toBe(200);
  });

  it('global, with the newest refresh token or the one before: ends every session', async () => {
    for (const age of [0, 1]) {
      const person = await signIn(service);
      const other = await signIn(service, { email: person.email, deviceId: 'device-2' });
      const next = (await refresh(service, person, person.refresh)).body.refresh_token;
      clock.advance(1);
      const body = { refresh_token: age === 0 ? next : person.refresh };
      expect((await logOut(service, { scope: 'global', body })).status).toBe(204);
      expect((await refresh(service, other, other.refresh)).status).toBe(401);
    }
  });

  it('global, with the access token of an ended session: ends no other session', async () => {
    const person = await signIn(service);
    const other = await signIn(service, { email: person.email, deviceId: 'device-2' });
    await logOut(service, { bearer: person.access });
    expect((await logOut(service, { scope: 'global', bearer: person.access })).status).toBe(204);
    expect((await refresh(service, other, other.refresh)).status).toBe(200);
  });

  /** Refreshes every ten days; returns the newest tokens. */
  async function keepOpen(people: readonly Person[], ms: number): Promise<string[]> {
    const tokens = people.map((person) => person.refresh);
    for (let left = ms; left > 0; left -= 10 * DAY) {
      clock.advance(Math.min(left, 10 * DAY));
      for (const [index, person] of people.entries()) {
        tokens[index] = (await refresh(service, person, tokens[index])).body.refresh_token;
      }
    }
    return tokens;
  }

  it('leaves no query in the log: clients may put secrets there', async () => {
    await ask(service, 'GET', '/api/v1/account?access_token=not-for-the-log', {});
    expect(log.join('\n')).toContain('"url":"/api/v1/account"');
    expect(log.join('\n')).not.toContain('not-for-the-log');
  });
});
