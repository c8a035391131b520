import type { Adoption } from '../../../../src/features/console/answers.ts';
import { before } from './fixture-releases.ts';

/** Counts of six weeks, as an application with regular releases has them. */

const DAY = 86_400_000;

const wave = (index: number, from: number, to: number) =>
  Math.round(Math.max(0, from + (to - from) * index) * (1 + 0.08 * Math.sin(index * 40)));

export function adoptionOf(count: number): Adoption {
  const days = Array.from({ length: count }, (_, index) =>
    before((count - index) * DAY).slice(0, 10),
  );
  const at = (from: number, to: number) => days.map((_, index) => wave(index / count, from, to));
  const rows = [
    ['2.7.1', at(2_000, 24_000)],
    ['2.6.3', at(19_000, 6_000)],
    ['2.8.0', at(-9_000, 7_000)],
    ['2.5.1', at(6_000, 2_000)],
    ['2.4.0', at(2_500, 1_500)],
    ['2.0.0', at(1_500, 900)],
    ['2.8.0-beta.3', at(100, 500)],
    ['unstated', at(200, 260)],
    ['other', at(600, 300)],
  ] as const;
  const sum = (values: readonly number[]) => values.reduce((one, other) => one + other, 0);
  const checks = sum(rows.map(([, values]) => sum(values)));
  const totalsByDay = days.map((_, index) => {
    const of = sum(rows.map(([, values]) => values[index] ?? 0));
    return { checks: of, offers: Math.round(of / 9), links: Math.round(of / 11) };
  });
  return {
    application: 'desktop',
    days,
    channels: ['stable', 'beta', 'nightly'],
    totals: { checks, offers: Math.round(checks / 9), links: Math.round(checks / 11) },
    totalsByDay,
    now: [
      { version: '2.7.1', share: 0.572 },
      { version: '2.8.0', share: 0.181 },
      { version: 'other', share: 0.247 },
    ],
    versions: rows.map(([version, checksByDay]) => ({
      version,
      checks: sum(checksByDay),
      offers: Math.round(sum(checksByDay) / 9),
      links: Math.round(sum(checksByDay) / 11),
      share: sum(checksByDay) / checks,
      checksByDay,
    })),
    platforms: [
      { name: 'windows-x64', checks: Math.round(checks * 0.61), share: 0.61 },
      { name: 'macos-arm64', checks: Math.round(checks * 0.24), share: 0.24 },
      { name: 'linux-x64', checks: Math.round(checks * 0.11), share: 0.11 },
      { name: 'windows-arm64', checks: Math.round(checks * 0.04), share: 0.04 },
    ],
    countedSince: before(count * DAY),
    countedUntil: before(1_800_000),
    problems: [],
  };
}
