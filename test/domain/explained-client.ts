import { type Channel, type ChannelView, createChannelView } from '../../src/domain/channel.ts';
import type { ExplainedRelease } from '../../src/domain/explain-decision.ts';
import type { ExplainedRule, RuleFacts } from '../../src/domain/explain-rules.ts';
import type { Offer, OfferedArtifact } from '../../src/domain/offer.ts';
import { parseRange, parseVersion } from '../../src/domain/version.ts';

/** Channels and clients for the tests of explanations. */

export const NOW = 1_000_000;
export const SETUP: OfferedArtifact = {
  platform: 'windows',
  arch: 'x64',
  format: 'nsis',
  minimumOsVersion: null,
  signatureSchemes: [],
};

export function offer(
  version: string,
  fields: Partial<Offer> & { requiresText?: string } = {},
): Offer {
  const { requiresText, ...rest } = fields;
  return {
    version: parseVersion(version),
    status: 'active',
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    requires: requiresText === undefined ? null : parseRange(requiresText, ''),
    mandatoryFor: null,
    endsNative: [],
    rollout: null,
    artifacts: [SETUP],
    ...rest,
  };
}

export function view(offers: readonly Offer[], fields: Partial<Channel> = {}): ChannelView {
  const flags = { inherits: null, givesEarlyAccess: false, allowsDowngrade: false };
  return createChannelView(
    { name: 'stable', ...flags, offers, retired: new Set(['0.1.0']), ...fields },
    [],
  );
}

export function ruleOf<R extends RuleFacts['rule']>(
  { rules }: Pick<ExplainedRelease, 'rules'>,
  name: R,
): Extract<ExplainedRule, { rule: R }> {
  const found = rules.find(
    (each): each is Extract<ExplainedRule, { rule: R }> => each.rule === name,
  );
  if (found === undefined) throw new Error(`no rule ${name}`);
  return found;
}
