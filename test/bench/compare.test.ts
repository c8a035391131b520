import { describe, expect, it } from 'vitest';
import { compare, comparedTable } from '../../scripts/bench/compare.ts';
import { renderTable } from '../../scripts/bench/table.ts';

const QUICK = { seconds: 0.02, progress: () => {} };
const values = (...all: readonly number[]) => {
  return async (pair: number) => all[pair % all.length] ?? Number.NaN;
};

describe('a comparison', () => {
  it('ends when the interval is narrow', async () => {
    const pair = { name: 'same', service: values(30, 30.5), baseline: values(20) };
    const compared = await compare({ ...QUICK, seconds: 60 }, pair);
    expect(compared).toMatchObject({ pairs: 6, interval: { low: 1.5, high: 1.525 } });
    expect(compared.ratio).toBeCloseTo(1.5125);
  });

  it.each([
    ['held', 1, 8],
    ['**missed**', 3, 8],
  ])('ends when a target is %s for sure', async (verdict, factor, pairs) => {
    const service = values(1 * factor, 1.15 * factor, 1.1 * factor);
    const pair = { name: 'one', service, baseline: values(1), limit: { max: 2 } };
    const compared = await compare({ ...QUICK, seconds: 60 }, pair);
    expect(compared.pairs).toBe(pairs);
    const text = renderTable(comparedTable('', 'µs', [compared], []));
    expect(text).toContain(`| ${pairs}     | ≤ 2 ×: ${verdict}`);
  });

  it('ends when its time is over, and says that it is not sure', async () => {
    const pair = {
      name: 'noisy',
      service: values(1, 4, 2, 3, 1.9, 2.2),
      baseline: values(1),
      limit: { max: 2 },
    };
    const compared = await compare(QUICK, pair);
    expect(compared.pairs).toBeGreaterThanOrEqual(6);
    expect(renderTable(comparedTable('', 'µs', [compared], []))).toContain('≤ 2 ×: not sure');
  });

  it('gives both subjects each place of a pair equally often', async () => {
    const order: string[] = [];
    const subject = (name: string) => async (pair: number) => {
      order.push(name);
      return 1 + (pair % 3);
    };
    const pair = { name: 'order', service: subject('service'), baseline: subject('baseline') };
    await compare(QUICK, pair);
    expect(order.slice(0, 6)).toEqual([
      'service',
      'baseline',
      'baseline',
      'service',
      'service',
      'baseline',
    ]);
  });
});
