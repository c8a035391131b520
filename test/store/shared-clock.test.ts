import { describe, expect, it } from 'vitest';
import { cleanUpIdentity } from '../../src/features/accounts/clean-up.ts';
import { clockComponent } from '../../src/server/status/components.ts';
import { createDownloadLinks } from '../../src/store/download-links.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createSharedClock } from '../../src/store/shared-clock.ts';
import { createStoreTime } from '../../src/store/store-time.ts';
import {
  beginSession,
  createTestSessions,
  DAY,
  MINUTE,
  refreshWith,
  setUp,
} from '../features/accounts/support.ts';
import { createFixedClock } from '../support/clock.ts';
import { OFFSETS, processOff } from '../support/process-off.ts';

const HOUR = 60 * MINUTE;

describe('the time of the store, as its answers state it', () => {
  it('is the median of the last five answers', () => {
    const clock = createFixedClock(Date.parse('2026-11-21T10:00:00Z'));
    const time = createStoreTime(clock);
    expect(time.offsetMs()).toBeUndefined();
    time.note('nonsense');
    expect(time.offsetMs()).toBeUndefined();
    for (const date of ['09:00:00', '09:00:01', '23:59:59', '09:00:00', '09:00:00']) {
      time.note(`Sat, 21 Nov 2026 ${date} GMT`);
    }
    expect(time.offsetMs()).toBe(-HOUR + 500);
    for (let n = 0; n < 3; n++) time.note('Sat, 21 Nov 2026 10:00:00 GMT');
    expect(time.offsetMs()).toBe(500);
  });

  it('changes nothing when the clocks agree, or when the store has no clock', () => {
    const clock = createFixedClock();
    expect(createSharedClock(clock, {}).now()).toBe(clock.now());
    expect(createSharedClock(clock, { clockOffsetMs: () => 1_500 }).now()).toBe(clock.now());
    expect(createSharedClock(clock, { clockOffsetMs: () => undefined }).now()).toBe(clock.now());
    expect(createSharedClock(clock, { clockOffsetMs: () => -HOUR }).now()).toBe(clock.now() - HOUR);
  });
});

describe.each(OFFSETS)('a process whose clock is %i ms off', (aheadMs) => {
  it('ends no session: those of other replicas are refreshed, and its own as well', async () => {
    const { store, clock, ...right } = setUp();
    const rightSessions = createTestSessions({ ...right, store, clock });
    const off = processOff(store, clock, aheadMs);
    const offSessions = createTestSessions(off);
    const { token } = await beginSession({ ...right, store, clock }, rightSessions);
    let current = token;
    for (let round = 0; round < 6; round++) {
      // A lost answer, or two tabs: the one before is good for a minute, at either.
      clock.advance(5_000);
      const before = current;
      current = (await refreshWith(round % 2 === 0 ? offSessions : rightSessions, before))
        .refreshToken;
      clock.advance(30_000);
      const again = await refreshWith(round % 2 === 0 ? rightSessions : offSessions, before);
      expect(again.refreshToken).toBe(current);
      clock.advance(9 * MINUTE);
      await cleanUpIdentity(off);
    }
    await refreshWith(rightSessions, current);
  });

  it('issues links that are valid for at least ten minutes', async () => {
    const storeClock = createFixedClock();
    const store = createMemoryStore({ clock: storeClock });
    const off = processOff(store, storeClock, aheadMs);
    const links = createDownloadLinks(off);
    for (let minute = 0; minute < 30; minute++) {
      storeClock.advance(MINUTE);
      const { expiresAt } = await links.link({
        ...{ method: 'GET', key: 'a/b', filename: 'b', isPublic: false },
      });
      const left = expiresAt.getTime() - storeClock.now();
      expect(left).toBeGreaterThanOrEqual(10 * MINUTE);
      expect(left).toBeLessThan(DAY);
    }
  });

  it('reports it in its status, from five minutes on', () => {
    const [reading] = clockComponent(() => -aheadMs).read();
    const isFar = Math.abs(aheadMs) > 5 * MINUTE;
    expect(reading?.status).toBe(isFar ? 'degraded_performance' : 'operational');
    if (isFar) expect(reading?.description).toContain(aheadMs > 0 ? 'ahead of' : 'behind');
  });
});
