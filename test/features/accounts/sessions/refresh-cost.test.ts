import { describe, expect, it } from 'vitest';
import { setName, setTier } from '../../../../src/features/accounts/accounts/change-account.ts';
import type { ObjectStore } from '../../../../src/store/object-store.ts';
import { createCountingStore } from '../../../support/counting-store.ts';
import {
  beginSession,
  createTestSessions,
  MINUTE,
  type Parts,
  refreshWith,
  setUp,
} from '../support.ts';

/** Counts requests and round trips, and records listings, which a refresh must not make. */
function countTrips(inner: ObjectStore) {
  const listed: string[] = [];
  const counting = createCountingStore({
    ...inner,
    list: (prefix, options) => {
      listed.push(prefix);
      return inner.list(prefix, options);
    },
  });
  return { ...counting, listed };
}

async function signedIn() {
  const deps = setUp();
  const counted = countTrips(deps.store);
  const sessions = createTestSessions({ ...deps, store: counted.store });
  return { deps, counted, sessions, ...(await beginSession(deps, sessions)) };
}

type SignedIn = Awaited<ReturnType<typeof signedIn>>;

const AT_MOST = { requests: 5, trips: 2 };

async function costOf({ counted, sessions }: SignedIn, token: string, atMost = AT_MOST) {
  counted.take();
  const next = await refreshWith(sessions, token);
  const cost = counted.take();
  expect(cost.requests).toBeLessThanOrEqual(atMost.requests);
  expect(cost.trips).toBeLessThanOrEqual(atMost.trips);
  expect(cost.requests, 'the counter works').toBeGreaterThan(0);
  expect(counted.listed).toEqual([]);
  return { cost, next };
}

describe('a successful refresh takes at most five requests in two round trips', () => {
  it('when nothing changed', async () => {
    const session = await signedIn();
    const { cost } = await costOf(session, session.token);
    console.log(`a refresh: ${cost.requests} requests in ${cost.trips} round trips`);
    expect(cost).toEqual(AT_MOST);
  });

  it('when its answer was lost', async () => {
    const session = await signedIn();
    await costOf(session, session.token);
    await costOf(session, session.token);
  });

  it.each<[string, (deps: Parts, account: string) => Promise<unknown>, typeof AT_MOST]>([
    // One more request finds out whether that change is the newest.
    ['a change of tier', (deps, id) => setTier(deps, id, 'pro'), { requests: 6, trips: 3 }],
    ['a change of name', (deps, id) => setName(deps, id, 'Ada'), { requests: 6, trips: 3 }],
    [
      'five changes',
      async (deps, id) => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) await setName(deps, id, name);
      },
      { requests: 12, trips: 9 },
    ],
  ])('after the first one that follows %s', async (_, change, first) => {
    const session = await signedIn();
    await change(session.deps, session.account.id);
    let { token } = session;
    for (let turn = 0; turn < 7; turn++) {
      session.deps.clock.advance(10 * MINUTE);
      const atMost = turn === 0 ? first : AT_MOST;
      token = (await costOf(session, token, atMost)).next.refreshToken;
    }
  });

  it('for each of 50 concurrent ones', async () => {
    const { deps, counted, sessions, token } = await signedIn();
    counted.take();
    await Promise.all(Array.from({ length: 50 }, () => refreshWith(sessions, token)));
    expect(counted.take().requests).toBeLessThanOrEqual(50 * AT_MOST.requests);
    expect(deps.store.counts.list).toBe(0);
  });
});
