import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { CHECK_UPDATE, release } from '../../server/support.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createCountingStore } from '../../support/counting-store.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import {
  ANALYTICS,
  AUTH,
  ask,
  KEYS,
  logIn,
  newEmail,
  PASSWORD,
  type Person,
  refresh,
  register,
  signIn,
  UNLIMITED,
} from './routes/account-support.ts';

/** The cost of authenticated requests in store requests and round trips, measured from the route on. */

const CALLS = 1_000;
const CHECK = { current_version: '1.0.0', platform: 'windows', arch: 'x64', channel: 'insider' };
/** An update check verifies its token only for a channel that needs a tier. */
const TIERS = JSON.stringify({ free: ['developer_keys', 'analytics', 'channel:desktop/insider'] });

/** Stands still, so that on a slow machine nothing expires from a cache. */
const NOW = Date.parse('2026-11-21T09:00:00Z');
const clock = { ...createHastyClock(), now: () => NOW };
const counting = createCountingStore(createMemoryStore({ clock }));
let service: TestService;
let person: Person;

beforeAll(async () => {
  const env = { ...UNLIMITED, TIERS };
  service = await createTestService({ store: counting.store, clock, env });
  for (const version of ['1.0.0', '1.1.0']) {
    const channel = version === '1.1.0' ? 'insider' : 'stable';
    await release(service, version, ['windows x64 nsis'], { channel });
  }
  person = await signIn(service);
});
afterAll(() => service.close());

/** The store requests and round trips of one call. */
async function costOf<T>(call: () => Promise<T>) {
  counting.take();
  const answer = await call();
  return { answer, cost: counting.take() };
}

/** The store requests and round trips of 1000 calls, from several addresses because of the rate limit. */
async function costOfMany(call: (address: string) => Promise<void>) {
  const { cost } = await costOf(async () => {
    for (let turn = 0; turn < CALLS; turn++) {
      await call(`10.0.${turn >> 8}.${turn & 255}`);
    }
  });
  return cost;
}

const NOTHING = { requests: 0, trips: 0 };

describe('an access token', () => {
  it(`is checked ${CALLS} times without the store`, async () => {
    const check = (address: string) =>
      ask(service, 'POST', CHECK_UPDATE, { body: CHECK, bearer: person.access, address });
    // The first request that needs a release waits until it is read.
    await check('10.1.0.1');
    const cost = await costOfMany(async (address) => {
      const { status, body } = await check(address);
      expect([status, body.version]).toEqual([200, '1.1.0']);
    });
    expect(cost).toEqual(NOTHING);
  });

  it(`and its tier is looked up ${CALLS} times without it`, async () => {
    const cost = await costOfMany(async (address) => {
      const asked = { bearer: person.access, address };
      expect((await ask(service, 'GET', ANALYTICS, asked)).status).toBe(200);
    });
    expect(cost).toEqual(NOTHING);
  });

  it('that is forged costs none either', async () => {
    const [header = '', payload = ''] = person.access.split('.');
    const forged = `${header}.${payload}.${'A'.repeat(86)}`;
    const { answer, cost } = await costOf(() => ask(service, 'GET', ANALYTICS, { bearer: forged }));
    expect(answer.status).toBe(401);
    expect(cost).toEqual(NOTHING);
  });
});

describe('a refresh', () => {
  const AT_MOST = { requests: 5, trips: 2 };

  it('takes five requests in two round trips, the route included', async () => {
    let token = person.refresh;
    for (let turn = 0; turn < 20; turn++) {
      const { answer, cost } = await costOf(() => refresh(service, person, token));
      expect(answer.status).toBe(200);
      expect(cost).toEqual(AT_MOST);
      token = answer.body.refresh_token;
    }
  });

  it('with a forged token costs none', async () => {
    const forged = `${person.refresh.slice(0, -43)}${'A'.repeat(43)}`;
    const { answer, cost } = await costOf(() => refresh(service, person, forged));
    expect(answer.status).toBe(401);
    expect(cost).toEqual(NOTHING);
  });
});

describe('a developer key', () => {
  it(`is looked up once, and ${CALLS} times remembered`, async () => {
    const body = {
      name: 'CI',
      scopes: [{ application: 'desktop', access: 'read' }],
      expires_in_days: 1,
    };
    const made = await ask(service, 'POST', KEYS, { body, bearer: person.access });
    expect(made.status, made.text).toBe(201);
    const use = (address: string) =>
      ask(service, 'GET', ANALYTICS, { bearer: made.body.key, address });
    const { cost: first } = await costOf(() => use('10.1.0.2'));
    // The key's document and end marker, three of the account, and the note of the use.
    expect(first.requests).toBeLessThanOrEqual(6);
    expect(first.requests).toBeGreaterThan(0);
    const cost = await costOfMany(async (address) => {
      expect((await use(address)).status).toBe(200);
    });
    expect(cost).toEqual(NOTHING);
  });
});

describe('an address with an account and one without cost the same requests', () => {
  const registering = (email: string) => () =>
    ask(service, 'POST', `${AUTH}/register`, { body: { email, password: PASSWORD } });
  const guessing = (email: string) => () => logIn(service, { email, password: 'wrong password' });

  it('to register', async () => {
    const known = await costOf(registering(await register(service)));
    const unknown = await costOf(registering(newEmail()));
    expect([known.answer.status, unknown.answer.status]).toEqual([202, 202]);
    expect(known.cost).toEqual(unknown.cost);
    expect(known.cost.requests).toBeGreaterThan(0);
  });

  it('to sign in to with a wrong password', async () => {
    const known = await costOf(guessing(await register(service)));
    const unknown = await costOf(guessing(newEmail()));
    expect([known.answer.status, unknown.answer.status]).toEqual([401, 401]);
    expect(known.cost).toEqual(unknown.cost);
    expect(known.cost.requests).toBeGreaterThan(0);
  });
});
