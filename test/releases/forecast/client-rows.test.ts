import { expect, it } from 'vitest';
import type { ChannelJson } from '../../../src/catalog/documents/revision-document.ts';
import { clientRows, targetsText } from '../../../src/releases/forecast/client-rows.ts';
import { changedAnswers } from '../../../src/releases/forecast/difference-text.ts';
import { foreseeChanges } from '../../../src/releases/forecast/foresee-changes.ts';
import { offerJson } from '../offer-json.ts';

const EVERY = [
  ...(['x64', 'arm64'] as const).flatMap((arch) => [
    { os: 'windows' as const, arch, format: 'nsis' as const },
    { os: 'macos' as const, arch, format: 'zip' as const },
    { os: 'macos' as const, arch, format: 'dmg' as const },
    { os: 'linux' as const, arch, format: 'appimage' as const },
  ]),
];
type Build = (typeof EVERY)[number];

function channel(builds: Readonly<Record<string, readonly Build[]>>): ChannelJson {
  const offers = Object.entries(builds).map(([version, of]) => offerJson(version, [...of]));
  return { inherits: null, offers, retired: [] };
}

/** `stable | all targets | 1.0.0 | nothing newer → 1.1.0` */
function rows(
  before: ChannelJson,
  after: ChannelJson,
  seen: Parameters<typeof foreseeChanges>[2] = [],
): readonly string[] {
  const states = { before: { stable: before }, after: { stable: after } };
  return clientRows(foreseeChanges(states, 0, seen), changedAnswers, states).map(
    ({ channel: name, targets, installed, gets }) =>
      [name, targets.join(', '), installed, gets.join(' → ')].join(' | '),
  );
}

it('makes one row for all targets; only new visitors get disk images', () => {
  const [after, before] = [{ '1.0.0': EVERY, '1.1.0': EVERY }, { '1.0.0': EVERY }];
  expect(rows(channel(before), channel(after))).toEqual([
    'stable | all targets | 1.0.0 | nothing newer → 1.1.0',
    'stable | all targets | older than 1.0.0 | 1.0.0 → 1.1.0',
    'stable | all targets | new visitors | 1.0.0 → 1.1.0',
  ]);
});

it('names the targets when only some of them get the same', () => {
  const windows = EVERY.filter(({ os }) => os === 'windows');
  expect(rows(channel({ '1.0.0': EVERY }), channel({ '1.0.0': EVERY, '1.1.0': windows }))).toEqual([
    'stable | windows-arm64 nsis, windows-x64 nsis | 1.0.0 | nothing newer → 1.1.0',
    'stable | windows-arm64 nsis, windows-x64 nsis | older than 1.0.0 | 1.0.0 → 1.1.0',
    'stable | windows-arm64 nsis, windows-x64 nsis | new visitors | 1.0.0 → 1.1.0',
  ]);
  expect(targetsText(['a', 'b', 'c'])).toBe('a, b, c');
  expect(targetsText(['a', 'b', 'c', 'd'])).toBe('a and 3 more');
});

it('keeps disk images where macOS has no other build', () => {
  const [dmg] = EVERY.filter(({ format }) => format === 'dmg');
  const builds = dmg === undefined ? [] : [dmg];
  expect(rows(channel({ '1.0.0': builds }), channel({ '1.0.0': builds, '1.1.0': builds }))).toEqual(
    [
      'stable | macos-x64 dmg | 1.0.0 | nothing newer → 1.1.0',
      'stable | macos-x64 dmg | older than 1.0.0 | 1.0.0 → 1.1.0',
      'stable | macos-x64 dmg | new visitors | 1.0.0 → 1.1.0',
    ],
  );
});

it('states the smallest and the largest share of the platforms in a row', () => {
  const checks = (platform: string, version: string, count: number) => ({
    ...{ channel: 'stable', platform, version, checks: count },
  });
  const seen = [
    ...[checks('windows', '1.0.0', 80), checks('windows', '0.9.0', 20)],
    ...[checks('linux', '1.0.0', 50), checks('linux', '0.9.0', 50)],
  ];
  const [after, before] = [{ '1.0.0': EVERY, '1.1.0': EVERY }, { '1.0.0': EVERY }];
  expect(rows(channel(before), channel(after), seen)).toEqual([
    'stable | all targets | 1.0.0 (50.0% to 80.0% of checks) | nothing newer → 1.1.0',
    'stable | all targets | 0.9.0 and older (20.0% to 50.0% of checks) | 1.0.0 → 1.1.0',
    'stable | all targets | new visitors | 1.0.0 → 1.1.0',
  ]);
});
