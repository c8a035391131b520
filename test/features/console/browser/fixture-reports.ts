import type {
  ClientRow,
  DifferenceRow,
  Doctor,
  Explained,
  History,
  HistoryEntry,
  SimulatedRollout,
} from '../../../../src/features/console/answers.ts';
import { before, HOSTILE } from './fixture-releases.ts';

const DAY = 86_400_000;

export const DIFFERENCES: readonly DifferenceRow[] = [
  { sign: '-', channel: 'stable', what: '2.8.0', detail: 'no longer offered' },
  { sign: '~', channel: 'stable', what: '2.7.1', detail: 'newest for everyone' },
  { sign: '+', channel: 'beta', what: '2.8.0-beta.3', detail: 'offered to everyone' },
];

export const CLIENTS: readonly ClientRow[] = [
  {
    channel: 'stable',
    target: 'windows-x64 nsis',
    installed: '2.0.0 to 2.7.0',
    before: '2.8.0',
    after: '2.7.1',
  },
  {
    channel: 'stable',
    target: 'linux-x64 appimage',
    installed: '2.0.0 to 2.7.0',
    before: '2.8.0',
    after: '2.7.1',
  },
];

/** A release without an obstacle but its rollout. */
const considered = (
  version: string,
  rollout: { readonly percentage: number; readonly result: 'passed' | 'failed' },
): Explained['explanation']['releases'][number] => ({
  version,
  channel: 'stable',
  outcome: rollout.result === 'passed' ? 'offer' : 'held_by_rollout',
  status_reason: null,
  rules: [
    {
      rule: 'platform',
      result: 'passed',
      builds: ['windows-x64'],
      runs: ['windows-x64', 'windows-universal'],
    },
    { rule: 'native_build', result: 'passed', missing_arch: null, built_in: null },
    {
      rule: 'format',
      result: 'passed',
      available: ['nsis'],
      wanted: null,
      signature_scheme: null,
    },
    { rule: 'os_version', result: 'not_checked', minimums: [], stated: null, checked_by: 'server' },
    { rule: 'status', result: 'passed', status: 'active' },
    {
      rule: 'rollout',
      bucket: 3268,
      needed_percentage: 32.69,
      reaches_at: null,
      frozen_by: null,
      plan: null,
      is_linear: false,
      planned: [],
      ...rollout,
    },
  ],
});

export const EXPLAINED: Explained = {
  explanation: {
    app: 'desktop',
    channel: 'stable',
    inherits: [],
    catalog_revision: 128,
    revision_at: before(0),
    at: before(0),
    is_forecast: false,
    unreadable_revisions: [],
    reason: 'offer',
    version: '2.7.1',
    offered_by: 'stable',
    artifact: { platform: 'windows', arch: 'x64', format: 'nsis' },
    mandatory: false,
    installed: {
      version: '2.6.3',
      state: 'paused',
      channel: 'stable',
      status_reason: 'crashes at start',
      also_listed_on: [],
    },
    may_go_back: false,
    early_access: false,
    newest_version: '2.8.0',
    releases: [
      considered('2.8.0', { percentage: 25.5, result: 'failed' }),
      considered('2.7.1', { percentage: 100, result: 'passed' }),
    ],
    releases_omitted: 0,
    passed_over: [],
    open_to_tiers: [],
    drafts: [],
  },
  headline:
    'desktop 2.6.3 on windows-x64 is offered 2.7.1 (windows-x64 nsis) on stable. It is not offered 2.8.0: its rollout is at 25.5 % and has not reached this installation.',
  compared: [
    [
      'the release has windows-x64; the machine runs windows-x64 windows-universal',
      'no older release has a native build that this one lacks',
      'the release has nsis; the client installs the usual formats',
      '',
      'active',
      '25.5 % (buckets 0 to 2549 of 10000); this installation is in bucket 3268; 50 % from tomorrow on',
    ],
    [
      'the release has windows-x64',
      'no older release has a native build that this one lacks',
      'the release has nsis; the client installs the usual formats',
      '',
      'active',
      'every installation is offered it',
    ],
  ],
  isPast: false,
  remarks: [
    '2.6.3, which the client runs, is paused on stable: "crashes at start" (2026-11-22 09:00:00Z, ada@build-7, revision 120). Clients that have it keep it.',
  ],
  remedies: [
    {
      version: '2.8.0',
      failedRules: 1,
      remedies: [
        { text: 'The plan reaches this installation on 2026-11-24 09:00:00Z', command: null },
        {
          text: 'To offer 2.8.0 to 32.69% of the installations at once, which ends the plan',
          command: 'slipway rollout 2.8.0 --channel stable 32.69%',
        },
      ],
    },
  ],
};

const KINDS = ['publish', 'rollout', 'pause', 'resume', 'notes', 'yank', 'promote'] as const;

function entryOf(revision: number, newest: number): HistoryEntry {
  const kind = KINDS[(newest - revision) % KINDS.length] ?? 'publish';
  return {
    revision,
    problem:
      revision === newest - 9
        ? `Revision ${revision} cannot be read: its bytes are corrupt.`
        : null,
    at: before((newest - revision) * 0.4 * DAY + 180_000),
    by: revision % 3 === 0 ? 'grace@laptop' : 'ada@build-7',
    kind,
    version: `2.${Math.floor(revision / 16)}.${revision % 4}`,
    channels: revision % 2 === 0 ? ['stable'] : ['stable', 'beta'],
    targets: kind === 'publish' ? ['linux-x64', 'windows-x64'] : [],
    summary: kind === 'rollout' ? '5 % to 25.5 %' : null,
    reason: kind === 'pause' ? 'crashes at start' : kind === 'yank' ? HOSTILE : null,
  };
}

export function historyOf(newest: number, beforeRevision: number | null): History {
  const first = Math.min(newest, (beforeRevision ?? newest + 1) - 1);
  const entries = Array.from({ length: Math.min(50, first) }, (_, index) =>
    entryOf(first - index, newest),
  );
  const last = first - entries.length;
  return { application: 'desktop', entries, next: last > 0 ? last + 1 : null };
}

export const revisionOf = (revision: number, newest: number) => ({
  ...entryOf(revision, newest),
  differences: DIFFERENCES,
  clients: CLIENTS,
});

/** A share that stays, such as `75%`, has one moment. */
export function simulationOf(plan: string): SimulatedRollout {
  const [, only] = /^(\d+)%$/.exec(plan) ?? [];
  if (only !== undefined) {
    const count = Number(only) * 100;
    const versions = [
      { version: '2.8.0', counts: [count] },
      { version: '2.7.1', counts: [10_000 - count] },
    ];
    const fleet = 'The fleet is made up.';
    return { fleet, installations: 10_000, times: [before(0)], versions, stranded: [] };
  }
  const times = Array.from({ length: 24 }, (_, index) => before(-index * 0.2 * DAY));
  const on = times.map((_, index) => Math.round(Math.min(1, 0.05 + (index / 18) ** 1.6) * 9_600));
  return {
    fleet:
      'The fleet is made up: 10,000 installations, spread as the counts of the last 7 days say.',
    installations: 10_000,
    times,
    versions: [
      { version: '2.8.0', counts: on },
      { version: '2.7.1', counts: on.map((count) => Math.round((9_600 - count) * 0.8)) },
      {
        version: '2.6.3',
        counts: on.map((count) => 9_600 - count - Math.round((9_600 - count) * 0.8)),
      },
      { version: '1.9.0', counts: on.map(() => 400) },
    ],
    stranded: ['400 installations stay on 1.9.0: no release has a build for windows-ia32.'],
  };
}

export const DOCTOR: Doctor = {
  store: 's3://releases',
  checks: [
    {
      name: 'create if absent',
      outcome: 'ok',
      sentence: 'Of 20 writers that raced for one key, one won.',
      remedy: null,
    },
    {
      name: 'private objects',
      outcome: 'failed',
      sentence: 'An anonymous GET of accounts/probe succeeded.',
      remedy: 'Remove the public read policy of the bucket for everything except downloads.',
    },
    {
      name: 'clock',
      outcome: 'warning',
      sentence: 'This host is 4 minutes ahead of the store.',
      remedy: 'Synchronize the clock of this host with NTP.',
    },
    {
      name: 'versioning',
      outcome: 'skipped',
      sentence: 'The store does not say whether it keeps versions.',
      remedy: null,
    },
  ],
};
