import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import {
  APPEND_TIME_MAX_MS,
  appendDocument,
  type Base,
} from '../../../src/store/sequence/append.ts';
import { findNewest, readDocument, readNewer } from '../../../src/store/sequence/sequence.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { rounds } from '../../support/rounds.ts';
import { ledger, type Page, storePage } from './ledger.ts';

const SEED = 20_261_121;

function setUp(seed = SEED) {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  return { store, clock, randomness: createSeededRandomness(seed) };
}

/** The next page: it counts what was there before. */
function pageBy(by: string) {
  return ({ newest, number, skipped, changeId }: Base<Page>): Page => {
    const before = newest === undefined ? 0 : newest.document.before + 1;
    return { number, changeId, by, before, skipped };
  };
}

async function readAll(store: ObjectStore): Promise<readonly Page[]> {
  return (await readNewer(store, ledger, 0)).entries.map(({ document }) => document);
}

/** Lets others go first, a random number of times, so that writers interleave differently each run. */
function shuffling(store: ObjectStore, seed: number): ObjectStore {
  const randomness = createSeededRandomness(seed);
  return createFaultyStore(store, async () => {
    for (let turns = randomness.fraction() * 6; turns > 0; turns--) {
      await new Promise(setImmediate);
    }
    return undefined;
  });
}

describe('writers of one sequence', () => {
  it('racing: exactly one wins each number and no change is lost', async () => {
    const writers = 16;
    const rounds = 25;
    const deps = setUp();
    const store = shuffling(deps.store, SEED);
    const won: number[] = [];
    const write = async (writer: number) => {
      const mine = { ...deps, store, randomness: createSeededRandomness(writer) };
      for (let round = 0; round < rounds; round++) {
        const done = await appendDocument(mine, ledger, pageBy(`${writer}/${round}`));
        if (done.outcome === 'created') won.push(done.entry.number);
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    const pages = await readAll(store);
    expect(new Set(won).size, `seed ${SEED}`).toBe(writers * rounds);
    expect(new Set(pages.map(({ by }) => by)).size).toBe(writers * rounds);
    expect(pages.map(({ before }) => before)).toEqual(pages.map((_, index) => index));
    console.log(
      `racing appends: ${writers} writers x ${rounds} rounds, one winner per number, 0 lost changes`,
    );
  });

  const times = rounds(300, 10_000);
  it(`whose answer is lost find their own change, ${times} times`, async () => {
    const { store, ...deps } = setUp();
    const chance = createSeededRandomness(SEED + 1);
    let made = 0;
    let others = 0;
    for (let time = 1; time <= times; time++) {
      const newest = (await findNewest(store, ledger)).last;
      let creates = 0;
      store.setPlan(async ({ method, number }) => {
        if (method !== 'create') return undefined;
        creates += 1;
        // Every third time another writer is quick before the retry, so that ours is not the newest.
        if (creates === 2 && chance.fraction() < 1 / 3) {
          others += 1;
          await storePage(store, newest + 2);
        }
        return creates === 1 ? { when: 'after', reason: `lost answer ${number}` } : undefined;
      });
      const change = pageBy(`mine/${time}`);
      const done = await appendDocument({ store, ...deps }, ledger, (base) => {
        made += 1;
        return change(base);
      });
      expect(done, `seed ${SEED}, time ${time}`).toMatchObject({
        outcome: 'created',
        entry: { number: newest + 1 },
      });
    }
    store.setPlan(undefined);
    const pages = await readAll(store);
    const mine = pages.filter(({ by }) => by !== 'other');
    const falseConflicts = made - times;
    const duplicates = mine.length - new Set(mine.map(({ by }) => by)).size;
    console.log(
      `responses lost after a commit: ${times}, ${others} of them overtaken, ${falseConflicts} false conflicts, ${duplicates} duplicates`,
    );
    expect({ falseConflicts, duplicates, mine: mine.length }).toEqual({
      falseConflicts: 0,
      duplicates: 0,
      mine: times,
    });
    expect(pages).toHaveLength(times + others);
  });

  it('that lose a race with a server error apply their change to the winning document', async () => {
    const { store, ...deps } = setUp();
    await storePage(store, 1);
    let creates = 0;
    store.setPlan(async ({ method }) => {
      if (method !== 'create' || ++creates > 1) return undefined;
      store.setPlan(undefined);
      await storePage(store, 2);
      return { when: 'before', reason: '500' };
    });
    const done = await appendDocument({ store, ...deps }, ledger, pageBy('me'));
    expect(done).toMatchObject({ entry: { number: 3, document: { before: 2, by: 'me' } } });
  });

  it('run every check again on the winning document, and may refuse', async () => {
    const { store, ...deps } = setUp();
    const refusal = new Error('withdrawn meanwhile');
    const seen: (number | undefined)[] = [];
    const change = async (base: Base<Page>): Promise<Page> => {
      seen.push(base.newest?.number);
      if (base.newest !== undefined) throw refusal;
      await storePage(store, 1);
      return pageBy('me')(base);
    };
    await expect(appendDocument({ store, ...deps }, ledger, change)).rejects.toBe(refusal);
    expect(seen).toEqual([undefined, 1]);
    expect(await readAll(store)).toHaveLength(1);
  });
});

describe('a writer whose machine slept', () => {
  const HOUR = 3_600_000;
  /** Those that end are trimmed. */
  const trimmed = { ...ledger, endKey: 'end.json' };

  /** Others write 20 documents and the one whose number the writer is about to use is trimmed. */
  async function oversleep({ store, clock }: ReturnType<typeof setUp>): Promise<void> {
    for (let number = 6; number <= 25; number++) await storePage(store, number);
    clock.advance(2 * HOUR);
    await store.delete(ledger.key(6));
  }

  async function setUpFive() {
    const deps = setUp();
    for (let number = 1; number <= 5; number++) await storePage(deps.store, number);
    return deps;
  }

  it('before it wrote does not create a deleted number again', async () => {
    const deps = await setUpFive();
    const append = appendDocument(deps, trimmed, async (base) => {
      await oversleep(deps);
      return pageBy('me')(base);
    });
    await expect(append).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await deps.store.head(ledger.key(6))).toBeUndefined();
  });

  it('while it wrote does not report success for a document that no reader finds', async () => {
    const deps = await setUpFive();
    let isAsleep = false;
    deps.store.setPlan(async ({ method }) => {
      if (method !== 'create' || isAsleep) return undefined;
      isAsleep = true;
      await oversleep(deps);
      return undefined;
    });
    const append = appendDocument(deps, trimmed, pageBy('me'));
    await expect(append).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('while it wrote reports success when its document is the newest', async () => {
    const deps = await setUpFive();
    deps.store.setPlan(({ method }) => {
      if (method === 'create') deps.clock.advance(2 * HOUR);
      return undefined;
    });
    const done = await appendDocument(deps, ledger, pageBy('me'));
    expect(done).toMatchObject({ outcome: 'created', entry: { number: 6 } });
  });

  it('while it wrote reports an unknown outcome when it cannot find the newest document', async () => {
    for (const code of ['store_unavailable', 'store_denied'] as const) {
      const deps = await setUpFive();
      let isAsleep = false;
      deps.store.setPlan(({ method }) => {
        if (isAsleep) return { when: 'before', code };
        if (method !== 'create') return undefined;
        isAsleep = true;
        deps.clock.advance(2 * HOUR);
        return undefined;
      });
      const append = appendDocument(deps, trimmed, pageBy('me'));
      await expect(append).rejects.toMatchObject({ code: 'outcome_unknown' });
    }
  });

  it('between two attempts does not try again', async () => {
    const deps = await setUpFive();
    let tries = 0;
    deps.store.setPlan(({ method }) => {
      if (method !== 'create' || ++tries > 1) return undefined;
      return { when: 'before' };
    });
    const sleep = () => oversleep(deps);
    const append = appendDocument(
      { ...deps, clock: { ...deps.clock, sleep } },
      trimmed,
      pageBy('me'),
    );
    await expect(append).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await deps.store.head(ledger.key(6))).toBeUndefined();
  });

  it('writes when nothing changed meanwhile: a user may take long to answer a question', async () => {
    const deps = await setUpFive();
    const done = await appendDocument(deps, trimmed, (base) => {
      deps.clock.advance(2 * HOUR);
      return pageBy('me')(base);
    });
    expect(done).toMatchObject({ outcome: 'created', entry: { number: 6 } });
  });
});

describe('an append to a store that stops answering', () => {
  it('puts the identical bytes at the same key for a minute, then reports an unknown outcome', async () => {
    const { store, ...deps } = setUp();
    await storePage(store, 1);
    const attempts: string[] = [];
    store.setPlan(({ method, key, body = [] }) => {
      if (method !== 'create') return undefined;
      attempts.push(`${key} ${Buffer.from(body).toString('hex')}`);
      return { when: 'before' };
    });
    const startedAt = deps.clock.now();
    await expect(appendDocument({ store, ...deps }, ledger, pageBy('me'))).rejects.toMatchObject({
      code: 'outcome_unknown',
      kind: 'unavailable',
    });
    const lasted = deps.clock.now() - startedAt;
    expect(lasted).toBeGreaterThanOrEqual(APPEND_TIME_MAX_MS);
    expect(lasted).toBeLessThan(APPEND_TIME_MAX_MS + 2_000);
    expect(new Set(attempts).size).toBe(1);
    expect(attempts[0]).toMatch(/^ledger\/2\.json /);
    console.log(
      `silent store: ${attempts.length} identical attempts in ${(lasted / 1000).toFixed(1)} simulated seconds, then outcome_unknown`,
    );
  });

  it('does not report a refusal when only a later attempt was refused', async () => {
    for (const code of ['store_denied', 'store_full'] as const) {
      const { store, ...deps } = setUp();
      let creates = 0;
      store.setPlan(({ method }) => {
        if (method !== 'create') return undefined;
        return ++creates === 1 ? { when: 'after' } : { when: 'before', code };
      });
      const append = appendDocument({ store, ...deps }, ledger, pageBy('me'));
      await expect(append).rejects.toMatchObject({ code: 'outcome_unknown' });
      store.setPlan(undefined);
      expect(await readAll(store)).toHaveLength(1);
    }
  });

  it('reports a refusal of the first attempt at once', async () => {
    for (const code of ['store_denied', 'store_full'] as const) {
      const { store, ...deps } = setUp();
      store.setPlan(({ method }) => (method === 'create' ? { when: 'before', code } : undefined));
      const append = appendDocument({ store, ...deps }, ledger, pageBy('me'));
      await expect(append).rejects.toMatchObject({ code });
      expect(store.counts.create).toBe(1);
    }
  });
});

describe('an append to a corrupt sequence', () => {
  it('names the documents that it steps over, and everything works again', async () => {
    const { store, ...deps } = setUp();
    await storePage(store, 1);
    await storePage(store, 2, 'truncated');
    await storePage(store, 3, 'altered');
    const done = await appendDocument({ store, ...deps }, ledger, pageBy('me'));
    expect(done).toMatchObject({ outcome: 'created', entry: { number: 4 } });
    expect((await readDocument(store, ledger, 4))?.skipped).toEqual([
      { number: 2, reason: expect.stringContaining('altered'), sha256: expect.any(String) },
      { number: 3, reason: expect.stringContaining('altered'), sha256: expect.any(String) },
    ]);
    expect(await findNewest(store, ledger)).toMatchObject({ newest: { number: 4 }, corrupt: [] });
    const next = await appendDocument({ store, ...deps }, ledger, pageBy('me'));
    expect(next).toMatchObject({ entry: { number: 5, document: { skipped: [] } } });
  });

  it('names a document as well that is found corrupt during the commit', async () => {
    const { store, ...deps } = setUp();
    await storePage(store, 1);
    let raced = false;
    const done = await appendDocument({ store, ...deps }, ledger, async (base) => {
      if (!raced) await storePage(store, 2, 'truncated');
      raced = true;
      return pageBy('me')(base);
    });
    expect(done).toMatchObject({ entry: { number: 3, document: { skipped: [{ number: 2 }] } } });
  });

  it('of a newer schema writes nothing', async () => {
    const { store, ...deps } = setUp();
    await storePage(store, 1);
    await storePage(store, 2, 'newer');
    store.forgetCalls();
    const append = appendDocument({ store, ...deps }, ledger, pageBy('me'));
    await expect(append).rejects.toMatchObject({ code: 'document_newer' });
    expect(store.counts.create).toBe(0);
  });

  it('stops when the newer schema appears while it commits', async () => {
    const { store, ...deps } = setUp();
    const append = appendDocument({ store, ...deps }, ledger, async (base) => {
      await storePage(store, 1, 'newer');
      return pageBy('me')(base);
    });
    await expect(append).rejects.toMatchObject({ code: 'document_newer' });
    await expect(store.head(ledger.key(2))).resolves.toBeUndefined();
  });

  it('refuses a document above the limit before anything is written', async () => {
    const { store, ...deps } = setUp();
    const append = appendDocument({ store, ...deps }, ledger, pageBy('x'.repeat(5_000)));
    await expect(append).rejects.toMatchObject({ code: 'document_too_large' });
    expect(store.counts.create).toBe(0);
  });

  it('changes nothing when nothing has to change', async () => {
    const { store, ...deps } = setUp();
    await storePage(store, 1);
    store.forgetCalls();
    const done = await appendDocument({ store, ...deps }, ledger, () => undefined);
    expect(done).toMatchObject({ outcome: 'unchanged', newest: { number: 1 } });
    expect(store.counts.create).toBe(0);
  });
});
