import { afterAll, expect, it } from 'vitest';
import type { BuiltArtifact } from '../../src/builds/build-output.ts';
import { AppError } from '../../src/core/errors.ts';
import { parseTarget } from '../../src/domain/target.ts';
import { openDraft } from '../../src/releases/publish/open-draft.ts';
import type { PublishRequest } from '../../src/releases/publish/publish-request.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';
import { createFaultyStore, failFrom } from '../support/faulty-store.ts';
import {
  makeArtifact,
  makeTemporaryDirectory,
  type PublisherParts,
  publish,
} from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { observe } from './observer.ts';

const FAILURES = rounds(21, 80);
const SEED = 7_041_776;
const directory = await makeTemporaryDirectory();
afterAll(() => directory.remove());

const windows = await makeArtifact(directory.path, { filename: 'App-Setup.exe', content: 'one' });
const mac = await makeArtifact(directory.path, {
  filename: 'App.dmg',
  platform: 'macos',
  arch: 'arm64',
  format: 'dmg',
  content: 'for a mac',
});
const blockmap = await makeArtifact(directory.path, {
  filename: 'App-2.exe.blockmap',
  content: 'map',
});
const next: BuiltArtifact = {
  ...(await makeArtifact(directory.path, { filename: 'App-2.exe', content: 'two' })),
  companions: [{ ...blockmap, kind: 'blockmap' }],
};

const TARGETS = ['windows-x64', 'macos-arm64'].map(parseTarget);
type Request = Pick<PublishRequest, 'version' | 'artifacts'> & Partial<PublishRequest>;

/** Each scene: the releases published before, and the publish that is interrupted. */
const SCENES: readonly { name: string; before: readonly Request[]; request: Request }[] = [
  {
    name: 'a second version',
    before: [{ version: '1.0.0', artifacts: [windows] }],
    request: { version: '2.0.0', artifacts: [next, mac], notes: { und: 'New.' } },
  },
  {
    name: 'another platform of a published version',
    before: [{ version: '1.0.0', artifacts: [windows] }],
    request: { version: '1.0.0', artifacts: [mac] },
  },
  {
    name: 'the first version of a new application',
    before: [],
    request: { version: '1.0.0', artifacts: [windows, mac] },
  },
  {
    name: 'the first version of a new channel',
    before: [{ version: '1.0.0', artifacts: [windows] }],
    request: { version: '2.0.0-beta.1', artifacts: [next], channel: 'beta' },
  },
  {
    name: 'a draft, whose file another build replaces',
    before: [
      { version: '1.0.0', artifacts: [windows] },
      { version: '2.0.0', artifacts: [windows], mode: 'draft' },
    ],
    request: { version: '2.0.0', artifacts: [next], mode: 'draft' },
  },
  {
    name: 'the last build of a release that waits for it',
    before: [
      { version: '1.0.0', artifacts: [windows] },
      { version: '2.0.0', artifacts: [next], expect: TARGETS },
    ],
    request: { version: '2.0.0', artifacts: [mac], expect: TARGETS },
  },
  {
    name: 'a draft that is opened',
    before: [{ version: '1.0.0', artifacts: [windows, mac], mode: 'draft' }],
    request: { version: '1.0.0', artifacts: [], mode: 'open' },
  },
];

const perform = (parts: PublisherParts, request: Request) =>
  request.mode === 'open'
    ? openDraft(
        { ...parts, actor: 'test' },
        { application: 'desktop', channel: 'stable', allowPrerelease: false, ...request },
      )
    : publish(parts, request);

async function prepare(scene: (typeof SCENES)[number], seed: number) {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  const parts = { store, clock, randomness: createSeededRandomness(seed) };
  for (const request of scene.before) await publish(parts, request);
  store.forgetCalls();
  return parts;
}

it(`a publish killed at ${FAILURES} random steps leaves the old or the new state, and a second run completes it`, async () => {
  const randomness = createSeededRandomness(SEED);
  const seen = { old: 0, new: 0, unknown: 0 };
  for (let failure = 0; failure < FAILURES; failure++) {
    const scene = SCENES[failure % SCENES.length] as (typeof SCENES)[number];
    const whole = await prepare(scene, failure);
    const before = await observe(whole.store, 'desktop', whole.clock.now);
    whole.store.forgetCalls();
    await perform(whole, scene.request);
    const steps = whole.store.total();
    const after = await observe(whole.store, 'desktop', whole.clock.now);

    const step = 1 + Math.floor(randomness.fraction() * steps);
    const when = randomness.fraction() < 0.5 ? 'before' : 'after';
    const repeat = `seed ${SEED}, failure ${failure}: ${scene.name}, step ${step} of ${steps}, ${when} it took effect`;
    const parts = await prepare(scene, failure);
    parts.store.setPlan(failFrom(step, when));
    const error = await perform(parts, scene.request).then(
      ({ announced }) => {
        // Only the change hint was lost, so the publish itself succeeds.
        expect(announced, repeat).toBe(false);
        return undefined;
      },
      (reason: unknown) => reason,
    );
    if (error !== undefined) expect(error, repeat).toBeInstanceOf(AppError);
    parts.store.setPlan(undefined);

    const left = await observe(parts.store, 'desktop', parts.clock.now);
    expect(left.torn, repeat).toEqual([]);
    const isNew = left.revision === after.revision;
    expect(left, repeat).toEqual(isNew ? after : before);
    seen[isNew ? 'new' : 'old'] += 1;
    // A publish that became visible must not report that it changed nothing.
    const code = (error as AppError | undefined)?.code;
    if (code === 'outcome_unknown') seen.unknown += 1;
    else expect(isNew, repeat).toBe(error === undefined);

    // Another process runs the same command again.
    const again = { ...parts, randomness: createSeededRandomness(failure + FAILURES) };
    await perform(again, scene.request);
    const completed = await observe(parts.store, 'desktop', parts.clock.now);
    expect(completed.torn, repeat).toEqual([]);
    expect(completed.offers, repeat).toEqual(after.offers);
    expect(completed.revision, repeat).toBe(after.revision);
  }
  console.log(
    `killed publishes: ${FAILURES} seeded step failures (${seen.old} left the old state, ${seen.new} the new one, ${seen.unknown} reported "outcome unknown"), 0 torn states, every second run completed`,
  );
});
