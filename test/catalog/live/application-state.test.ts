import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { revisionKey } from '../../../src/catalog/documents/keys.ts';
import type { PackedRevision } from '../../../src/catalog/documents/packed-document.ts';
import {
  channelsInSteps,
  type OfferJson,
} from '../../../src/catalog/documents/revision-document.ts';
import {
  type ApplicationEvent,
  type ApplicationState,
  describeChange,
  EMPTY_STATE,
  healthOf,
  isSwapDue,
  isUntried,
  reduce,
  usabilityOf,
} from '../../../src/catalog/live/application-state.ts';
import type { LiveRevision } from '../../../src/catalog/live/live-revision.ts';
import { createSnapshotInSteps, type Snapshot } from '../../../src/catalog/live/snapshot.ts';
import {
  brokenChain,
  continues,
  linkOf,
  refuseRollback,
} from '../../../src/catalog/reading/chain.ts';
import { AppError } from '../../../src/core/errors.ts';
import { runAtOnce } from '../../../src/core/steps.ts';
import { seal } from '../../../src/store/sequence/sealed.ts';
import type { Entry, Position } from '../../../src/store/sequence/sequence.ts';
import { rounds } from '../../support/rounds.ts';

/** The state of one application as a value: every property holds after any events in any order. */

const VERSIONS = ['1.0.0', '1.1.0', '2.0.0', '2.1.0'] as const;
const AT = '2026-11-21T09:00:00.000Z';
const STALE_MAX_MS = 1_000;

const digestOf = (version: string): string => version.replaceAll('.', '').padStart(64, 'd');

function offer(version: string): OfferJson {
  return {
    version,
    status: 'active',
    reason: null,
    manifest: { number: 1, digest: digestOf(version) },
    released_at: AT,
    requires: null,
    mandatory_for: null,
    artifacts: [{ os: 'windows', arch: 'x64', format: 'nsis' }],
  };
}

function makeRevision(
  number: number,
  versions: readonly string[],
  before?: Pick<LiveRevision['signed'], 'previous' | 'skipped'>,
): LiveRevision {
  const signed = {
    revision: number,
    previous: before?.previous ?? null,
    skipped: before?.skipped ?? [],
  };
  const stable = { inherits: null, offers: versions.map(offer), retired: [] };
  const channels = runAtOnce(channelsInSteps({ channels: { stable } }));
  const { digest } = seal({ ...signed, channels: { stable } });
  return {
    signed,
    digest,
    channels,
    drafts: [],
    displayName: null,
    fullness: 0,
    refused: [],
    document: '' as PackedRevision,
  };
}

const snapshotOf = (revision: LiveRevision): Snapshot =>
  runAtOnce(createSnapshotInSteps(revision, new Set()));

const revisions = VERSIONS.map((_, index) => makeRevision(index + 1, VERSIONS.slice(0, index + 1)));
const snapshots = revisions.map(snapshotOf);

const anyRevision = fc.constantFrom(...revisions);
const anySnapshot = fc.constantFrom(...snapshots);
const anyTime = fc.integer({ min: 1, max: 5_000 });
const anyNumbers = fc.uniqueArray(fc.integer({ min: 5, max: 8 }), { maxLength: 2 });
const anyError = fc.constantFrom(
  new AppError('store_unavailable', 'GET https://10.0.0.7/bucket failed.'),
  new AppError('document_corrupt', 'apps/desktop/catalog/1.json is truncated.'),
  new AppError('internal', 'x is not a function'),
);
const anyPosition = fc
  .record({
    newest: fc.option(anyRevision, { nil: undefined }),
    corrupt: anyNumbers,
    holes: anyNumbers,
  })
  .map(({ newest, corrupt, holes }): Position<LiveRevision> => {
    const number = newest?.signed.revision ?? 0;
    return {
      newest: newest === undefined ? undefined : { number, document: newest },
      corrupt: corrupt.map((of) => ({
        number: of,
        reason: `${revisionKey('desktop', of)} is truncated.`,
        sha256: null,
        etag: 'e',
      })),
      last: Math.max(number, ...corrupt),
      holes,
    };
  });
const anyVerified = fc
  .array(
    fc.record({
      version: fc.constantFrom(...VERSIONS, '9.9.9'),
      foundAt: anyTime,
      isSound: fc.boolean(),
    }),
  )
  .map((found) =>
    found.map(({ version, foundAt, isSound }) => ({
      digest: digestOf(version),
      fault: isSound ? undefined : { version, detail: 'its file is missing.', foundAt },
    })),
  );

const anyEvent: fc.Arbitrary<ApplicationEvent> = fc.oneof(
  fc.record({
    kind: fc.constant('restored' as const),
    snapshot: anySnapshot,
    confirmedAt: anyTime,
  }),
  fc.record({ kind: fc.constant('advanced' as const), position: anyPosition }),
  fc.record({
    kind: fc.constant('swapped' as const),
    snapshot: anySnapshot,
    verified: anyVerified,
  }),
  fc.record({ kind: fc.constant('confirmed' as const), at: anyTime }),
  fc.record({ kind: fc.constant('failed' as const), error: anyError }),
  fc.record({
    kind: fc.constant('looked_for' as const),
    at: anyTime,
    missing: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('verified' as const),
    verified: anyVerified,
    prepared: fc.option(anySnapshot, { nil: undefined }),
  }),
);

/** Checks a property of the state before and after the last of any events. */
function forAnyStep(
  check: (before: ApplicationState, event: ApplicationEvent, after: ApplicationState) => void,
): void {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 12 }), anyEvent, (events, last) => {
      const before = events.reduce(reduce, EMPTY_STATE);
      check(before, last, reduce(before, last));
    }),
    { seed: 20_261_125, numRuns: rounds(100, 500) },
  );
}

const listed = ({ snapshot }: ApplicationState): string[] =>
  (snapshot?.channels.get('stable')?.offers ?? []).map(({ manifest }) => manifest.digest);

describe('the state of an application', () => {
  it('offers exactly the releases of its revision that have no fault', () => {
    forAnyStep((_before, _event, { snapshot, faults }) => {
      const stated = snapshot?.revision.channels.get('stable')?.offers ?? [];
      const digests = stated.map(({ version }) => digestOf(`${version}`));
      expect([...faults.keys()].filter((digest) => !digests.includes(digest))).toEqual([]);
      expect([...(snapshot?.leftOut ?? [])].sort()).toEqual([...faults.keys()].sort());
      const offered = snapshot?.channels.get('stable')?.offers ?? [];
      expect(offered).toHaveLength(digests.length - faults.size);
    });
  });

  it('keeps its snapshot through every failure', () => {
    forAnyStep((before, event, after) => {
      if (event.kind !== 'failed') return;
      expect(after).toEqual({ ...before, failure: event.error });
      expect(after.snapshot).toBe(before.snapshot);
    });
  });

  it('is confirmed and has no failure only after a successful refresh', () => {
    forAnyStep((before, event, after) => {
      if (event.kind === 'confirmed') {
        const lookedForAt = before.lookedForAt || event.at;
        const confirmed = { failure: undefined, confirmedAt: event.at, lookedForAt };
        expect(after).toEqual({ ...before, ...confirmed });
      } else if (event.kind !== 'restored') {
        expect(after.confirmedAt).toBe(before.confirmedAt);
        if (event.kind !== 'failed') expect(after.failure).toBe(before.failure);
      }
    });
  });

  it('never returns from an answer of the store to the saved state', () => {
    forAnyStep((before, event, after) => {
      expect(after.source === 'none').toBe(after.snapshot === undefined);
      if (before.source === 'live') expect(after.source).toBe('live');
      if (event.kind === 'restored' && before.position !== undefined) expect(after).toBe(before);
      if (event.kind === 'swapped') expect(after.source).toBe('live');
    });
  });

  it('is not changed by the next one', () => {
    forAnyStep((before, event) => {
      const look = () => [healthOf('desktop', before), listed(before), { ...before }];
      const first = look();
      reduce(before, event);
      expect(look()).toEqual(first);
    });
  });

  it('is answered from exactly while the store has confirmed it recently', () => {
    forAnyStep((_before, _event, state) => {
      for (const now of [0, 1_500, 4_000, 9_000]) {
        const usability = usabilityOf(state, now, STALE_MAX_MS);
        const isFresh = now - (state.confirmedAt ?? 0) <= STALE_MAX_MS;
        expect(usability === 'usable').toBe(state.snapshot !== undefined && isFresh);
        expect(usability === 'stale').toBe(state.snapshot !== undefined && !isFresh);
        // "Nothing is published" is said only when the store has said so.
        if (usability !== 'empty') continue;
        expect(state.confirmedAt).toBeDefined();
        expect(state.failure).toBeUndefined();
        expect([...(state.position?.corrupt ?? []), ...(state.position?.holes ?? [])]).toEqual([]);
      }
    });
  });

  it('is prepared again when it is saved, or when a newer revision was read', () => {
    forAnyStep((_before, _event, state) => {
      const newest = state.position?.newest?.document;
      const isNewer = newest !== undefined && newest !== state.snapshot?.revision;
      expect(isSwapDue(state)).toBe(newest !== undefined && (isNewer || state.source === 'saved'));
      if (state.failure !== undefined) expect(isUntried(state)).toBe(false);
    });
    expect(isUntried(EMPTY_STATE)).toBe(true);
  });
});

describe('the health of an application', () => {
  it('names every problem, and no host, bucket or directory', () => {
    forAnyStep((_before, _event, state) => {
      const { problems, revision, storeFailing } = healthOf('desktop', state);
      const count =
        (state.failure === undefined ? 0 : 1) +
        (state.position?.corrupt.length ?? 0) +
        (state.position?.holes.length ?? 0) +
        (state.missing === undefined ? 0 : 1) +
        state.faults.size;
      expect(problems).toHaveLength(count);
      expect(problems.join()).not.toMatch(/10\.0\.0\.7|bucket|not a function/);
      expect(revision).toBe(state.snapshot?.revision.signed.revision ?? 0);
      expect(storeFailing).toBe(state.failure?.code === 'store_unavailable');
    });
  });
});

describe('the log', () => {
  it('has no second entry for the same finding', () => {
    forAnyStep((_before, event, after) => {
      expect(describeChange('desktop', after, reduce(after, event))).toEqual([]);
    });
  });

  it('has each failure, new corrupt revision, deletion and fault', () => {
    forAnyStep((before, event, after) => {
      const lines = describeChange('desktop', before, after);
      const errors = lines.filter(({ level }) => level === 'error');
      const isNew =
        (after.failure !== undefined && after.failure.message !== before.failure?.message) ||
        (after.missing !== undefined && after.missing !== before.missing) ||
        [...after.faults.keys()].some((name) => !before.faults.has(name)) ||
        (after.position?.corrupt ?? []).some(
          ({ number }) => !before.position?.corrupt.some((known) => known.number === number),
        );
      expect(errors.length > 0, event.kind).toBe(isNew);
      for (const { facts } of lines) expect(facts).toMatchObject({ application: 'desktop' });
    });
  });
});

describe('the hash chain', () => {
  /** A history in which some revisions are corrupt, and the next one steps over them. */
  const anyHistory = fc
    .array(fc.boolean(), { minLength: 1, maxLength: 8 })
    .map((corrupt): readonly Entry<LiveRevision>[] => {
      const sound: Entry<LiveRevision>[] = [];
      let skipped: LiveRevision['signed']['skipped'] = [];
      corrupt.forEach((isCorrupt, index) => {
        const number = index + 1;
        if (isCorrupt) {
          skipped.push({ number, reason: 'truncated', sha256: null });
          return;
        }
        const last = sound.at(-1)?.document;
        const previous =
          last === undefined ? null : { revision: last.signed.revision, digest: last.digest };
        const document = makeRevision(number, VERSIONS.slice(0, 1), { previous, skipped });
        sound.push({ number, document });
        skipped = [];
      });
      return sound;
    });

  it('is whole from every revision of a history on', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        history.forEach((known, index) => {
          const next = history[index + 1];
          if (next !== undefined) expect(brokenChain('desktop', known, next)).toBeUndefined();
          refuseRollback('desktop', known, known.document);
          refuseRollback('desktop', known, 'corrupt');
        });
      }),
      { seed: 20_261_126, numRuns: rounds(100, 300) },
    );
  });

  it('is broken when any revision is replaced by another', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        history.forEach((entry, index) => {
          const { previous, skipped } = entry.document.signed;
          const document = makeRevision(entry.number, VERSIONS, { previous, skipped });
          const replaced = { ...entry, document };
          const next = history[index + 1];
          expect(() => refuseRollback('desktop', entry, document)).toThrow('went backwards');
          expect(() => refuseRollback('desktop', entry, undefined)).toThrow('went backwards');
          if (next === undefined) return;
          expect(continues(linkOf(document), linkOf(next.document))).toBe(false);
          expect(brokenChain('desktop', replaced, next)?.message).toContain('was replaced');
        });
      }),
      { seed: 20_261_127, numRuns: rounds(100, 300) },
    );
  });
});
