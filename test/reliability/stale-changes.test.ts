import { afterAll, describe, expect, it } from 'vitest';
import { readRevision } from '../../src/catalog/reading/read.ts';
import { promoteRelease } from '../../src/releases/publish/promote-release.ts';
import { changeStatus, type StatusVerb } from '../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';
import { createFaultyStore, failFrom } from '../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { observe } from './observer.ts';

/** Changes that were decided on a state that is no longer the newest when they commit. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe', content: 'one' });
const rebuilt = await makeArtifact(`${temporary.path}/again`, {
  filename: 'App-Setup.exe',
  content: 'two',
});
const mac = await makeArtifact(temporary.path, {
  filename: 'App.dmg',
  platform: 'macos',
  arch: 'arm64',
  format: 'dmg',
});

async function setUp() {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  const store = createFaultyStore(memory);
  const parts = { clock, randomness: createSeededRandomness(4), actor: 'test' };
  const deps = { ...parts, store };
  await publish(deps, { version: '1.0.0', artifacts: [setup], channel: 'beta' });
  const status = (verb: StatusVerb) =>
    changeStatus({ ...parts, store: memory }, verb, {
      application: 'desktop',
      version: '1.0.0',
      channel: undefined,
      reason: 'crashes at start',
    });
  /** Runs `other` between a change's decision and its commit. */
  const overtake = (other: () => Promise<unknown>) =>
    store.setPlan(async ({ method, key }) => {
      if (method !== 'create' || !key.includes('/catalog/')) return undefined;
      store.setPlan(undefined);
      await other();
      return undefined;
    });
  const statuses = async () => {
    const { channels = {} } = (await readRevision({ store: memory }, 'desktop'))?.signed ?? {};
    return Object.fromEntries(
      Object.entries(channels).map(([name, { offers }]) => [name, offers.map((o) => o.status)]),
    );
  };
  return { ...deps, memory, deps, status, overtake, statuses };
}

describe('a change that another change overtook', () => {
  const promotion = {
    application: 'desktop',
    version: '1.0.0',
    to: 'stable',
    create: true,
    allowPrerelease: false,
  };

  it.each([
    ['yank', { beta: ['yanked'] }],
    ['pause', { beta: ['paused'] }],
    ['retire', { beta: [] }],
  ] as const)(
    'is refused when it is a promotion and the other change is a %s',
    async (verb, left) => {
      const { deps, overtake, status, statuses } = await setUp();
      overtake(() => status(verb));
      await expect(promoteRelease(deps, promotion)).rejects.toMatchObject({
        code: verb === 'retire' ? 'unknown_version' : 'status_forbids',
      });
      expect(await statuses()).toEqual(left);
    },
  );

  it('is refused when it is a publish to another channel and the other change is a yank', async () => {
    const { deps, overtake, status, statuses } = await setUp();
    overtake(() => status('yank'));
    await expect(publish(deps, { version: '1.0.0', artifacts: [setup] })).rejects.toMatchObject({
      code: 'status_forbids',
    });
    expect(await statuses()).toEqual({ beta: ['yanked'] });
  });

  it('also yanks the release in the channel to which the other change promoted it', async () => {
    const { deps, memory, overtake, statuses } = await setUp();
    overtake(() => promoteRelease({ ...deps, store: memory }, promotion));
    const request = { application: 'desktop', version: '1.0.0', channel: undefined, reason: null };
    const done = await changeStatus(deps, 'yank', request);
    expect([...done.channels].sort()).toEqual(['beta', 'stable']);
    expect(await statuses()).toEqual({ beta: ['yanked'], stable: ['yanked'] });
  });
});

describe('a rebuilt artifact with other bytes', () => {
  it('replaces an artifact that was uploaded but never offered', async () => {
    const { deps, store, clock } = await setUp();
    // The publisher is killed after it created the manifest, and before it committed the offer.
    store.setPlan(({ method, key }) =>
      method === 'create' && key.includes('/catalog/') ? { when: 'before' } : undefined,
    );
    const killed = publish(deps, { version: '2.0.0', artifacts: [setup] });
    await expect(killed).rejects.toMatchObject({ code: 'outcome_unknown' });
    store.setPlan(undefined);
    const done = await publish(deps, { version: '2.0.0', artifacts: [rebuilt] });
    expect(done).toMatchObject({ changed: true, manifest: 2 });
    expect((await observe(store, 'desktop', clock.now)).torn).toEqual([]);
    await expect(publish(deps, { version: '2.0.0', artifacts: [setup] })).rejects.toMatchObject({
      code: 'release_differs',
    });
  });

  it('is refused when another publisher has offered the first bytes meanwhile', async () => {
    const { deps, memory, overtake, clock } = await setUp();
    overtake(() => publish({ ...deps, store: memory }, { version: '2.0.0', artifacts: [setup] }));
    // This publisher creates the first manifest, but the other publisher's offer does not include it.
    const refused = await publish(deps, { version: '2.0.0', artifacts: [rebuilt] }).catch(
      (error) => error,
    );
    const state = await observe(memory, 'desktop', clock.now);
    expect(state.torn).toEqual([]);
    expect(refused).toMatchObject({ code: 'release_differs' });
    // A third publisher can still add its platform to the offered release.
    await publish(deps, { version: '2.0.0', artifacts: [mac] });
    await publish(deps, { version: '2.0.0', artifacts: [setup] });
    const whole = await observe(memory, 'desktop', clock.now);
    expect(whole.torn).toEqual([]);
    expect(whole.offers.get('stable 2.0.0')).toEqual(['App.dmg', 'App-Setup.exe']);
  });
});

describe('a change of status that fails at any step', () => {
  it('takes effect completely or not at all, and a second run completes it', async () => {
    let steps = 0;
    for (let step = 1; ; step++) {
      const { deps, store, statuses } = await setUp();
      store.setPlan(failFrom(step, step % 2 === 0 ? 'before' : 'after'));
      const request = {
        application: 'desktop',
        version: '1.0.0',
        channel: undefined,
        reason: null,
      };
      const error = await changeStatus(deps, 'yank', request).catch((reason) => reason);
      store.setPlan(undefined);
      const [left] = (await statuses()).beta ?? [];
      if (error.code !== 'outcome_unknown') expect(left === 'yanked').toBe('changed' in error);
      await changeStatus(deps, 'yank', request);
      expect(await statuses()).toEqual({ beta: ['yanked'] });
      if ('changed' in error) break;
      steps = step;
    }
    console.log(`yank failed at each of its ${steps} steps: it took effect or not, 0 other states`);
  });
});
