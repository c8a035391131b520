import { afterAll, describe, expect, it } from 'vitest';
import { readRevision } from '../../src/catalog/reading/read.ts';
import { showRelease } from '../../src/releases/list/list-releases.ts';
import { correctNotes } from '../../src/releases/publish/correct-notes.ts';
import { planRollback, rollBack } from '../../src/releases/withdraw/roll-back.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';
import { createFaultyStore, failFrom } from '../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';

/** Commands for a bad release, with a store that fails at any of their steps. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const VERSIONS = ['1.0.0', '1.1.0', '1.2.0'];

async function setUp() {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  const parts = { clock, randomness: createSeededRandomness(4), actor: 'test' };
  const store = createFaultyStore(memory);
  for (const version of VERSIONS) {
    const artifact = await makeArtifact(`${temporary.path}/${version}`, { content: version });
    const notes = { und: 'Frist.' };
    await publish({ ...parts, store: memory }, { version, artifacts: [artifact], notes });
  }
  return { deps: { ...parts, store }, sound: { ...parts, store: memory } };
}

type World = Awaited<ReturnType<typeof setUp>>;

/** Runs the command with each of its store calls as the last one that works. @returns the number of calls */
async function failEverywhere(
  run: (world: World) => Promise<unknown>,
  check: (world: World, outcome: 'done' | 'failed' | 'unknown') => Promise<void>,
): Promise<number> {
  for (let step = 1; ; step++) {
    const world = await setUp();
    world.deps.store.setPlan(failFrom(step, step % 2 === 0 ? 'before' : 'after'));
    const outcome = await run(world).then(
      () => 'done' as const,
      ({ code }: { code: string }) => (code === 'outcome_unknown' ? 'unknown' : 'failed'),
    );
    world.deps.store.setPlan(undefined);
    await check(world, outcome);
    if (outcome === 'done') return step - 1;
  }
}

const statuses = async ({ sound }: World) =>
  (await readRevision(sound, 'desktop'))?.signed.channels.stable?.offers
    .toSorted((a, b) => (a.version < b.version ? -1 : 1))
    .map(({ status }) => status)
    .join(' ');

describe('a command that fails at any step', () => {
  it('yanks every newer release or none when it is a rollback, and a second run completes it', async () => {
    const request = { application: 'desktop', to: '1.0.0', channel: 'stable', reason: null };
    const run = async ({ deps }: World) =>
      rollBack(deps, request, (await planRollback(deps, request)).withdrawn);
    const steps = await failEverywhere(run, async (world, outcome) => {
      const left = await statuses(world);
      expect(['active active active', 'active yanked yanked']).toContain(left);
      if (outcome !== 'unknown') expect(left?.includes('yanked')).toBe(outcome === 'done');
      const again = await run(world).catch(({ message }: Error) => message);
      if (left?.includes('yanked')) expect(again).toContain('1.2.0, 1.1.0 are yanked already');
      expect(await statuses(world)).toBe('active yanked yanked');
    });
    expect(steps).toBeGreaterThan(4);
  });

  it('shows the old notes or the new ones when it corrects notes, and a second run completes it', async () => {
    const named = { application: 'desktop', version: '1.1.0', remove: [], reason: null };
    const run = ({ deps }: World) => correctNotes(deps, { ...named, set: { und: 'First.' } });
    const shown = async ({ sound }: World) =>
      (await showRelease(sound, 'desktop', '1.1.0')).release.notes.und;
    const steps = await failEverywhere(run, async (world, outcome) => {
      const left = await shown(world);
      expect(['Frist.', 'First.']).toContain(left);
      if (outcome !== 'unknown') expect(left === 'First.').toBe(outcome === 'done');
      await run(world);
      expect(await shown(world)).toBe('First.');
      expect(await statuses(world)).toBe('active active active');
    });
    expect(steps).toBeGreaterThan(8);
  });
});
