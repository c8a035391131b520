import { isDeepStrictEqual } from 'node:util';
import {
  type ChannelJson,
  type Channels,
  channelEntries,
  type OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { describeRollout } from '../../catalog/reading/describe-rollout.ts';
import type { Share } from '../../domain/rollout.ts';
import { newestTextFirst } from '../../domain/version.ts';
import { buildName } from './foresee-updates.ts';

/** Compares two states of an application's channels. */

/** The channels before a change and after it: see `Committed`. */
export interface ChannelStates {
  readonly before: Channels;
  readonly after: Channels;
}

/** The rollout of an offer at the time of the comparison. */
export interface ComparedRollout {
  readonly share: Share;
  /** The plan as the publisher wrote it; null: every client is offered the release. */
  readonly plan: string | null;
  readonly isFrozen: boolean;
}

/** The facts of an offer, in the terms of the operator. */
interface OfferState {
  readonly status: OfferJson['status'];
  readonly reason: string | null;
  readonly rollout: ComparedRollout;
  /** `linux-x64 appimage`, sorted. */
  readonly builds: readonly string[];
  /** The number of the manifest. It also changes when the notes change. */
  readonly manifest: number;
  /** Targets whose native builds end, such as `windows-arm64`. */
  readonly endsNative: readonly string[];
  readonly requires: string | null;
  readonly mandatoryFor: string | null;
}

/** One field that differs. A field of the stored format that is not in {@link OfferState} has its stored name. */
export interface FieldChange {
  readonly field: keyof OfferState | (string & {});
  readonly before: unknown;
  readonly after: unknown;
}

export type ChannelChange =
  | { readonly kind: 'channel_created' | 'channel_removed'; readonly channel: string }
  /** The change of a setting, such as `inherits`. A value is undefined when the setting is not set. */
  | ({ readonly kind: 'setting_changed'; readonly channel: string } & FieldChange)
  | {
      readonly kind: 'draft_changed';
      readonly channel: string;
      readonly version: string;
      /** The builds of the draft, such as `linux-x64 appimage`; null: the version is no draft. */
      readonly before: readonly string[] | null;
      readonly after: readonly string[] | null;
    }
  | {
      readonly kind: 'offer_added';
      readonly channel: string;
      readonly version: string;
      readonly offer: OfferState;
    }
  | {
      readonly kind: 'offer_removed';
      readonly channel: string;
      readonly version: string;
      /** True when the channel remembers the version as retired. */
      readonly isRetired: boolean;
    }
  | {
      readonly kind: 'offer_changed';
      readonly channel: string;
      readonly version: string;
      readonly fields: readonly FieldChange[];
    };

/**
 * Compares two states. Channels are in the order of display. For each channel, settings come first, then drafts, then
 * offers, with the newest version first.
 *
 * @param now by the store's clock: for the shares of rollouts
 */
export function compareChannels(
  { before, after }: ChannelStates,
  now: number,
): readonly ChannelChange[] {
  const names = channelEntries({ ...before, ...after }).map(([name]) => name);
  return names.flatMap((name) => compareChannel(name, before[name], after[name], now));
}

const EMPTY: Pick<ChannelJson, 'offers' | 'retired'> = { offers: [], retired: [] };

function compareChannel(
  channel: string,
  before: ChannelJson | undefined,
  after: ChannelJson | undefined,
  now: number,
): readonly ChannelChange[] {
  if (before === after) return [];
  const changes: ChannelChange[] = [];
  if (before === undefined) changes.push({ kind: 'channel_created', channel });
  if (after === undefined) changes.push({ kind: 'channel_removed', channel });
  for (const field of compareFields(settingsOf(before), settingsOf(after))) {
    changes.push({ kind: 'setting_changed', channel, ...field });
  }
  return [
    ...changes,
    ...compareDrafts(channel, before, after),
    ...compareOffers(channel, before ?? EMPTY, after ?? EMPTY, now),
  ];
}

type Fields = Readonly<Record<string, unknown>>;

function settingsOf(channel: ChannelJson | undefined): Fields {
  if (channel === undefined) return {};
  const { inherits, early_access, allow_downgrade, keep, expect } = channel;
  return {
    ...(inherits === null ? {} : { inherits }),
    early_access,
    allow_downgrade,
    keep,
    expect: expect?.map(({ os, arch }) => `${os}-${arch}`),
  };
}

/** The builds of the drafts of a channel, by version. */
function draftsOf(channel: ChannelJson | undefined): ReadonlyMap<string, readonly string[]> {
  return new Map(channel?.drafts?.map((draft) => [draft.version, buildNames(draft.artifacts)]));
}

function compareDrafts(
  channel: string,
  before: ChannelJson | undefined,
  after: ChannelJson | undefined,
): readonly ChannelChange[] {
  const old = draftsOf(before);
  const next = draftsOf(after);
  return [...new Set([...old.keys(), ...next.keys()])]
    .map((version) => ({
      kind: 'draft_changed' as const,
      channel,
      version,
      before: old.get(version) ?? null,
      after: next.get(version) ?? null,
    }))
    .filter((change) => !isDeepStrictEqual(change.before, change.after));
}

function compareOffers(
  channel: string,
  before: Pick<ChannelJson, 'offers'>,
  after: Pick<ChannelJson, 'offers' | 'retired'>,
  now: number,
): readonly ChannelChange[] {
  const old = new Map(before.offers.map((offer) => [offer.version, offer]));
  const changes: (ChannelChange & { readonly version: string })[] = [];
  for (const offer of after.offers) {
    const { version } = offer;
    const previous = old.get(version);
    old.delete(version);
    if (previous === offer) continue;
    if (previous === undefined) {
      changes.push({ kind: 'offer_added', channel, version, offer: stateOf(offer, now) });
      continue;
    }
    const fields = compareFields(fieldsOf(previous, now), fieldsOf(offer, now));
    if (fields.length > 0) changes.push({ kind: 'offer_changed', channel, version, fields });
  }
  for (const version of old.keys()) {
    const isRetired = after.retired.includes(version);
    changes.push({ kind: 'offer_removed', channel, version, isRetired });
  }
  return changes.sort((a, b) => newestTextFirst(a.version, b.version));
}

function compareFields(before: Fields, after: Fields): readonly FieldChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((field) => !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({ field, before: before[field], after: after[field] }));
}

function stateOf(offer: OfferJson, now: number): OfferState {
  const { share, isFrozen } = describeRollout(offer.rollout, now);
  return {
    status: offer.status,
    reason: offer.reason,
    rollout: { share, plan: offer.rollout?.plan ?? null, isFrozen },
    builds: buildNames(offer.artifacts),
    manifest: offer.manifest.number,
    endsNative: (offer.ends_native ?? []).map(({ os, arch }) => `${os}-${arch}`).sort(),
    requires: offer.requires,
    mandatoryFor: offer.mandatory_for,
  };
}

function buildNames(artifacts: OfferJson['artifacts']): readonly string[] {
  return artifacts.map(({ os, arch, format }) => buildName({ platform: os, arch, format })).sort();
}

/** The stored fields that {@link stateOf} translates. */
const TRANSLATED: ReadonlySet<string> = new Set<keyof OfferJson>([
  ...(['version', 'status', 'reason', 'rollout', 'artifacts', 'manifest'] as const),
  ...(['ends_native', 'requires', 'mandatory_for'] as const),
]);

function fieldsOf(offer: OfferJson, now: number): Fields {
  const others = Object.entries(offer).filter(([field]) => !TRANSLATED.has(field));
  return { ...stateOf(offer, now), ...Object.fromEntries(others) };
}
