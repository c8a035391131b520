import { describe, expect, it } from 'vitest';
import { removeOldMessages } from '../../../src/features/contact/retention.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock } from '../../support/clock.ts';
import { OFFSETS, processOff } from '../../support/process-off.ts';
import { accept, keysOf } from './support.ts';

const DAY = 86_400_000;

describe.each(OFFSETS)('a process whose clock is %i ms off', (aheadMs) => {
  it('erases no message that is not old', async () => {
    const storeClock = createFixedClock();
    const store = createMemoryStore({ clock: storeClock });
    await accept({ store, clock: storeClock }, 1);
    storeClock.advance(364 * DAY);
    const off = processOff(store, storeClock, aheadMs);
    expect(await removeOldMessages(off, 365 * DAY)).toBe(0);
    expect(await keysOf(store, 'contact/')).not.toEqual([]);
    storeClock.advance(2 * DAY);
    expect(await removeOldMessages(off, 365 * DAY)).toBe(1);
  });
});
