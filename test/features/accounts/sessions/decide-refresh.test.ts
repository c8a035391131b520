import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/features/accounts/accounts/account-document.ts';
import {
  decideRefresh,
  type RefreshDecision,
  type RefreshFacts,
} from '../../../../src/features/accounts/sessions/decide-refresh.ts';
import {
  CLIENT_PLATFORMS,
  type SessionJson,
} from '../../../../src/features/accounts/sessions/session-document.ts';
import {
  REFRESH_GRACE_MS,
  SESSION_IDLE_MS,
} from '../../../../src/features/accounts/sessions/session-lifetimes.ts';
import { rounds } from '../../../support/rounds.ts';
import { DAY, MINUTE } from '../support.ts';

/** The decision alone, in a model of one session. `refresh.test.ts` has the same promises with a store. */

const START = Date.parse('2026-11-21T09:00:00Z');
const iso = (ms: number): string => new Date(ms).toISOString();

function stateAt(counter: number, at: number): SessionJson {
  return {
    schema_version: 1,
    type: 'session',
    account: 'a'.repeat(32),
    session: 'session-1',
    counter,
    change_id: '00000000-0000-4000-8000-000000000000',
    at: iso(at),
    started_at: iso(START),
    expires_at: iso(START + 90 * DAY),
    platform: 'linux',
    device: { digest: 'd', name: 'laptop', os_version: null, app_version: null },
    account_revision: 1,
    account_copy: { email: 'ada@example.org', email_verified: true, tier: null },
  };
}

const ACCOUNT: Account = {
  id: 'a'.repeat(32),
  revision: 7,
  provider: 'embedded',
  subject: 'ada@example.org',
  email: 'ada@example.org',
  emailVerified: true,
  name: null,
  tier: 'pro',
  adminTier: 'pro',
  providerTier: null,
  locked: null,
  sessionsEnded: null,
  keysNotBefore: null,
  registeredAt: iso(START),
  password: null,
};

/** A session whose documents are in memory. Reading, deciding and writing are separate steps. */
function createModel() {
  const states = new Map([[1, stateAt(1, START)]]);
  let isEnded = false;
  const read = (counter: number, now: number, isUnconfirmed = false): RefreshFacts => ({
    now,
    isEnded,
    presented: states.get(counter),
    successor: states.get(counter + 1),
    isSuccessorExchanged: states.has(counter + 2),
    isUnconfirmed,
    isSameDevice: true,
    platform: 'linux',
    account: 'unchanged',
  });
  /** @returns the counter of the token that the client gets; undefined when it must sign in again */
  const write = (decision: RefreshDecision): number | undefined => {
    if (decision.action === 'end') isEnded = true;
    if (decision.action === 'end' || decision.action === 'refuse') return undefined;
    const { counter } = decision.state;
    if (!states.has(counter)) states.set(counter, stateAt(counter, Date.parse(decision.state.at)));
    return counter;
  };
  return {
    read,
    write,
    refresh: (counter: number, now: number, isUnconfirmed = false) =>
      write(decideRefresh(read(counter, now, isUnconfirmed))),
    /** Deletes all states but the newest ones, as trimming does. */
    keepNewest: (count: number) => {
      for (const counter of [...states.keys()].slice(0, -count)) states.delete(counter);
    },
    isEnded: () => isEnded,
  };
}

const anyState = fc
  .tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 90 * DAY }))
  .map(([counter, after]) => stateAt(counter, START + after));
const anyTime = fc.integer({ min: 0, max: 90 * DAY }).map((ms) => iso(START - 45 * DAY + ms));
const anyAccount: fc.Arbitrary<Account> = fc
  .record({
    locked: fc.option(fc.record({ at: anyTime, reason: fc.constant(null) })),
    sessionsEnded: fc.option(
      fc.record({ before: anyTime, except: fc.constantFrom(null, 'session-1', 'session-2') }),
    ),
  })
  .map((edit) => ({ ...ACCOUNT, ...edit }));
const anyFacts: fc.Arbitrary<RefreshFacts> = fc.record({
  now: fc.integer({ min: START, max: START + 90 * DAY }),
  isEnded: fc.boolean(),
  presented: fc.option(anyState, { nil: undefined }),
  successor: fc.option(anyState, { nil: undefined }),
  isSuccessorExchanged: fc.boolean(),
  isUnconfirmed: fc.boolean(),
  isSameDevice: fc.boolean(),
  platform: fc.constantFrom(...CLIENT_PLATFORMS),
  account: fc.oneof(fc.constantFrom('unchanged' as const, 'erased' as const), anyAccount),
});
/** Facts that none of the other reasons refuses. */
const soundFacts = anyFacts.map(
  (facts): RefreshFacts => ({
    ...facts,
    isEnded: false,
    presented: facts.presented ?? stateAt(1, START),
    isSameDevice: true,
    platform: 'linux',
    account: 'unchanged',
  }),
);

const anyIdleMs = fc.oneof(
  fc.integer({ min: 0, max: 60 * DAY }),
  fc.constantFrom(SESSION_IDLE_MS, SESSION_IDLE_MS + 1),
);

const RUNS = { numRuns: rounds(200, 2_000) };

describe('the decision on a refresh', () => {
  it('refuses an ended session, with any other facts', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(decideRefresh({ ...facts, isEnded: true })).toEqual({ action: 'refuse' });
        expect(decideRefresh({ ...facts, account: 'erased' })).toEqual({ action: 'refuse' });
      }),
      RUNS,
    );
  });

  it('gives out a token only to the same device and platform, for an account that allows it', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { action } = decideRefresh(facts);
        if (action === 'refuse' || action === 'end') return;
        expect(facts).toMatchObject({ isEnded: false, isSameDevice: true, platform: 'linux' });
        expect(facts.presented).toBeDefined();
        if (typeof facts.account === 'string') {
          expect(facts.account).toBe('unchanged');
          return;
        }
        const { locked, sessionsEnded } = facts.account;
        expect(locked).toBeNull();
        if (sessionsEnded === null || sessionsEnded.except === 'session-1') return;
        expect(Date.parse(sessionsEnded.before)).toBeLessThanOrEqual(START);
      }),
      RUNS,
    );
  });

  it('advances by one, and changes nothing of the session but the account copy', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decideRefresh(facts);
        if (decision.action !== 'advance') return;
        expect(facts.successor).toBeUndefined();
        const { change_id: _, ...presented } = facts.presented ?? stateAt(1, START);
        const copy =
          facts.account === 'unchanged'
            ? {}
            : {
                account_revision: 7,
                account_copy: { email: 'ada@example.org', email_verified: true, tier: 'pro' },
              };
        expect(decision.state).toEqual({
          ...presented,
          ...copy,
          counter: presented.counter + 1,
          at: iso(facts.now),
        });
      }),
      RUNS,
    );
  });

  it('repeats the next state within the grace and as long as its token was not exchanged', () => {
    fc.assert(
      fc.property(soundFacts, anyState, (facts, successor) => {
        const isLate = facts.now - Date.parse(successor.at) > REFRESH_GRACE_MS;
        const isReuse = facts.isSuccessorExchanged || (isLate && !facts.isUnconfirmed);
        expect(decideRefresh({ ...facts, successor })).toEqual(
          isReuse ? { action: 'end', reason: 'reused' } : { action: 'repeat', state: successor },
        );
      }),
      RUNS,
    );
  });

  it('ends a session that was idle for longer than 30 days', () => {
    fc.assert(
      fc.property(soundFacts, anyIdleMs, (facts, idleMs) => {
        const presented = facts.presented ?? stateAt(1, START);
        const now = Date.parse(presented.at) + idleMs;
        const { action } = decideRefresh({ ...facts, presented, now, successor: undefined });
        expect(action).toBe(idleMs > SESSION_IDLE_MS ? 'end' : 'advance');
      }),
      RUNS,
    );
  });
});

describe('in a session', () => {
  it('50 concurrent refreshes with one token get one token, in every order of reads and writes', () => {
    const steps = fc.shuffledSubarray(
      Array.from({ length: 100 }, (_, index) => Math.floor(index / 2)),
      { minLength: 100, maxLength: 100 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: REFRESH_GRACE_MS / 100 }), (order, stepMs) => {
        const model = createModel();
        const decisions = new Map<number, RefreshDecision>();
        const tokens = new Set<number | undefined>();
        order.forEach((client, index) => {
          const decision = decisions.get(client);
          if (decision !== undefined) tokens.add(model.write(decision));
          else decisions.set(client, decideRefresh(model.read(1, START + index * stepMs)));
        });
        expect([...tokens]).toEqual([2]);
        expect(model.isEnded()).toBe(false);
      }),
      { numRuns: rounds(60, 200) },
    );
  });

  it('a client whose answers are lost stays signed in if it tries again within the grace', () => {
    const turn = fc.record({
      waitMs: fc.integer({ min: 0, max: SESSION_IDLE_MS - REFRESH_GRACE_MS }),
      retriesAfterMs: fc.array(fc.integer({ min: 0, max: REFRESH_GRACE_MS }), { maxLength: 3 }),
      kept: fc.integer({ min: 3, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 20 }), (turns) => {
        const model = createModel();
        let now = START;
        let token = 1;
        for (const { waitMs, retriesAfterMs, kept } of turns) {
          now += waitMs;
          const next = model.refresh(token, now);
          for (const ms of retriesAfterMs) expect(model.refresh(token, now + ms)).toBe(next);
          expect(next).toBe(token + 1);
          token = next ?? 0;
          now += Math.max(0, ...retriesAfterMs);
          model.keepNewest(kept);
        }
      }),
      { numRuns: rounds(100, 500) },
    );
  });

  it('a client whose refresh this process could not confirm stays signed in, even if it returns late', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: SESSION_IDLE_MS }), (lateMs) => {
        const model = createModel();
        model.refresh(1, START);
        expect(model.refresh(1, START + lateMs, true)).toBe(2);
        model.refresh(2, START + lateMs);
        expect(model.refresh(1, START + lateMs, true)).toBeUndefined();
      }),
      RUNS,
    );
  });

  it('a token two rotations old, or one rotation old after the grace, ends the session', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 20 }),
        fc.integer({ min: 1, max: 19 }),
        fc.integer({ min: 0, max: 10 * DAY }),
        fc.integer({ min: 3, max: 20 }),
        (rotations, back, lateMs, kept) => {
          const model = createModel();
          for (let token = 1; token <= rotations; token++) model.refresh(token, START);
          model.keepNewest(kept);
          const stale = rotations + 1 - Math.min(back, rotations);
          const isRepeat = stale === rotations && lateMs <= REFRESH_GRACE_MS;
          expect(model.refresh(stale, START + lateMs)).toBe(isRepeat ? rotations + 1 : undefined);
          expect(model.isEnded()).toBe(!isRepeat);
          // The end is final for every token.
          if (isRepeat) return;
          for (let token = 1; token <= rotations + 1; token++) {
            expect(model.refresh(token, START + lateMs)).toBeUndefined();
          }
        },
      ),
      RUNS,
    );
  });

  it('two holders of one token are both signed out by the second round, in turns of 10 minutes', () => {
    const gap = fc.integer({ min: REFRESH_GRACE_MS + 1, max: 20 * MINUTE });
    const round = fc.record({ isThiefFirst: fc.boolean(), gaps: fc.tuple(gap, gap) });
    fc.assert(
      fc.property(
        fc.tuple(round, round),
        // In the first round, the second holder may come within the grace, and get the same token.
        fc.integer({ min: 0, max: 20 * MINUTE }),
        ([first, second], firstGap) => {
          const model = createModel();
          const tokens = new Map<string, number | undefined>([
            ['owner', 1],
            ['thief', 1],
          ]);
          let now = START;
          const take = (holder: string): void => {
            const token = tokens.get(holder);
            if (token !== undefined) tokens.set(holder, model.refresh(token, now));
          };
          for (const { isThiefFirst, gaps } of [{ ...first, gaps: [MINUTE, firstGap] }, second]) {
            const order = isThiefFirst ? ['thief', 'owner'] : ['owner', 'thief'];
            order.forEach((holder, index) => {
              now += gaps[index] ?? 0;
              take(holder);
            });
          }
          expect(model.isEnded()).toBe(true);
          take('owner');
          take('thief');
          expect([...tokens.values()]).toEqual([undefined, undefined]);
        },
      ),
      RUNS,
    );
  });
});
