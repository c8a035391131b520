import { describe, expect, it } from 'vitest';
import type { AppError } from '../../../../src/core/errors.ts';
import { type Fault, failFrom, failOnce } from '../../../support/faulty-store.ts';
import { createTestSessions, expectEnded, MINUTE, refreshWith, setUpSession } from '../support.ts';

const LATE = 5 * MINUTE;

describe('a store that fails never ends a session', () => {
  it.each<Fault['when']>(['before', 'after'])(
    'one call at a time, %s it took effect',
    async (when) => {
      let calls = 1;
      let unavailable = 0;
      let isDone = false;
      for (; !isDone; calls++) {
        const { store, sessions, token, clock } = await setUpSession();
        store.setPlan(failOnce(calls, when));
        store.forgetCalls();
        const outcome = await refreshWith(sessions, token).catch((error: AppError) => error);
        isDone = store.total() < calls;
        store.setPlan(undefined);
        if (outcome instanceof Error) {
          expect(outcome.kind, `call ${calls}`).toBe('unavailable');
          unavailable += 1;
          clock.advance(LATE);
          const next = await refreshWith(sessions, token);
          await refreshWith(sessions, next.refreshToken);
        } else await refreshWith(sessions, outcome.refreshToken);
      }
      console.log(`store failing once ${when} an effect: ${unavailable} × 503, 0 sessions ended`);
      expect(unavailable).toBeGreaterThanOrEqual(4);
    },
  );

  it.each<Fault['when']>(['before', 'after'])(
    'from one call on, for five minutes, also when the write landed (%s)',
    async (when) => {
      for (let first = 1; first <= 5; first++) {
        const { store, sessions, token, clock } = await setUpSession();
        store.setPlan(failFrom(first, when));
        await expect(refreshWith(sessions, token)).rejects.toMatchObject({ kind: 'unavailable' });
        clock.advance(LATE);
        store.setPlan(undefined);
        const next = await refreshWith(sessions, token);
        clock.advance(10 * MINUTE);
        await refreshWith(sessions, next.refreshToken);
      }
    },
  );

  it('when it fails again for the client that returns late', async () => {
    const { store, sessions, token, clock } = await setUpSession();
    store.setPlan(({ method }) => (method === 'create' ? { when: 'after' } : undefined));
    await expect(refreshWith(sessions, token)).rejects.toMatchObject({ kind: 'unavailable' });
    clock.advance(LATE);
    // The last request before the answer: was the next token exchanged, too?
    store.setPlan(({ method, key }) =>
      method === 'get' && key.endsWith('/3.json') ? { when: 'before' } : undefined,
    );
    await expect(refreshWith(sessions, token)).rejects.toMatchObject({ kind: 'unavailable' });
    store.setPlan(undefined);
    clock.advance(LATE);
    await refreshWith(sessions, token);
  });

  it('when many requests return late, or the late answer is lost, too', async () => {
    const { store, sessions, token, clock } = await setUpSession();
    store.setPlan(({ method }) => (method === 'create' ? { when: 'after' } : undefined));
    await expect(refreshWith(sessions, token)).rejects.toMatchObject({ kind: 'unavailable' });
    store.setPlan(undefined);
    clock.advance(LATE);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refreshWith(sessions, token)),
    );
    expect(new Set(answers.map(({ refreshToken }) => refreshToken)).size).toBe(1);
    clock.advance(MINUTE);
    await refreshWith(sessions, token);
    clock.advance(1);
    await expectEnded(sessions, token, 'a minute after its first answer it is as old as any other');
  });

  it('but ends one whose token is reused after the client got its answer, or after a refused write', async () => {
    for (const fault of [
      { when: 'before' },
      { when: 'before', code: 'store_denied' },
    ] satisfies Fault[]) {
      const { store, sessions, token, clock } = await setUpSession();
      store.setPlan(({ method }) => (method === 'create' ? fault : undefined));
      await expect(refreshWith(sessions, token)).rejects.toThrow();
      store.setPlan(undefined);
      const { refreshToken } = await refreshWith(sessions, token);
      clock.advance(LATE);
      await expectEnded(sessions, token);
      await expectEnded(sessions, refreshToken);
    }
  });

  it('but ends one whose next token was exchanged meanwhile', async () => {
    const { store, sessions, token, clock, deps } = await setUpSession();
    store.setPlan(({ method }) => (method === 'create' ? { when: 'after' } : undefined));
    await expect(refreshWith(sessions, token)).rejects.toMatchObject({ kind: 'unavailable' });
    store.setPlan(undefined);
    const elsewhere = createTestSessions(deps);
    const second = await refreshWith(elsewhere, token);
    const third = await refreshWith(elsewhere, second.refreshToken);
    clock.advance(LATE);
    await expectEnded(sessions, token);
    await expectEnded(sessions, third.refreshToken);
  });

  it('and refuses a reused token, with a 503 until the end marker is stored', async () => {
    const { store, sessions, token, clock } = await setUpSession();
    const { refreshToken } = await refreshWith(sessions, token);
    clock.advance(LATE);
    store.setPlan(({ method }) => (method === 'create' ? { when: 'before' } : undefined));
    await expect(refreshWith(sessions, token)).rejects.toMatchObject({ kind: 'unavailable' });
    store.setPlan(undefined);
    await expectEnded(sessions, token);
    await expectEnded(sessions, refreshToken);
  });
});
