import type {
  ArtifactDetail,
  OverviewRelease,
  ReleaseDetail,
  RolloutDetail,
  Seen,
} from '../../../../src/features/console/answers.ts';
import { before, HOSTILE } from './fixture-releases.ts';

const DAY = 86_400_000;
const hex = (text: string, length: number) =>
  Buffer.from(text.repeat(length)).toString('hex').slice(0, length);

const FORMATS: Readonly<Record<string, string>> = {
  windows: 'nsis',
  macos: 'dmg',
  linux: 'appimage',
};

function artifactOf(version: string, target: string): ArtifactDetail {
  const [platform = '', arch = ''] = target.split('-');
  const format = FORMATS[platform] ?? 'zip';
  return {
    platform,
    arch,
    format,
    filename: `Desktop-${version}-${arch}.${format}`,
    size: 81_788_928 + arch.length * 1_234_567,
    sha256: hex(target, 64),
    sha512: Buffer.from(target.repeat(9)).toString('base64').slice(0, 88),
    minimumOsVersion: platform === 'macos' ? '12.0' : null,
    signatures:
      platform === 'linux'
        ? []
        : [{ scheme: 'tauri-minisign', keyId: 'E7620F1842B4E81F', value: hex(`s${target}`, 120) }],
    companions:
      platform === 'windows'
        ? [{ kind: 'blockmap', filename: `Desktop-${version}.exe.blockmap`, size: 91_000 }]
        : [],
  };
}

const planPoints = (): RolloutDetail['points'] => [
  { at: before(1 * DAY), share: 500 },
  { at: before(0.5 * DAY), share: 2_550 },
  { at: before(-1 * DAY), share: 5_000 },
  { at: before(-2 * DAY), share: 10_000 },
];

const rolloutOf = (cell: OverviewRelease['cells'][number]): RolloutDetail[] =>
  cell.status === 'draft'
    ? []
    : [
        {
          channel: cell.channel,
          status: cell.status,
          plan: cell.share < 10_000 ? '5%@0h,25.5%@12h,50%@2d,100%@3d' : null,
          freezeWindows: cell.share < 10_000 ? ['Fri 16:00..Mon 08:00 Europe/Berlin'] : [],
          share: cell.share,
          isFrozen: cell.isFrozen,
          isLinear: false,
          interruptedAt: null,
          points: cell.share < 10_000 ? planPoints() : [{ at: before(20 * DAY), share: 10_000 }],
          stages: cell.share < 10_000 ? planPoints() : [],
          counts:
            cell.channel === 'nightly'
              ? null
              : {
                  days: 7,
                  checks: 1_284_092,
                  checksOnVersion: 208_113,
                  recentChecks: 400_000,
                  recentChecksOnVersion: 96_000,
                  offers: 41_022,
                  links: 38_551,
                  downloads: {
                    all: 3_204,
                    differential: 2_960,
                    whole: 231,
                    fallback: 12,
                    resumed: 13,
                    notKnown: 4,
                  },
                  mostlyWhole: [],
                  countedUntil: before(1_800_000),
                },
        },
      ];

const MARKDOWN = `# What is new

- **Faster start**: the window appears in half the time.
- Fixes *lost settings* after an update.

See [the documentation](https://example.com/docs).`;
const HTML = `<h1>What is new</h1><ul><li><strong>Faster start</strong>: the window appears in half the time.</li><li>Fixes <em>lost settings</em> after an update.</li></ul><p>See <a href="https://example.com/docs" rel="noreferrer">the documentation</a>.</p>`;

export function detailOf(seen: Seen, release: OverviewRelease): ReleaseDetail {
  const { version, cells } = release;
  return {
    ...seen,
    application: 'desktop',
    version,
    name: version === '2.8.0' ? 'Autumn' : null,
    releasedAt: release.releasedAt,
    manifest: 3,
    requires: null,
    mandatoryFor: null,
    endsNative: [],
    provenance: {
      commit: '4f9c1d0b7a35e8c2f6d1907bb3e5a4c8d2f01e6a',
      buildUrl: 'https://ci.example.com/desktop/builds/48211',
    },
    notes: [
      { locale: 'en', markdown: MARKDOWN, html: HTML },
      { locale: 'de', markdown: '# Neu\n\nSchneller.', html: '<h1>Neu</h1><p>Schneller.</p>' },
      { locale: 'ar', markdown: `جديد ${HOSTILE}`, html: '<p>جديد: أسرع</p>' },
    ],
    artifacts: release.targets.map((target) => artifactOf(version, target)),
    signedDocuments: ['appcast.xml'],
    isOfferedNow: release.isOfferedNow,
    cells,
    rollouts: cells.flatMap(rolloutOf),
    rollbackTargets: cells
      .filter(({ status }) => status !== 'draft')
      .map(({ channel }) => ({ channel, versions: ['2.7.1', '2.6.3', '2.6.2'] })),
  };
}
