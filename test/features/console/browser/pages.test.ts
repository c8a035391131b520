import { describe, expect, it } from 'vitest';
import { joinPages } from '../../../../src/features/console/browser/screens/history-pages.ts';
import { waitAfter } from '../../../../src/features/console/browser/state/polled.ts';
import { historyOf } from './fixture-reports.ts';

describe('what the console keeps and asks', () => {
  it('joins pages of the history: each revision once, newest first', () => {
    const first = historyOf(128, null);
    const second = historyOf(128, first.next);
    const joined = joinPages(first.entries, [...second.entries, ...first.entries.slice(-3)]);
    const revisions = joined.map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((one, other) => other - one));
    expect(joined).toHaveLength(first.entries.length + second.entries.length);
  });

  it('asks less often while requests fail', () => {
    expect([0, 1, 2, 3, 9].map(waitAfter)).toEqual([3_000, 6_000, 12_000, 24_000, 30_000]);
  });
});
