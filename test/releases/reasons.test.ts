import { describe, expect, it } from 'vitest';
import { lockAccount } from '../../src/features/accounts/lock-account.ts';
import { changeSettings } from '../../src/releases/applications/change-settings.ts';
import { planChannel } from '../../src/releases/channels/change-channel.ts';
import { correctNotes } from '../../src/releases/publish/correct-notes.ts';
import { changeRollout } from '../../src/releases/rollouts/change-rollout.ts';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import { planRollback } from '../../src/releases/withdraw/roll-back.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';

const clock = createFixedClock();
const randomness = createSeededRandomness(1);
const deps = { store: createMemoryStore({ clock }), clock, randomness, actor: 'test' };
const release = { application: 'desktop', version: '1.0.0', channel: undefined };

/** Every operation that takes a reason. Nothing is published, so each ends with another error for a good one. */
const OPERATIONS: Readonly<Record<string, (reason: string) => Promise<unknown>>> = {
  ...Object.fromEntries(
    (['yank', 'pause', 'resume', 'retire'] as const).map((verb) => [
      verb,
      (reason: string) => changeStatus(deps, verb, { ...release, reason }),
    ]),
  ),
  rollout: (reason) => changeRollout(deps, { ...release, reason, action: { kind: 'complete' } }),
  rollback: (reason) =>
    planRollback(deps, { application: 'desktop', to: '1.0.0', channel: 'stable', reason }),
  notes: (reason) => correctNotes(deps, { ...release, reason, set: { und: 'x' }, remove: [] }),
  'channels remove': (reason) => {
    const action = { kind: 'remove', force: false } as const;
    return planChannel(deps, { application: 'desktop', channel: 'beta', action, reason });
  },
  'apps set': (reason) => changeSettings(deps, { application: 'desktop', stated: {}, reason }),
  'accounts lock': (reason) => lockAccount(deps, 'no-such-account', reason),
};

describe.each(Object.entries(OPERATIONS))('the reason of %s', (_name, run) => {
  it('is counted in bytes of UTF-8, also with characters that JSON escapes', async () => {
    for (const reason of ['x'.repeat(299), '"'.repeat(299), `${'é'.repeat(149)}\\`]) {
      await expect(run(reason)).rejects.not.toMatchObject({ code: 'invalid_request' });
    }
    await expect(run(`${'é'.repeat(150)}"`)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'The reason has 301 bytes in UTF-8, and the history keeps at most 300. Shorten it.',
    });
  });
});
