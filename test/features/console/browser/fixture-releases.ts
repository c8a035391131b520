import type {
  Overview,
  OverviewChannel,
  OverviewRelease,
  ReleaseOnChannel,
  Seen,
} from '../../../../src/features/console/answers.ts';

/** Believable releases for the screens of the console. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** @param ms before now; negative: later */
export const before = (ms: number, now = Date.now()): string => new Date(now - ms).toISOString();

const TARGETS = ['linux-arm64', 'linux-x64', 'macos-universal', 'windows-arm64', 'windows-x64'];

const CHANNELS: readonly OverviewChannel[] = [
  { name: 'stable', inherits: null, newest: '2.7.1', keep: 20, expect: TARGETS },
  { name: 'beta', inherits: 'stable', newest: '2.8.0-beta.3', keep: null, expect: ['windows-x64'] },
  { name: 'nightly', inherits: null, newest: null, keep: 5, expect: [] },
];

const cellOn = (channel: string, change: Partial<ReleaseOnChannel> = {}): ReleaseOnChannel => ({
  channel,
  status: 'active',
  reason: null,
  share: 10_000,
  isFrozen: false,
  completeAt: null,
  replacement: null,
  missing: [],
  ...change,
});

const release = (
  version: string,
  days: number,
  cells: readonly ReleaseOnChannel[],
  change: Partial<OverviewRelease> = {},
): OverviewRelease => ({
  version,
  releasedAt: before(days * DAY),
  targets: TARGETS,
  mandatoryFor: null,
  requires: null,
  isOfferedNow: false,
  cells,
  ...change,
});

const NOW_OFFERED = { isOfferedNow: true };

/** The newest ones, in every state that a release can be in. */
function newest(): readonly OverviewRelease[] {
  return [
    release(
      '2.9.0',
      0.02,
      [cellOn('stable', { status: 'draft', share: 0, missing: ['windows-arm64'] })],
      {
        targets: TARGETS.filter((target) => target !== 'windows-arm64'),
      },
    ),
    release(
      '2.9.0-nightly.20261123',
      0.3,
      [cellOn('nightly', { share: 5_000, isFrozen: true })],
      NOW_OFFERED,
    ),
    release(
      '2.8.0',
      1,
      [cellOn('stable', { share: 2_550, completeAt: before(-2 * DAY) }), cellOn('beta')],
      NOW_OFFERED,
    ),
    release('2.8.0-beta.3', 6, [
      cellOn('beta', { replacement: { version: '2.8.0', isComplete: true } }),
    ]),
    release('2.7.2', 9, [
      cellOn('stable', {
        status: 'paused',
        share: 1_000,
        reason: 'crashes at start on Windows 10 before 22H2',
      }),
    ]),
    release('2.7.1', 14, [cellOn('stable')], NOW_OFFERED),
    release('2.7.0', 16, [cellOn('stable', { status: 'yanked', reason: 'loses the settings' })]),
  ];
}

/** @param total how many releases */
export function releasesOf(total: number): readonly OverviewRelease[] {
  const first = newest();
  const older = Array.from({ length: Math.max(0, total - first.length) }, (_, index) => {
    const left = total - first.length - index;
    const version = `2.${Math.floor(left / 4)}.${left % 4}`;
    const replaced = { replacement: { version: '2.7.1', isComplete: true } };
    const cells = [
      cellOn('stable', replaced),
      ...(index % 5 === 0 ? [cellOn('beta', replaced)] : []),
    ];
    return release(`${version}${index % 7 === 3 ? '-rc.1' : ''}+${left}`, 20 + index * 9, cells);
  });
  return [...first, ...older].slice(0, total);
}

export const seenNow = (revision: number, change: Partial<Seen> = {}): Seen => ({
  revision,
  revisionAt: before(3 * 60_000),
  revisionBy: 'ada@build-7',
  readAt: before(1_000),
  problem: null,
  now: before(0),
  ...change,
});

export const overviewOf = (seen: Seen, releases: readonly OverviewRelease[]): Overview => ({
  ...seen,
  application: 'desktop',
  displayName: 'Acme <b>Notes',
  channels: CHANNELS,
  releases,
  attention:
    releases.length === 0
      ? []
      : [
          {
            kind: 'missing',
            severity: 'critical',
            sentence: 'stable holds 2.9.0 back: it lacks windows-arm64, for 29 minutes now.',
            version: '2.9.0',
            channel: 'stable',
          },
          {
            kind: 'paused',
            severity: 'warning',
            sentence:
              '2.7.2 is paused on stable since 9 days: crashes at start on Windows 10 before 22H2',
            version: '2.7.2',
            channel: 'stable',
          },
          {
            kind: 'frozen',
            severity: 'warning',
            sentence: 'The rollout of 2.9.0-nightly.20261123 on nightly is frozen at 50 %.',
            version: '2.9.0-nightly.20261123',
            channel: 'nightly',
          },
          {
            kind: 'rolling_out',
            severity: 'info',
            sentence: '2.8.0 is rolling out on stable: 25.5 % now, everyone in 2 days.',
            version: '2.8.0',
            channel: 'stable',
          },
          {
            kind: 'yanked_newest',
            severity: 'info',
            sentence: '2.7.0 was yanked 15 days ago.',
            version: '2.7.0',
            channel: 'stable',
          },
        ],
});

/** Texts that a hostile publisher chooses. */
export const HOSTILE = '<img src=x onerror="window.hacked=1">\u202Egpj.exe';
export const LONG_VERSION = `2.9.9-${'a-very-long-identifier.'.repeat(6)}1`;
export const hostileReleases = (): readonly OverviewRelease[] => [
  release(LONG_VERSION, 1, [cellOn('stable', { status: 'paused', reason: HOSTILE })]),
  ...releasesOf(10),
];
