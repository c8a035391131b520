import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  inCutOrder,
  measureSending,
  type Sending,
} from '../../../src/server/limits/slow-sender.ts';

describe('how fast a client sends its request', () => {
  /** @param perSecond the bytes of each second, from the second in which the request began */
  const rateOf = (perSecond: readonly number[]): number | undefined => {
    let bytes = 0;
    let sending: Sending | undefined;
    for (const more of perSecond) {
      bytes += more;
      sending = measureSending(sending, { phase: 0, bytes });
    }
    return sending?.rate;
  };

  it('is unknown in its first second', () => {
    expect(rateOf([60_000])).toBeUndefined();
    expect(rateOf([60_000, 5])).toBe(5);
  });

  it('falls when a client sends much and then a byte a second', () => {
    const drip = rateOf([30_000, 30_000, 1, 1, 1, 1, 1, 1, 1, 1]) ?? 0;
    const steady = rateOf([500, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000]);
    expect(drip).toBeLessThan(steady ?? 0);
  });

  it('is not zero after a pause of three seconds', () => {
    expect(rateOf([500, 500, 500, 0, 0, 0])).toBeGreaterThan(200);
  });

  it('begins again with the next request', () => {
    const one = { phase: 0, bytes: 900, rate: 50 };
    expect(measureSending(one, { phase: 1, bytes: 901 })).toEqual({
      phase: 1,
      bytes: 901,
      rate: undefined,
    });
  });
});

describe('which client loses its place', () => {
  const sender = (
    name: string,
    sendingRate: number | undefined,
    isAwaited = true,
    stalledMs = 0,
  ) => ({
    name,
    sendingRate,
    isAwaited,
    isStalled: name.startsWith('stalled'),
    stalledMs,
  });

  it('one that stopped reading, the slowest, then clients that were not measured yet, then those that make progress', () => {
    const order = inCutOrder([
      sender('honest', 60),
      sender('drip', 1),
      sender('answered', 0, false),
      sender('old 1', undefined),
      sender('fast', 5_000),
      sender('idle', 0),
      sender('old 2', undefined),
      sender('new 1', undefined),
      sender('stalled', 5_000, false),
      sender('new 2', undefined),
      sender('stalled with a body', undefined),
    ]);
    expect(order.map(({ name }) => name)).toEqual([
      'stalled with a body',
      'stalled',
      'idle',
      'drip',
      'old 2',
      'old 1',
      'honest',
      'fast',
      'new 1',
      'new 2',
    ]);
  });

  it('of clients that stopped reading, the longest ago; of several that stopped together, the newest', () => {
    const stalled = (name: string, ms: number) => sender(`stalled ${name}`, undefined, false, ms);
    const order = inCutOrder([
      stalled('reads in steps', 10_000),
      stalled('attacker 1', 20_000),
      stalled('attacker 2', 20_000),
      stalled('attacker 3', 15_000),
    ]);
    expect(order.map(({ name }) => name)).toEqual([
      'stalled attacker 2',
      'stalled attacker 1',
      'stalled attacker 3',
      'stalled reads in steps',
    ]);
  });

  it('a measured client is never before one that is slower, and none is lost or answered', () => {
    const senders = fc.array(
      fc.record({
        sendingRate: fc.option(fc.nat(10_000), { nil: undefined }),
        isAwaited: fc.boolean(),
        isStalled: fc.boolean(),
        stalledMs: fc.nat(100_000),
      }),
    );
    fc.assert(
      fc.property(senders, (given) => {
        const order = inCutOrder(given);
        const rates = order.flatMap(({ isStalled, sendingRate }) =>
          isStalled ? [] : (sendingRate ?? []),
        );
        expect(rates).toEqual([...rates].sort((a, b) => a - b));
        expect(order).toHaveLength(new Set(order).size);
        expect(new Set(order)).toEqual(
          new Set(given.filter(({ isAwaited, isStalled }) => isAwaited || isStalled)),
        );
      }),
    );
  });
});
