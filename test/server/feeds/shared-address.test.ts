import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRecentDownloads } from '../../../src/server/feeds/recent-downloads.ts';
import { addCounts, type Downloads, NO_DOWNLOADS, noCounts } from '../../../src/usage/counts.ts';
import { type DownloadOutcomes, outcomesOf } from '../../../src/usage/download-shares.ts';
import { createTally } from '../../../src/usage/tally.ts';
import { createFixedClock } from '../../support/clock.ts';

/** Several clients behind one network address download the same file. */

const SIZE = 1_000_000;
const MINUTE = 60_000;
const LINK = { application: 'desktop', channel: 'stable', platform: 'windows', version: '2.0.0' };

type Request = Parameters<ReturnType<typeof createRecentDownloads>['note']>[0];
type Naming = (client: number) => Partial<Request>;

const NAMED: readonly (readonly [string, Naming])[] = [
  ['an installation id', (n) => ({ headers: { 'x-installation-id': `client-${n}` } })],
  ['an id in the link', (n) => ({ query: { installation_id: `client-${n}` } })],
  ['an access token', (n) => ({ headers: { authorization: `Bearer token-${n}` } })],
  ['an address each', (n) => ({ ip: `192.0.2.${n}` })],
];
const nothing: Naming = () => ({});

function open() {
  const clock = createFixedClock();
  const recent = createRecentDownloads(clock);
  const tally = createTally({
    clock,
    isKnownVersion: () => true,
    series: { add: () => {} },
    minutesKeptMs: MINUTE,
  });
  const ask = (client: Partial<Request>, range: string | undefined, more = {}) => {
    const headers = { ...client.headers, ...(range === undefined ? {} : { range }) };
    const request = { ip: '203.0.113.7', query: {}, ...client, headers };
    const file = { artifact: 'a', isDelta: false, hasBlocks: true, size: SIZE, ...more };
    for (const kind of recent.note(request, file)) tally.countLink(LINK, kind);
  };
  const sum = () => {
    const counts = noCounts();
    for (const row of tally.peek()?.rows ?? []) addCounts(counts, row);
    return counts;
  };
  const counted = (): Downloads => sum().downloads ?? NO_DOWNLOADS;
  const outcomes = (): DownloadOutcomes => outcomesOf(counted());
  return { clock, ask, counted, outcomes };
}

/** What electron-updater asks for: ranges from front to back, or the whole file. */
const differential = ['bytes=0-999, 5000-5999', 'bytes=9000-9999'];
const whole = [undefined];
const TWELVE = [...Array<readonly string[]>(10).fill(differential), whole, whole];

/** Orders in which the requests of the clients arrive. */
const ORDERS: Readonly<Record<string, readonly number[]>> = {
  'one after the other': TWELVE.flatMap((requests, n) => requests.map(() => n)),
  'the whole files first': TWELVE.flatMap((requests, n) => requests.map(() => n)).toReversed(),
  'at the same time': [...TWELVE.keys(), ...Array(10).keys()],
};

function askInOrder(ask: ReturnType<typeof open>['ask'], naming: Naming, order: readonly number[]) {
  const asked = TWELVE.map(() => 0);
  for (const n of order) {
    const next = asked[n] ?? 0;
    asked[n] = next + 1;
    ask(naming(n), TWELVE[n]?.[next]);
  }
}

describe.each(Object.entries(ORDERS))(
  'ten differential and two whole downloads, %s',
  (_, order) => {
    it.each(NAMED)('are counted exactly with %s', (_name, naming) => {
      const { ask, outcomes } = open();
      askInOrder(ask, naming, order);
      expect(outcomes()).toEqual({
        all: 12,
        differential: 10,
        whole: 2,
        fallback: 0,
        resumed: 0,
        notKnown: 0,
      });
    });

    it('are not known when nothing tells the clients apart', () => {
      const { ask, outcomes } = open();
      askInOrder(ask, nothing, order);
      const { notKnown, ...known } = outcomes();
      expect(notKnown).toBeGreaterThan(0);
      // Whole downloads before the first range are certain.
      const certain = order[0] === 11 ? 2 : 0;
      expect(known).toEqual({
        all: certain,
        differential: 0,
        whole: certain,
        fallback: 0,
        resumed: 0,
      });
    });
  },
);

describe('one address without an id', () => {
  it('has one differential download while no range is asked for twice', () => {
    const { ask, counted } = open();
    // An AppImage: the block map at the end first, then from front to back.
    for (const range of ['bytes=990000-999999', 'bytes=0-99', 'bytes=500-599, 900-999']) {
      ask({}, range);
    }
    for (let n = 1; n < 300; n++) ask({}, `bytes=${n * 1_000}-${n * 1_000 + 99}`);
    expect(counted()).toEqual({ whole: 0, differential: 1, resumed: 0, fallback: 0 });
  });

  it.each<[string, readonly (string | undefined)[], Partial<DownloadOutcomes>]>([
    ['a range that was asked for', ['bytes=0-9', 'bytes=0-9'], { notKnown: 1 }],
    ['a range in a gap', ['bytes=0-9,90-99', 'bytes=50-59'], { notKnown: 1 }],
    ['the whole file after ranges', ['bytes=0-9', undefined], { notKnown: 1 }],
    ['ranges after the whole file', [undefined, 'bytes=0-9'], { whole: 1, differential: 1 }],
    ['the end after the whole file', [undefined, 'bytes=9-'], { whole: 1 }],
    ['the end twice', ['bytes=9-', 'bytes=99-'], { resumed: 1, notKnown: 1 }],
    ['the whole file after the end', ['bytes=9-', undefined], { resumed: 1, notKnown: 1 }],
    ['the whole file twice', [undefined, 'bytes=0-'], { whole: 2 }],
    ['whole files after that', ['bytes=0-9', undefined, undefined], { notKnown: 2 }],
  ])('that asks for %s', (_, ranges, expected) => {
    const { ask, outcomes } = open();
    for (const range of ranges) ask({}, range);
    const none = { differential: 0, whole: 0, fallback: 0, resumed: 0, notKnown: 0 };
    expect(outcomes()).toMatchObject({ ...none, ...expected });
  });

  it('downloads deltas, and after a whole file one of them is not known', () => {
    const { ask, outcomes } = open();
    const delta = { isDelta: true };
    ask({}, undefined, delta);
    ask({}, undefined, delta);
    expect(outcomes()).toMatchObject({ differential: 2, notKnown: 0 });
    ask({}, undefined);
    expect(outcomes()).toMatchObject({ differential: 1, whole: 0, notKnown: 1 });
    ask({}, undefined, delta);
    expect(outcomes()).toMatchObject({ differential: 1, whole: 0, notKnown: 2 });
  });

  it('downloads a file without blocks in parts, and a part twice is not known', () => {
    const { ask, outcomes } = open();
    const file = { hasBlocks: false };
    for (const range of ['bytes=0-499999', 'bytes=500000-']) ask({}, range, file);
    expect(outcomes()).toMatchObject({ whole: 1, notKnown: 0 });
    ask({}, 'bytes=0-499999', file);
    expect(outcomes()).toMatchObject({ whole: 1, notKnown: 1 });
  });

  it('counts again after ten minutes, and on each day of requests without a pause', () => {
    const { ask, clock, outcomes } = open();
    ask({}, 'bytes=0-9');
    ask({}, 'bytes=0-9');
    expect(outcomes()).toMatchObject({ differential: 0, notKnown: 1 });
    for (let minutes = 0; minutes < 24 * 60; minutes += 5) {
      clock.advance(5 * MINUTE);
      ask({}, 'bytes=0-9');
    }
    expect(outcomes()).toMatchObject({ differential: 0, notKnown: 2 });
    clock.advance(10 * MINUTE);
    ask({}, 'bytes=0-9');
    expect(outcomes()).toMatchObject({ differential: 1, notKnown: 2 });
  });
});

describe('any clients in any order', () => {
  const kinds = ['differential', 'whole', 'fallback', 'resumed'] as const;
  /** All differential downloads fetch the head of the file, which changes with each version. */
  const client = fc.record({
    kind: fc.constantFrom(...kinds),
    starts: fc.uniqueArray(fc.integer({ min: 1, max: 900 }), { maxLength: 5 }),
  });
  const rangesOf = ({ kind, starts }: { kind: (typeof kinds)[number]; starts: number[] }) => {
    const parts = [0, ...starts.toSorted((a, b) => a - b)].map(
      (start) => `bytes=${start * 1_000}-${start * 1_000 + 999}`,
    );
    switch (kind) {
      case 'differential':
        return parts;
      case 'fallback':
        return [...parts, undefined];
      case 'resumed':
        return [undefined, `bytes=${(starts[0] ?? 1) * 1_000}-`];
      case 'whole':
        return [undefined];
    }
  };
  const run = fc.record({
    clients: fc.array(client, { minLength: 1, maxLength: 6 }),
    order: fc.infiniteStream(fc.nat()),
  });
  const replay = (
    {
      clients,
      order,
    }: { clients: { kind: (typeof kinds)[number]; starts: number[] }[]; order: Iterable<number> },
    naming: Naming,
  ) => {
    const { ask, outcomes } = open();
    const waiting = clients.map((each, n) => ({ n, left: rangesOf(each) }));
    const turns = order[Symbol.iterator]();
    for (
      let rest = waiting;
      rest.length > 0;
      rest = waiting.filter(({ left }) => left.length > 0)
    ) {
      const turn = rest[Number(turns.next().value) % rest.length];
      if (turn !== undefined) ask(naming(turn.n), turn.left.shift());
    }
    const number = (kind: string) => clients.filter((each) => each.kind === kind).length;
    const truth = {
      differential: number('differential'),
      whole: number('whole') + number('resumed') + number('fallback'),
      fallback: number('fallback'),
    };
    return { seen: outcomes(), truth };
  };

  it.each(NAMED.slice(0, 3))('are counted exactly with %s', (_, naming) => {
    fc.assert(
      fc.property(run, (each) => {
        const { seen, truth } = replay(each, naming);
        expect(seen).toMatchObject({ ...truth, notKnown: 0 });
      }),
    );
  });

  it('are counted exactly or not known when nothing tells them apart', () => {
    fc.assert(
      fc.property(run, (each) => {
        const { seen, truth } = replay(each, nothing);
        if (seen.notKnown === 0) expect(seen).toMatchObject(truth);
        expect(seen.differential).toBeLessThanOrEqual(truth.differential);
        expect(seen.whole).toBeLessThanOrEqual(truth.whole);
        expect(seen.fallback).toBe(0);
      }),
    );
  });
});
