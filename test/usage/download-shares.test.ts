import { describe, expect, it } from 'vitest';
import type { Release } from '../../src/domain/release.ts';
import { addCounts, noCounts, subtractCounts } from '../../src/usage/counts.ts';
import { findMostlyWhole, outcomesOf } from '../../src/usage/download-shares.ts';

const downloads = (
  whole: number,
  differential: number,
  resumed = 0,
  fallback = 0,
  notKnown = 0,
) => ({
  whole,
  differential,
  resumed,
  fallback,
  ...(notKnown === 0 ? {} : { not_known: notKnown }),
});

it('a differential download that failed counts as whole, once', () => {
  expect(outcomesOf(downloads(3, 10, 2, 4))).toEqual({
    all: 15,
    differential: 6,
    whole: 7,
    fallback: 4,
    resumed: 2,
    notKnown: 0,
  });
});

it('a download that is not known is neither differential nor whole', () => {
  expect(outcomesOf(downloads(3, 10, 2, 4, 8))).toEqual({
    all: 7,
    differential: 0,
    whole: 5,
    fallback: 2,
    resumed: 2,
    notKnown: 8,
  });
});

describe('a platform is mostly downloaded whole', () => {
  const release = (platform: string, kind: string) =>
    ({ artifacts: [{ platform, companions: [{ kind }] }] }) as unknown as Release;
  const find = (kind: string, ...counts: Parameters<typeof downloads>) =>
    findMostlyWhole(release('windows', kind), [
      { name: 'windows', downloads: downloads(...counts) },
      { name: 'linux', downloads: downloads(1_000, 0) },
      { name: 'macos' },
    ]);

  it.each([
    ['blockmap', [11, 9, 0, 0], true],
    ['blockmap', [10, 10, 0, 0], false],
    ['blockmap', [8, 12, 0, 3], true],
    ['delta', [30, 1, 0, 0], true],
    ['zsync', [30, 1, 0, 0], false],
    ['blockmap', [19, 0, 0, 0], false],
    ['blockmap', [20, 19, 0, 0, 19], true],
    ['blockmap', [20, 20, 0, 0, 20], false],
  ] as const)('with a %s and the downloads %j: %s', (kind, counts, isFound) => {
    expect(find(kind, ...(counts as unknown as Parameters<typeof downloads>))).toEqual(
      isFound ? ['windows'] : [],
    );
  });
});

it('counts of downloads are added and subtracted, and never below zero', () => {
  const sum = noCounts();
  addCounts(sum, { checks: 1, offers: 2, links: 3 });
  expect(sum).toEqual({ checks: 1, offers: 2, links: 3 });
  addCounts(sum, { checks: 0, offers: 0, links: 1, downloads: downloads(1, 2, 3, 1) });
  addCounts(sum, { checks: 0, offers: 0, links: 1, downloads: downloads(1, 0) });
  expect(sum.downloads).toEqual(downloads(2, 2, 3, 1));
  const before = { checks: 0, offers: 0, links: 9, downloads: downloads(1, 5) };
  expect(subtractCounts(sum, before)).toEqual({
    checks: 1,
    offers: 2,
    links: 0,
    downloads: downloads(1, 0, 3, 1),
  });
  addCounts(sum, { checks: 0, offers: 0, links: 2, downloads: downloads(0, 2, 0, 0, 2) });
  addCounts(sum, { checks: 0, offers: 0, links: 1, downloads: downloads(0, 1, 0, 0, 1) });
  expect(sum.downloads).toEqual(downloads(2, 5, 3, 1, 3));
  const later = { checks: 0, offers: 0, links: 0, downloads: downloads(0, 0, 0, 0, 1) };
  expect(subtractCounts(sum, later).downloads).toEqual(downloads(2, 5, 3, 1, 2));
});
