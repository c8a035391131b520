import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { artifactObject } from '../../../src/catalog/documents/keys.ts';
import { readManifest, readRevision } from '../../../src/catalog/reading/read.ts';
import type { WriterDeps } from '../../../src/catalog/writing/change.ts';
import { isAppError } from '../../../src/core/errors.ts';
import type { Artifact } from '../../../src/domain/release.ts';
import { parseTarget } from '../../../src/domain/target.ts';
import type { Holding } from '../../../src/releases/offer/draft-rules.ts';
import { commitRelease } from '../../../src/releases/publish/commit-release.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { publishOf } from '../../../src/releases/publish/publish-request.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { rounds } from '../../support/rounds.ts';

/** Publishers that add to one release at the same moment, in every order of their requests that fast-check finds. */

const VERSION = '1.5.0';
const INDEXES = [0, 1, 2] as const;
const ADMISSION = {
  application: 'desktop',
  channel: 'stable',
  create: true,
  allowPrerelease: false,
} as const;
const NAMES = ['App.exe', 'App.zip', 'App.AppImage'] as const;
const ALL = ['windows-x64', 'macos-arm64', 'linux-x64'].map(parseTarget);

function artifactOf(index: 0 | 1 | 2): Artifact {
  const platform = (['windows', 'macos', 'linux'] as const)[index];
  const sha256 = String(index).repeat(64);
  return {
    platform,
    arch: platform === 'macos' ? 'arm64' : 'x64',
    format: (['nsis', 'zip', 'appimage'] as const)[index],
    filename: NAMES[index],
    size: 1,
    sha256,
    sha512: sha256 + sha256,
    minimumOsVersion: null,
    signatures: [],
    companions: [],
    object: artifactObject(sha256, NAMES[index]),
  };
}

describe('publishers of one release at the same moment', () => {
  /** Each writer's requests wait until the scheduler lets them go on. */
  function createWriters(scheduler: fc.Scheduler) {
    const clock = createFixedClock();
    const memory = createMemoryStore({ clock });
    // The label is what fast-check prints of a failure.
    const scheduled =
      <A extends [string, ...unknown[]], R>(call: (...call: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        await scheduler.schedule(Promise.resolve(), args[0]);
        return call(...args);
      };
    const createStore = (): ObjectStore => ({
      ...memory,
      head: scheduled(memory.head),
      get: scheduled(memory.get),
      read: scheduled(memory.read),
      create: scheduled(memory.create),
    });
    const writer = (seed: number) => ({
      store: createStore(),
      clock,
      randomness: createSeededRandomness(seed),
      actor: `writer ${seed}`,
    });
    return { memory, clock, writer };
  }

  /** The part of a publish that follows the upload of its file. */
  const add = (deps: WriterDeps, index: 0 | 1 | 2, holding: Holding) =>
    commitRelease(
      deps,
      publishOf(
        deps,
        {
          ...ADMISSION,
          ...holding,
          version: VERSION,
          artifacts: [],
          provenance: { commit: null, buildUrl: null },
        },
        { artifacts: [artifactOf(index)], carried: [] },
      ),
      { isListed: false, ensureSigned: async () => {} },
    );

  async function stateOf(store: ObjectStore) {
    const kinds: string[] = [];
    const newest = await readRevision({ store }, 'desktop');
    for (let number = 1; number <= (newest?.signed.revision ?? 0); number++) {
      const revision = await readRevision({ store }, 'desktop', number);
      const { offers = [], drafts = [] } = revision?.signed.channels.stable ?? {};
      kinds.push(`${revision?.signed.change.kind} ${offers.length} ${drafts.length}`);
    }
    const offer = newest?.signed.channels.stable?.offers[0];
    const offered = offer && (await readManifest({ store }, 'desktop', VERSION, offer.manifest));
    const files = offered?.release.artifacts.map(({ filename }) => filename).sort() ?? [];
    return { kinds, files, released: [offer?.released_at, offered?.release.releasedAt] };
  }

  it('offer it exactly once, whole, with the last build', async () => {
    let drafted = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const { memory, writer } = createWriters(scheduler);
        const work = INDEXES.map((index) => add(writer(index), index, { expect: ALL }));
        const results = await scheduler.waitFor(Promise.all(work));
        const { kinds, files, released } = await stateOf(memory);
        expect(files).toEqual([...NAMES].sort());
        expect(released[0]).toBe(released[1]);
        // No revision offers it before the last one, and that one offers all of it.
        expect(kinds.at(-1)).toBe('publish 1 0');
        expect(kinds.slice(0, -1).every((kind) => kind === 'draft 0 1')).toBe(true);
        const opened = results.filter(({ changed, status }) => changed && status === 'active');
        expect(opened).toHaveLength(1);
        runs++;
        drafted += kinds.length - 1;
      }),
      { numRuns: rounds(25, 150) },
    );
    console.log(
      `whole releases: ${runs} interleavings of 3 publishers, ${drafted} drafts, each offered once`,
    );
  }, 60_000);

  it('lose no build to a command that opens or discards the draft meanwhile', async () => {
    const action = fc.constantFrom('open' as const, 'retire' as const);
    const outcomes = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), action, fc.nat(40), async (scheduler, kind, delay) => {
        const { memory, clock, writer } = createWriters(scheduler);
        const direct = { ...writer(9), store: memory };
        const draft = { mode: 'draft' } as const;
        await add(direct, 0, draft);
        clock.advance(60_000);
        const request = { application: 'desktop', version: VERSION, channel: 'stable' };
        const end = async () => {
          for (let step = 0; step < delay; step++) await scheduler.schedule(Promise.resolve());
          return kind === 'open'
            ? openDraft(writer(3), { ...request, allowPrerelease: false })
            : changeStatus(writer(3), 'retire', { ...request, reason: null });
        };
        const ending = end();
        const added = ([1, 2] as const).map((index) =>
          add(writer(index), index, draft).then(
            ({ status }) => status,
            (error: unknown) => (isAppError(error) ? error.code : Promise.reject(error)),
          ),
        );
        await scheduler.waitFor(Promise.all([ending, ...added]));
        const results = await Promise.all(added);
        const newest = await readRevision({ store: memory }, 'desktop');
        const { offers = [], drafts = [] } = newest?.signed.channels.stable ?? {};
        const state = [...offers, ...drafts][0];
        const release =
          state && (await readManifest(direct, 'desktop', VERSION, state.manifest)).release;
        const files = release?.artifacts.map(({ filename }) => filename) ?? [];
        expect([offers.length, drafts.length]).toEqual(
          kind === 'open' ? [1, 0] : [0, files.length > 0 ? 1 : 0],
        );
        if (kind === 'open') {
          // A file that came too late is refused; one that was accepted is offered.
          expect(files).toContain('App.exe');
          results.forEach((result, index) => {
            expect(files.includes(String(NAMES[index + 1]))).toBe(result === 'draft');
          });
        } else {
          // What was discarded does not come back with a later build.
          expect(results).toEqual(['draft', 'draft']);
          expect(files).not.toContain('App.exe');
        }
        const outcome = `${kind} with ${files.length}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }),
      { numRuns: rounds(25, 200) },
    );
    console.log('a draft that ends while builds come:', Object.fromEntries(outcomes));
  }, 60_000);
});
