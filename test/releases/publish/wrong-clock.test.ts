import { afterAll, describe, expect, it } from 'vitest';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { OFFSETS } from '../../support/process-off.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { initTrust, keysOf, makeSigner, trusting } from '../../support/trust.ts';
import { processOffUntilAnswered } from '../../support/unanswered-store.ts';

/** A command knows the store's time from the store's first answer on, and must not mix it with the time before. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });

describe.each(OFFSETS)('a publisher whose clock is %i ms off', (aheadMs) => {
  const begin = () => {
    const clock = createFixedClock();
    const store = createMemoryStore({ clock });
    const randomness = createSeededRandomness(1);
    const parts = { store, clock, randomness };
    return {
      parts,
      off: () => ({ randomness, ...processOffUntilAnswered(store, clock, aheadMs) }),
    };
  };
  const yank = { application: 'desktop', version: '1.0.0', channel: undefined, reason: null };

  it('publishes and yanks', async () => {
    const { off } = begin();
    expect(await publish(off(), { version: '1.0.0', artifacts: [setup] })).toMatchObject({
      revision: 1,
    });
    expect((await changeStatus({ ...off(), actor: 'test' }, 'yank', yank)).revision).toBe(2);
  });

  it('commits its change after another publisher was first', async () => {
    const { parts, off } = begin();
    await publish(parts, { version: '1.0.0', artifacts: [setup] });
    const own = off();
    let isFirst = true;
    const create: typeof own.store.create = async (key, ...rest) => {
      if (isFirst && key.includes('/catalog/')) {
        isFirst = false;
        await publish(parts, { version: '2.0.0', artifacts: [setup] });
      }
      return own.store.create(key, ...rest);
    };
    const racing = { ...own, store: { ...own.store, create }, actor: 'test' };
    expect((await changeStatus(racing, 'yank', yank)).revision).toBe(3);
  });

  it('finds the timestamp of a signed catalog', async () => {
    const { parts, off } = begin();
    const signer = makeSigner('k1');
    const options = { people: keysOf(1, signer), operators: [signer] };
    const root = await initTrust(parts, options, signer);
    const signing = { ...parts, trust: trusting(parts, [root], signer) };
    await publish(signing, { version: '1.0.0', artifacts: [setup] });
    const trust = trusting(off(), [root]).of('desktop');
    expect(await trust?.freshness()).toMatchObject({ revision: { revision: 2 } });
  });
});
