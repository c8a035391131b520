import { describe, expect, it } from 'vitest';
import { createMemoryBudget } from '../../../src/server/limits/memory-budget.ts';

describe('the memory budget', () => {
  function setUp() {
    const cut: string[] = [];
    const holder = (name: string, sendingRate?: number) => ({
      heldBytes: 0,
      isStalled: false,
      stalledMs: 0,
      isAwaited: sendingRate !== undefined,
      sendingRate,
      cut: () => void cut.push(name),
    });
    return { budget: createMemoryBudget({ bytesMax: 100 }), holder, cut };
  }

  it('refuses when it is used up, and accepts again after a release', () => {
    const { budget, holder } = setUp();
    const [a, b] = [holder('a'), holder('b')];
    expect(budget.reserve(a, 60)).toBe(true);
    expect(budget.reserve(b, 60)).toBe(false);
    expect(budget.reserve(b, 40)).toBe(true);
    budget.release(a, 20);
    expect([budget.heldBytes(), a.heldBytes]).toEqual([80, 40]);
    budget.release(a);
    budget.release(a);
    budget.release(b, 1_000);
    expect(budget.heldBytes()).toBe(0);
  });

  it('takes memory from stalled holders only', () => {
    const { budget, holder, cut } = setUp();
    const [reading, stalled, asking] = [holder('reading'), holder('stalled'), holder('asking')];
    budget.reserve(reading, 50);
    budget.reserve(stalled, 50);
    expect(budget.reserve(asking, 10)).toBe(false);
    expect(cut).toEqual([]);
    stalled.isStalled = true;
    expect(budget.reserve(asking, 10)).toBe(true);
    expect(cut).toEqual(['stalled']);
    expect(budget.reserve(asking, 60)).toBe(false);
    expect(budget.heldBytes()).toBe(60);
  });

  it('takes memory from unfinished requests, the slowest first, and from stalled ones before them', () => {
    const { budget, holder, cut } = setUp();
    const [reading, fast, slow] = [holder('reading'), holder('fast', 2_000), holder('slow', 3)];
    const [stalled, asking] = [holder('stalled'), holder('asking')];
    for (const each of [reading, fast, slow, stalled]) budget.reserve(each, 25);
    stalled.isStalled = true;
    expect(budget.reserve(asking, 20)).toBe(true);
    expect(cut).toEqual(['stalled']);
    expect(budget.reserve(asking, 20)).toBe(true);
    expect(cut).toEqual(['stalled', 'slow']);
    expect(budget.reserve(asking, 25)).toBe(true);
    expect(cut).toEqual(['stalled', 'slow', 'fast']);
    expect(budget.reserve(asking, 25)).toBe(false);
    expect(budget.heldBytes()).toBe(90);
  });

  it('never cuts the holder that requests memory', () => {
    const { budget, holder, cut } = setUp();
    const only = holder('only');
    budget.reserve(only, 90);
    only.isStalled = true;
    expect(budget.reserve(only, 20)).toBe(false);
    expect(cut).toEqual([]);
  });
});
