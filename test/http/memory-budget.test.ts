import { describe, expect, it } from 'vitest';
import { createMemoryBudget } from '../../src/http/memory-budget.ts';

describe('the memory that clients may hold', () => {
  function setUp() {
    const clock = { now: () => at };
    let at = 0;
    const wait = (ms: number): void => {
      at += ms;
    };
    const cut: string[] = [];
    const holder = (name: string) => ({
      heldBytes: 0,
      heldSince: 0,
      cut: () => void cut.push(name),
    });
    const budget = createMemoryBudget({ bytesMax: 100, clock });
    return { budget, holder, cut, wait };
  }

  it('is refused when it is used up, and there again when it is released', () => {
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

  it('is taken from those that have held theirs for ten seconds, and from no other', () => {
    const { budget, holder, cut, wait } = setUp();
    const [old, young, asking] = [holder('old'), holder('young'), holder('asking')];
    budget.reserve(old, 50);
    wait(9_000);
    budget.reserve(young, 50);
    expect(budget.reserve(asking, 10)).toBe(false);
    expect(cut).toEqual([]);
    wait(1_000);
    expect(budget.reserve(asking, 10)).toBe(true);
    expect(cut).toEqual(['old']);
    expect(budget.reserve(asking, 60)).toBe(false);
    expect(budget.heldBytes()).toBe(60);
  });

  it('is never taken from the one that asks', () => {
    const { budget, holder, cut, wait } = setUp();
    const only = holder('only');
    budget.reserve(only, 90);
    wait(60_000);
    expect(budget.reserve(only, 20)).toBe(false);
    expect(cut).toEqual([]);
  });
});
