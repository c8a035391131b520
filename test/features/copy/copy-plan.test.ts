import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applicationsKey,
  artifactKey,
  artifactObject,
  carriedObject,
  hintKey,
  manifestKey,
  revisionKey,
} from '../../../src/catalog/documents/keys.ts';
import { accountKey, sessionKey } from '../../../src/features/accounts/keys.ts';
import { COMMAND_FACTS as FACTS } from '../../../src/features/command-facts.ts';
import { openKey, transitionKey } from '../../../src/features/contact/keys.ts';
import { type CopiedObject, type Listing, planCopy } from '../../../src/features/copy/copy-plan.ts';
import { listSide } from '../../../src/features/copy/copy-side.ts';
import { createKeyReader } from '../../../src/features/copy/key-reader.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';

const { factsOf, passes: PASSES } = createKeyReader(FACTS.keys);

/** An object, and the keys of those that it names. */
interface Stored {
  readonly key: string;
  readonly names: readonly string[];
}

type Event =
  | {
      readonly kind: 'publish';
      readonly app: number;
      readonly version: number;
      readonly files: number;
    }
  | { readonly kind: 'account' | 'session' | 'message'; readonly id: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constant('publish' as const),
    app: fc.integer({ min: 0, max: 2 }),
    version: fc.integer({ min: 0, max: 3 }),
    files: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constantFrom('account' as const, 'session' as const, 'message' as const),
    id: fc.integer({ min: 0, max: 2 }),
  }),
);

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0');

/** The objects that the events create, in the order in which programs create them. */
function historyOf(events: readonly Event[]): Stored[] {
  const objects = new Map<string, Stored>();
  const numbers = new Map<string, number>();
  const next = (name: string): number => {
    numbers.set(name, (numbers.get(name) ?? 0) + 1);
    return numbers.get(name) ?? 0;
  };
  const last = (name: string): number => numbers.get(name) ?? 0;
  const add = (key: string, names: readonly string[] = []): void => {
    if (!objects.has(key)) objects.set(key, { key, names });
  };
  const before = (number: number, key: (n: number) => string): string[] =>
    number > 1 ? [key(number - 1)] : [];
  for (const each of events) {
    if (each.kind === 'publish') {
      const app = `app-${each.app}`;
      const version = `1.0.${each.version}`;
      const manifest = next(`${app} ${version}`);
      const files = Array.from({ length: each.files }, (_, n) =>
        artifactKey(app, artifactObject(hex(each.version * 7 + n, 64), `file-${n}`)),
      );
      const signed = artifactKey(app, carriedObject(version, manifest, 'latest.yml'));
      for (const key of [...files, signed]) add(key);
      const keyOf = (n: number) => manifestKey(app, version, n);
      add(keyOf(manifest), [...files, signed, ...before(manifest, keyOf)]);
      if (last(app) === 0) {
        const list = next('list');
        add(applicationsKey(list), before(list, applicationsKey));
      }
      const revision = next(app);
      const ofRevision = (n: number) => revisionKey(app, n);
      add(ofRevision(revision), [keyOf(manifest), ...before(revision, ofRevision)]);
      const hint = next('hint');
      const list = applicationsKey(last('list'));
      add(hintKey(hint), [ofRevision(revision), list, ...before(hint, hintKey)]);
      continue;
    }
    const id = hex(each.id, 32);
    if (each.kind === 'account') {
      const number = next(`account ${id}`);
      add(
        accountKey(id, number),
        before(number, (n) => accountKey(id, n)),
      );
    } else if (each.kind === 'session' && last(`account ${id}`) > 0) {
      const number = next(`session ${id}`);
      const known = accountKey(id, last(`account ${id}`));
      add(sessionKey(id, 's', number), [known, ...before(number, (n) => sessionKey(id, 's', n))]);
    } else if (each.kind === 'message') {
      const number = next(`message ${id}`);
      add(openKey(id, number));
      const earlier = before(number, (n) => transitionKey(id, n));
      add(transitionKey(id, number), [openKey(id, number), ...earlier]);
    }
  }
  return [...objects.values()];
}

function describeObject(key: string): CopiedObject {
  const facts = factsOf(key);
  if (facts === undefined || facts === 'passing') throw new Error(`${key} has no facts.`);
  return { key, size: 1, etag: '"x"', lastModified: new Date(0), ...facts };
}

const listingOf = (objects: readonly Stored[]): Listing => ({
  objects: new Map(objects.map(({ key }) => [key, describeObject(key)])),
  foreign: { count: 0, first: undefined },
});

describe('the order of a copy', () => {
  it('never leaves a target in which something names what is not there', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 25 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.infiniteStream(fc.nat()),
        (events, share, choices) => {
          const history = historyOf(events);
          const names = new Map(history.map((each) => [each.key, each.names]));
          // An earlier copy: what was stored up to some moment.
          const earlier = history.slice(0, Math.floor(history.length * share));
          const present = new Set(earlier.map(({ key }) => key));
          const isComplete = (key: string) => (names.get(key) ?? []).every((n) => present.has(n));
          const { stages, common, extra } = planCopy(listingOf(history), listingOf(earlier));
          expect([common.length, extra.length]).toEqual([earlier.length, 0]);
          for (const stage of stages) {
            // The lanes of a stage are copied at once, in any order.
            let lanes = stage.map((lane) => [...lane]);
            for (lanes = lanes.filter((lane) => lane.length > 0); lanes.length > 0; ) {
              const lane = lanes[(choices.next().value ?? 0) % lanes.length];
              const object = lane?.shift();
              if (object === undefined) throw new Error('An empty lane.');
              expect(isComplete(object.key), `${object.key} before what it names`).toBe(true);
              present.add(object.key);
              lanes = lanes.filter((each) => each.length > 0);
            }
          }
          expect(present.size).toBe(history.length);
        },
      ),
    );
  });

  it('has the lists of applications after all revisions, and hints last', () => {
    const history = historyOf([{ kind: 'publish', app: 0, version: 1, files: 1 }]);
    const { stages } = planCopy(listingOf(history), listingOf([]));
    const keys = stages.map((stage) => stage.flat().map(({ key }) => key));
    expect(keys.slice(-2)).toEqual([[applicationsKey(1)], [hintKey(1)]]);
  });

  it('has the end markers first', () => {
    const history = [
      { key: accountKey('a', 1), names: [] },
      { key: 'accounts/a/end.json', names: [] },
    ];
    const { stages } = planCopy(listingOf(history), listingOf([]));
    expect(stages.flat(2).map(({ kind }) => kind)).toEqual(['end', 'account']);
  });
});

describe('the listings of a source that is written to', () => {
  it('contain everything that they name', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 25 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 9, maxLength: 9 }),
        async (events, moments) => {
          const history = historyOf(events);
          const names = new Map(history.map((each) => [each.key, each.names]));
          const times = [...moments].sort((a, b) => a - b);
          // Each listing sees a later state than the one before it.
          const store = {
            async *list(root: string) {
              const seen = history.slice(0, Math.floor(history.length * (times.shift() ?? 1)));
              const found = seen.map(({ key }) => key).filter((key) => key.startsWith(root));
              for (const key of found.sort()) yield describeObject(key);
            },
          } as unknown as ObjectStore;
          const side = { store, name: 'source' };
          const { objects } = await listSide({ factsOf }, side, PASSES.source);
          for (const key of objects.keys()) {
            const missing = (names.get(key) ?? []).filter((name) => !objects.has(name));
            expect(missing, `what ${key} names`).toEqual([]);
          }
          const lists = [...objects.values()].filter(({ kind }) => kind === 'application list');
          const revisions = [...objects.values()].filter(({ kind }) => kind === 'revision');
          if (revisions.length > 0) expect(lists.length).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('leave out what belongs to one store only, and count what belongs to none', async () => {
    const keys = [
      'README.txt',
      'apps/desktop/notes.txt',
      'housekeeping/x.json',
      'probe/verdicts/x.json',
    ];
    const store = {
      async *list(root: string) {
        for (const key of keys.filter((each) => each.startsWith(root))) {
          yield { key, size: 1, etag: '"x"', lastModified: new Date(0) };
        }
      },
    } as unknown as ObjectStore;
    for (const passes of [PASSES.source, PASSES.target]) {
      const { objects, foreign } = await listSide({ factsOf }, { store, name: 'source' }, passes);
      expect([objects.size, foreign]).toEqual([0, { count: 2, first: 'README.txt' }]);
    }
  });
});
