import { type Channel, type ChannelView, createChannelView } from '../../src/domain/channel.ts';
import { decideUpdate } from '../../src/domain/decide-update.ts';
import type { Offer } from '../../src/domain/offer.ts';
import { PLATFORMS } from '../../src/domain/platform.ts';
import type { Share } from '../../src/domain/rollout.ts';
import type { UpdateQuery } from '../../src/domain/update-query.ts';
import { parseRange, parseVersion } from '../../src/domain/version.ts';
import { type Compared, compare, comparedTable } from './compare.ts';
import type { BenchContext } from './context.ts';
import type { Table } from './table.ts';

/**
 * Measures a decision about many offers with rollouts and stepping stones. In the baseline, one offer is for all
 * clients.
 */

const LIMIT = { max: 1.3 };
const OFFERS = 20;
const CALLS = 200_000;
const NOW = 2_000;

export async function benchDecision(context: BenchContext): Promise<readonly Table[]> {
  const baseline = viewOf([offer(OFFERS)]);
  // First, Node compiles the code for every channel.
  for (const view of [...Object.values(CHANNELS), baseline]) measure(view);
  const results: Compared[] = [];
  for (const [name, view] of Object.entries(CHANNELS)) {
    const pair = {
      ...{ name, limit: LIMIT },
      service: async () => measure(view),
      baseline: async () => measure(baseline),
    };
    results.push(await compare(context, pair));
  }
  return [
    comparedTable('A decision among 20 offers', 'ns', results, [
      'The baseline has one offer, which every client gets. Each decision is for another of 1,000 installations.',
    ]),
  ];
}

function offer(minor: number, fields: Partial<Offer> = {}): Offer {
  return {
    version: parseVersion(`1.${minor}.0`),
    status: 'active',
    manifest: { number: 1, digest: '' },
    releasedAt: '',
    requires: null,
    mandatoryFor: null,
    endsNative: [],
    rollout: null,
    artifacts: ARTIFACTS,
    ...fields,
  };
}

const ARTIFACTS = PLATFORMS.flatMap((platform) =>
  (['x64', 'arm64'] as const).map((arch) => ({
    ...{ platform, arch, format: 'zip' as const },
    ...{ minimumOsVersion: null, signatureSchemes: [] },
  })),
);

/** A plan that has reached this share and continues later. */
function rollout(share: Share): Pick<Offer, 'rollout'> {
  const points = [
    { at: 0, share: 1 },
    { at: 1_000, share },
    { at: 10 * NOW, share: 10_000 },
  ];
  return { rollout: { seed: share, ramp: { points, isLinear: false } } };
}

function viewOf(offers: readonly Offer[]): ChannelView {
  const channel: Channel = {
    ...{ name: 'stable', inherits: null, givesEarlyAccess: false, allowsDowngrade: false },
    ...{ offers, retired: new Set() },
  };
  return createChannelView(channel, []);
}

/** @param newest the fields of the newest offers; the last item is for the newest offer */
function channel(...newest: readonly Partial<Offer>[]): ChannelView {
  const fieldsOf = (minor: number): Partial<Offer> | undefined =>
    newest[minor - 1 - OFFERS + newest.length];
  return viewOf(
    Array.from({ length: OFFERS }, (_, index) => offer(index + 1, fieldsOf(index + 1))),
  );
}

const STEP: Partial<Offer> = { requires: parseRange('>=1.18.0', '') };

const CHANNELS: Readonly<Record<string, ChannelView>> = {
  'a rollout that has reached the client': channel(rollout(9_999)),
  'a rollout that holds the newest release': channel(rollout(1)),
  'a stepping stone before a rollout': channel({ ...STEP, ...rollout(5_000) }),
  'two rollouts and two stepping stones': channel(rollout(1), STEP, { ...STEP, ...rollout(1) }),
};

const QUERIES: readonly UpdateQuery[] = Array.from({ length: 1_000 }, (_, index) => ({
  ...{ application: 'desktop', channel: 'stable', currentVersion: parseVersion('1.0.0') },
  ...{ platform: 'windows', arch: 'x64', formats: null, osVersion: '10.0.26100' },
  ...{ osGate: 'server', isManual: false, allowDowngrade: false },
  installationId: `3f1d6c1e-8a3b-4f50-9d53-${String(index).padStart(12, '0')}`,
  ...{ purpose: 'update', signatureScheme: null },
}));

/** @returns nanoseconds of processor time for each decision */
function measure(view: ChannelView): number {
  const before = process.cpuUsage();
  for (let call = 0; call < CALLS; call++) {
    const query = QUERIES[call % QUERIES.length];
    if (query !== undefined) decideUpdate(query, view, NOW);
  }
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / CALLS;
}
