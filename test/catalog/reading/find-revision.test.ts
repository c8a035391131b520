import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRevision } from '../../../src/catalog/reading/find-revision.ts';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { parseRevisionReference } from '../../../src/domain/revision-reference.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { rounds } from '../../support/rounds.ts';

const START = Date.parse('2026-11-22T10:00:00Z');
const MINUTE = 60_000;

/** A store with a revision for each of these times, given in minutes after the start. */
async function storeWith(minutes: readonly number[]) {
  const clock = createFixedClock(START);
  const store = createFaultyStore(createMemoryStore({ clock }));
  const parts = { store, clock, randomness: createSeededRandomness(1), actor: 'test' };
  let now = 0;
  for (const minute of minutes) {
    clock.advance((minute - now) * MINUTE);
    now = minute;
    await changeCatalog(parts, 'desktop', (channels) => ({
      plan: undefined,
      edit: {
        change: { kind: 'channel', version: null, channels: [], reason: `at ${minute}` },
        channels: { ...channels, [`c${minute}`]: { inherits: null, offers: [], retired: [] } },
      },
    }));
  }
  const at = (minute: number) => new Date(START + minute * MINUTE).toISOString();
  const find = async (text?: string) => {
    const reference = text === undefined ? undefined : parseRevisionReference(text);
    const { revision, ...found } = await findRevision(parts, 'desktop', reference);
    return { number: revision.signed.revision, ...found };
  };
  const corrupt = async (number: number) => {
    const key = `apps/desktop/catalog/${String(number).padStart(10, '0')}.json`;
    await store.delete(key);
    await store.create(key, Buffer.from('{'));
  };
  return { store, clock, at, find, corrupt };
}

describe('parseRevisionReference', () => {
  it('reads a number, and a time with a zone', () => {
    expect(parseRevisionReference('12')).toEqual({ revision: 12 });
    for (const text of ['2026-11-22T10:00:00Z', '2026-11-22 10:00:00Z', ' 2026-11-22T10:00:00Z ']) {
      expect(parseRevisionReference(text)).toEqual({ time: '2026-11-22T10:00:00Z' });
    }
    expect(parseRevisionReference('2026-11-22T10:00+05:30')).toEqual({
      time: '2026-11-22T10:00+05:30',
    });
  });

  it.each([
    ['2026-11-22', /add the time of day and the zone, such as 2026-11-22T10:00:00Z/],
    ['2026-11-22T10:00:00', /Add the zone.*2026-11-22T10:00:00Z for UTC/],
    ['2026-11-22 10:00', /Add the zone/],
    ['yesterday', /the number of a catalog revision; .* Or write a date and time with a zone/],
    ['0', /the number of a catalog revision/],
    ['-1', /the number/],
    ['', /the number/],
  ])('refuses %j with advice', (text, advice) => {
    expect(() => parseRevisionReference(text)).toThrow(advice);
  });
});

describe('findRevision', () => {
  it('finds the newest revision now, a revision by its number, and the newest at a time', async () => {
    const { find, at, clock } = await storeWith([0, 10, 20]);
    clock.advance(5 * MINUTE);
    const present = { isForecast: false, unreadable: [] };
    expect(await find()).toEqual({ number: 3, time: START + 25 * MINUTE, ...present });
    expect(await find('2')).toEqual({ number: 2, time: START + 10 * MINUTE, ...present });
    for (const [minute, number] of [
      [0, 1],
      [9.9, 1],
      [10, 2],
      [19, 2],
      [20, 3],
      [24, 3],
    ] as const) {
      expect(await find(at(minute))).toMatchObject({ number, time: START + minute * MINUTE });
    }
  });

  it('takes a revision of the same second when the time has no fraction, as commands print it', async () => {
    const { find } = await storeWith([0, 0.0101]);
    expect(await find('2026-11-22T10:00:00Z')).toMatchObject({ number: 2, time: START + 606 });
    expect(await find('2026-11-22T10:00:00.100Z')).toMatchObject({ number: 1 });
    expect(await find('2026-11-22T12:00:00.606+02:00')).toMatchObject({ number: 2 });
  });

  it('takes the newest revision for a time in the future, and says that it is a forecast', async () => {
    const { find, at } = await storeWith([0, 10]);
    expect(await find(at(60))).toEqual({
      number: 2,
      time: START + 60 * MINUTE,
      isForecast: true,
      unreadable: [],
    });
  });

  it('refuses a time before the first revision, an unknown number, and a date that does not exist', async () => {
    const { find, at, corrupt } = await storeWith([10, 20]);
    await expect(find(at(9))).rejects.toMatchObject({
      code: 'unknown_version',
      message: expect.stringMatching(/The first one is revision 1, of 2026-11-22T10:10:00.000Z/),
    });
    await expect(find('3')).rejects.toMatchObject({ code: 'unknown_version' });
    await expect(find('2026-02-30T10:00:00Z')).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/There is no such date/),
    });
    await corrupt(1);
    await expect(find(at(9))).rejects.toThrow(/The first one is revision 2/);
  });

  it('steps over corrupt revisions, and names those that may have been the newest', async () => {
    const { find, at, corrupt } = await storeWith([0, 10, 20, 30, 40]);
    await corrupt(3);
    expect(await find(at(15))).toMatchObject({ number: 2, unreadable: [3] });
    expect(await find(at(25))).toMatchObject({ number: 2, unreadable: [3] });
    expect(await find(at(35))).toMatchObject({ number: 4, unreadable: [] });
    await corrupt(5);
    expect(await find(at(40))).toMatchObject({ number: 4, unreadable: [5] });
    // The newest state now is unknown, as for every other command.
    await expect(find()).rejects.toMatchObject({ code: 'document_corrupt' });
  });

  it('fails when the store fails, and with an unknown application', async () => {
    const { find, at, store, clock } = await storeWith([0, 10]);
    store.setPlan(({ method }) =>
      method === 'get' ? { when: 'before', code: 'store_unavailable' } : undefined,
    );
    for (const text of [undefined, '1', at(5), at(60)]) {
      await expect(find(text)).rejects.toMatchObject({ code: 'store_unavailable' });
    }
    const empty = { store: createMemoryStore({ clock }), clock };
    for (const text of ['2026-11-22T10:05:00Z', '2027-01-01T00:00:00Z']) {
      await expect(
        findRevision(empty, 'desktop', parseRevisionReference(text)),
      ).rejects.toMatchObject({ code: 'unknown_application' });
    }
  });

  it('uses the clock of the store, which is known after its first answer', async () => {
    const { store } = await storeWith([0, 10]);
    const clock = { now: () => START + (store.total() > 0 ? 30 : -600) * MINUTE };
    for (const [text, number, minute] of [
      [undefined, 2, 30],
      ['2026-11-22T10:05:00Z', 1, 5],
    ] as const) {
      store.forgetCalls();
      const reference = text === undefined ? undefined : parseRevisionReference(text);
      const found = await findRevision({ store, clock }, 'desktop', reference);
      expect([found.revision.signed.revision, found.time, found.isForecast]).toEqual([
        number,
        START + minute * MINUTE,
        false,
      ]);
    }
  });

  it('needs few reads in a long history', async () => {
    const { find, at, store } = await storeWith(Array.from({ length: 120 }, (_, index) => index));
    store.forgetCalls();
    expect(await find(at(83.5))).toMatchObject({ number: 84 });
    expect(store.counts.get).toBeLessThan(30);
  });

  it('finds the newest one that was made by then, for any times and corrupt revisions', async () => {
    const times = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(times, fc.nat(45), fc.array(fc.nat(11)), async (given, asked, broken) => {
        const minutes = given.toSorted((a, b) => a - b);
        const { find, at, clock, corrupt } = await storeWith(minutes);
        clock.advance(60 * MINUTE);
        const bad = new Set(broken.map((index) => index + 1));
        for (const number of bad) if (number <= minutes.length) await corrupt(number);
        const sound = minutes
          .map((minute, index) => ({ minute, number: index + 1 }))
          .filter(({ minute, number }) => minute <= asked && !bad.has(number));
        const found = await find(at(asked)).catch(() => undefined);
        expect(found?.number).toBe(sound.at(-1)?.number);
      }),
      { numRuns: rounds(30, 60) },
    );
  });
});
