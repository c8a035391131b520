import { expect } from 'vitest';
import { readRevision } from '../../src/catalog/reading/read.ts';
import type { Revision } from '../../src/catalog/reading/sequences.ts';
import type { WriterDeps } from '../../src/catalog/writing/change.ts';
import { isAppError } from '../../src/core/errors.ts';
import { promoteRelease } from '../../src/releases/publish/promote-release.ts';
import { changeStatus, type StatusVerb } from '../../src/releases/withdraw/change-status.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createSeededRandomness } from '../support/clock.ts';
import { makeArtifact, publish } from '../support/release.ts';

/** Runs commands of a publisher while the store, or a proxy in front of it, gives one wrong answer to each. */

export interface LyingStore {
  /** The store that the commands use. */
  readonly store: ObjectStore;
  /** Gives one wrong answer to the first suitable request from the n-th on; 0: never. `pick` chooses which. */
  lieAt(n: number, pick: () => number): void;
  /** Requests since the last `lieAt`. */
  requests(): number;
  /** The kind of wrong answer since the last `lieAt`; undefined when there was none. */
  told(): string | undefined;
}

interface Acknowledged {
  readonly revision: number;
  readonly kind: string;
  readonly version: string;
}

/** The expected state: the live versions, the yanked versions, and every acknowledged change. */
interface Books {
  readonly live: string[];
  readonly yanked: Set<string>;
  readonly acknowledged: Acknowledged[];
}

/**
 * Runs `rounds` commands with one wrong answer each. Then checks that every acknowledged change is stored.
 *
 * @param direct the same store without wrong answers
 */
export async function runLies(options: {
  readonly lying: LyingStore;
  readonly direct: ObjectStore;
  readonly clock: WriterDeps['clock'];
  readonly directory: string;
  readonly rounds: number;
  readonly seed: number;
}): Promise<void> {
  const { lying, direct, clock, directory, rounds, seed } = options;
  const randomness = createSeededRandomness(seed);
  const pick = (count: number) => Math.floor(randomness.fraction() * count);
  const deps: WriterDeps = { store: lying.store, clock, randomness, actor: 'test' };
  const books: Books = { live: [], yanked: new Set(), acknowledged: [] };
  lying.lieAt(0, randomness.fraction);
  await act(deps, books, 'publish', '1.0.0', directory);
  await act(deps, books, 'publish', '1.0.1', directory);
  await act(deps, books, 'yank', '1.0.1', directory);
  const usual = new Map<string, number>();
  const outcomes = { done: 0, refused: 0, told: new Map<string, number>() };
  for (let round = 1; round <= rounds; round++) {
    const verbs = ['publish', 'pause', 'resume', 'promote', 'yank', 'retire'] as const;
    // Publishes when few releases are live, so that the other commands have a release to change.
    const verb = books.live.length < 3 ? 'publish' : (verbs[pick(verbs.length)] ?? 'publish');
    const version =
      verb === 'publish' ? `2.0.${round}` : (books.live[pick(books.live.length)] ?? '1.0.0');
    lying.lieAt(1 + pick(usual.get(verb) ?? 20), randomness.fraction);
    const what = `seed ${seed}, round ${round}: ${verb} ${version}`;
    try {
      await act(deps, books, verb, version, directory);
      outcomes.done += 1;
    } catch (error) {
      // A command may refuse with an AppError; any other error is a bug.
      expect(isAppError(error), `${what}: ${(error as Error).stack}`).toBe(true);
      outcomes.refused += 1;
    }
    const told = lying.told();
    if (told !== undefined) outcomes.told.set(told, (outcomes.told.get(told) ?? 0) + 1);
    usual.set(verb, Math.max(4, lying.requests()));
    lying.lieAt(0, randomness.fraction);
    await expectStillYanked(direct, books, `${what}, after ${told}`);
  }
  const revisions = await expectChain(direct, books);
  const lies = [...outcomes.told].map(([kind, count]) => `${count} × ${kind}`).join(', ');
  console.log(
    `${rounds} commands with one wrong answer each (${lies}): ${outcomes.done} done, ${outcomes.refused} refused; ${revisions} revisions, 0 of ${books.acknowledged.length} acknowledged changes lost, 0 yanked releases offered`,
  );
  expect([...outcomes.told.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(
    rounds / 2,
  );
}

async function act(
  deps: WriterDeps,
  books: Books,
  verb: StatusVerb | 'publish' | 'promote',
  version: string,
  directory: string,
): Promise<void> {
  const application = 'desktop';
  const note = (revision: number, changed: boolean) => {
    if (changed) books.acknowledged.push({ revision, kind: verb, version });
  };
  if (verb === 'publish') {
    const artifact = await makeArtifact(directory, {
      filename: `${version}.exe`,
      content: version,
    });
    const { revision, changed } = await publish(deps, { version, artifacts: [artifact] });
    note(revision, changed);
    books.live.push(version);
    return;
  }
  if (verb === 'promote') {
    const request = { application, version, to: 'beta', create: true, allowPrerelease: true };
    const { revision, changed } = await promoteRelease(deps, request);
    note(revision, changed);
    return;
  }
  const request = { application, version, channel: undefined, reason: null };
  const { revision, changed } = await changeStatus(deps, verb, request);
  note(revision, changed);
  if (verb === 'yank') books.yanked.add(version);
  if (verb === 'yank' || verb === 'retire') books.live.splice(books.live.indexOf(version), 1);
}

async function expectStillYanked(store: ObjectStore, { yanked }: Books, what: string) {
  const newest = await readRevision({ store }, 'desktop');
  const offered = Object.values(newest?.signed.channels ?? {}).flatMap(({ offers }) => offers);
  const again = offered.filter(({ version, status }) => yanked.has(version) && status !== 'yanked');
  expect(again, what).toEqual([]);
}

/** @returns the number of revisions */
async function expectChain(store: ObjectStore, { acknowledged }: Books): Promise<number> {
  const revisions: Revision[] = [];
  const last = (await readRevision({ store }, 'desktop'))?.signed.revision ?? 0;
  for (let number = 1; number <= last; number++) {
    const revision = await readRevision({ store }, 'desktop', number);
    if (revision === undefined) throw new Error(`Revision ${number} is missing.`);
    const before = revisions.at(-1);
    const expected = before === undefined ? null : { revision: number - 1, digest: before.digest };
    expect(revision.signed.previous, `revision ${number}`).toEqual(expected);
    expect(revision.signed.skipped, `revision ${number}`).toEqual([]);
    revisions.push(revision);
  }
  for (const { revision, kind, version } of acknowledged) {
    expect(revisions[revision - 1]?.signed.change, `revision ${revision}`).toMatchObject({
      kind,
      version,
    });
  }
  return last;
}

/** A store that answers one call wrongly, as a defective disk or memory would. */
export function createLyingStore(inner: ObjectStore): LyingStore {
  let lieNumber = 0;
  let requests = 0;
  let told: string | undefined;
  let pick: () => number = () => 0;
  const isNext = (): boolean => {
    requests += 1;
    return lieNumber > 0 && requests >= lieNumber && told === undefined;
  };
  const store: ObjectStore = {
    ...inner,
    create: (key, body, options) => {
      isNext();
      return inner.create(key, body, options);
    },
    get: async (key, options) => {
      const isLie = isNext();
      const object = await inner.get(key, options);
      if (!isLie || object === undefined || object.body.length < 2) return object;
      const body = Buffer.from(object.body);
      if (pick() < 0.5) {
        told = 'flipped bit';
        const at = Math.floor(pick() * body.length);
        body[at] = (body[at] ?? 0) ^ (1 << Math.floor(pick() * 8));
        return { ...object, body };
      }
      told = 'half a body';
      const half = body.subarray(0, body.length >> 1);
      return { ...object, body: half, size: half.length };
    },
    head: async (key, options) => {
      const isLie = isNext();
      const info = await inner.head(key, options);
      if (isLie && info !== undefined) told = 'missing';
      return isLie ? undefined : info;
    },
    async *list(prefix, options) {
      const isLie = isNext();
      const found = [];
      for await (const info of inner.list(prefix, options)) found.push(info);
      if (isLie && found.length > 0) {
        told = 'stale listing';
        found.pop();
      }
      yield* found;
    },
  };
  return {
    store,
    lieAt: (number, next) => {
      lieNumber = number;
      requests = 0;
      told = undefined;
      pick = next;
    },
    requests: () => requests,
    told: () => told,
  };
}
