import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import type {
  ChannelJson,
  Channels,
  OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { draftSentence, optionOf } from '../../catalog/reading/draft-text.ts';
import {
  channelsDrafting,
  describeDraft,
  draftIn,
  targetNames,
} from '../../catalog/reading/list-drafts.ts';
import type { ManifestReference } from '../../catalog/reading/read.ts';
import { AppError } from '../../core/errors.ts';
import { type Target, targetName } from '../../domain/target.ts';
import type { Admission } from './channel-rules.ts';

/** Rules about releases that a channel holds back. Every commit runs these checks on the state that it changes. */

/** The request of a publisher to hold a release back. */
export interface Holding {
  /**
   * The targets that must have a build before the release is offered. Undefined: the targets that the draft expects;
   * for a new release, the targets that the channel expects.
   */
  readonly expect?: readonly Target[] | undefined;
  /**
   * `offer`: the channel offers the release as soon as it is complete. `draft`: the channel offers the release only
   * after a command opens it. `open`: the command offers the release now, without new files.
   */
  readonly mode?: 'offer' | 'draft' | 'open';
  /** True to offer the release although expected targets have no build. */
  readonly releasePartial?: boolean;
}

/** @throws AppError `status_forbids` when the channel has a draft of the version */
export function refuseDraft(channel: ChannelJson, name: string, version: string): void {
  const draft = draftIn(channel, version);
  if (draft !== undefined) throw new AppError('status_forbids', draftSentence(draft, name));
}

/** The error for a command that opens a version which is no draft on the channel. */
export function noDraft(channels: Channels, version: string, name: string): AppError {
  const [other] = channelsDrafting(channels, version)[0] ?? [];
  const advice =
    other === undefined
      ? `To publish files, name them: slipway publish ${version} dist.`
      : `It is a draft on ${other}: slipway publish ${version}${optionOf(other)}.`;
  return new AppError('unknown_version', `${name} has no draft of ${version}. ${advice}`);
}

/**
 * Refuses to publish a version that is a draft on another channel: a release has the same files everywhere, so clients
 * would get the files of the draft.
 *
 * @throws AppError `status_forbids`
 */
export function refuseDraftElsewhere(channels: Channels, version: string, name: string): void {
  const [other] = channelsDrafting(channels, version).find(([each]) => each !== name) ?? [];
  if (other === undefined) return;
  throw new AppError(
    'status_forbids',
    `${version} is a draft on ${other}, and clients of ${name} would get its files. Open it first: slipway publish ${version}${optionOf(other)}. Then offer it here too: slipway promote ${version} --to ${name}.`,
  );
}

/** The revision that discarded the last draft of a version; 0 when none was discarded. */
export function discardedAt(channels: Channels, version: string): number {
  return Object.values(channels)
    .flatMap(({ discarded = [] }) => discarded)
    .filter((entry) => entry.version === version)
    .reduce((last, { revision }) => Math.max(last, revision), 0);
}

/**
 * Returns the newest manifest; undefined when the manifest is older than a discarded draft, because it may contain the
 * files of that draft.
 */
export function continued(
  channels: Channels,
  version: string,
  newest: ManifestReference | undefined,
): ManifestReference | undefined {
  const isStale = (newest?.catalogRevision ?? 0) < discardedAt(channels, version);
  return isStale ? undefined : newest;
}

export function withDraft(channel: ChannelJson, draft: DraftJson): ChannelJson {
  const others = (channel.drafts ?? []).filter(({ version }) => version !== draft.version);
  return { ...channel, drafts: [...others, draft] };
}

export function withoutDraft(channel: ChannelJson, version: string): ChannelJson {
  const { drafts = [], ...rest } = channel;
  const others = drafts.filter((draft) => draft.version !== version);
  return others.length === 0 ? rest : { ...rest, drafts: others };
}

/**
 * The channel with the draft that another party made, on the terms of the publisher: an operator must neither shorten the
 * list of expected targets nor choose the rollout. A draft that waits for a command keeps waiting.
 */
export function withOwnTerms(
  channel: ChannelJson,
  { version, expect }: Holding & { readonly version: string },
): ChannelJson {
  const draft = draftIn(channel, version);
  if (draft === undefined) return channel;
  const { expect: stated, rollout: _rollout, ...rest } = draft;
  const targets = expect === undefined ? (channel.expect ?? stated) : targetsJson(expect);
  return withDraft(channel, { ...rest, ...(targets === undefined ? {} : { expect: targets }) });
}

/**
 * Plans the draft of a channel with the additions of a publisher. The first publisher fixes the expected targets.
 *
 * @param offer the offer that clients will get
 * @param state.now by the store's clock; milliseconds since the epoch
 * @param state.mayOffer false when people have to sign the release first
 * @throws AppError `release_differs` for other targets than the draft expects
 */
export function planDraft(
  { channel: name, expect, mode, rollout: requested }: Admission & Holding,
  channel: ChannelJson,
  offer: OfferJson,
  { now, mayOffer }: { readonly now: number; readonly mayOffer: boolean },
): DraftJson {
  const { status: _status, reason: _reason, rollout: _rollout, ...statement } = offer;
  const before = draftIn(channel, offer.version);
  if (before !== undefined && expect !== undefined) refuseOtherTargets(before, name, expect);
  const asked = expect === undefined ? undefined : targetsJson(expect);
  const targets = before === undefined ? (asked ?? channel.expect) : before.expect;
  const stays = before?.rollout !== undefined && requested?.isFromBuild === true;
  const rollout =
    requested === undefined || stays
      ? before?.rollout
      : { text: requested.text, freeze_windows: [...requested.freezeWindows] };
  return {
    ...statement,
    since: before?.since ?? new Date(now).toISOString(),
    opens: opensBy(mode, before, mayOffer),
    ...(targets === undefined || targets.length === 0 ? {} : { expect: targets }),
    ...(rollout === undefined ? {} : { rollout }),
  };
}

/**
 * The draft of a release that people have to sign before the channel offers it.
 *
 * @param before the draft of the same version; it stays as it is when it has the same manifest, because people may have
 *   signed it
 * @param now by the store's clock; milliseconds since the epoch
 */
export function signedDraftOf(
  offer: OfferJson,
  before: DraftJson | undefined,
  { now, rollout }: { readonly now: number; readonly rollout?: Admission['rollout'] },
): DraftJson {
  if (before?.manifest.digest === offer.manifest.digest) return before;
  const { status: _status, reason: _reason, rollout: _rollout, ...statement } = offer;
  const plan = rollout && { text: rollout.text, freeze_windows: [...rollout.freezeWindows] };
  return {
    ...statement,
    since: new Date(now).toISOString(),
    opens: 'when_signed',
    ...(plan === undefined ? {} : { rollout: plan }),
  };
}

/** The fields of a draft that its offer will have. */
export function statementOf(draft: DraftJson): Omit<OfferJson, 'status' | 'reason' | 'rollout'> {
  const { since: _since, opens: _opens, expect: _expect, rollout: _rollout, ...statement } = draft;
  return statement;
}

function opensBy(
  mode: Holding['mode'],
  before: DraftJson | undefined,
  mayOffer: boolean,
): DraftJson['opens'] {
  if (!mayOffer) return 'when_signed';
  // Also when an operator began the draft: a command that holds its files back must not offer them.
  return mode === 'draft' ? 'on_command' : (before?.opens ?? 'when_complete');
}

/**
 * True when the channel still holds the release back. @throws AppError `release_incomplete` when the request opens it
 * without all builds
 */
export function isHeld(
  draft: DraftJson,
  { channel, mode, releasePartial }: Admission & Holding,
): boolean {
  if (releasePartial === true) return false;
  const { missing } = describeDraft(channel, draft);
  if (mode !== 'open') return draft.opens === 'on_command' || missing.length > 0;
  if (missing.length > 0) throw incomplete(draft.version, channel, missing);
  return false;
}

/** The error for a release that lacks builds. */
export function incomplete(version: string, channel: string, missing: readonly Target[]): AppError {
  return new AppError(
    'release_incomplete',
    `${version} has no build for these expected targets on ${channel}: ${targetNames(missing)}. Publish them first. To offer it without them, add --release-partial.`,
  );
}

function refuseOtherTargets(draft: DraftJson, channel: string, asked: readonly Target[]): void {
  const textOf = (targets: NonNullable<ChannelJson['expect']>): string =>
    targets.map(({ os: platform, arch }) => targetName({ platform, arch })).join(', ') || 'none';
  const fixed = textOf(draft.expect ?? []);
  const other = textOf(targetsJson(asked));
  if (fixed === other) return;
  throw new AppError(
    'release_differs',
    `The first publish of ${draft.version} to ${channel} fixed the expected targets: ${fixed}. This command expects others: ${other}. Use the same list in every job, or leave it out. To offer ${draft.version} without waiting, run slipway publish ${draft.version}${optionOf(channel)} --release-partial.`,
  );
}

/** Each target once, in the order of their names. */
export function targetsJson(targets: readonly Target[]): NonNullable<ChannelJson['expect']> {
  const byName = new Map(targets.map((target) => [targetName(target), target]));
  return [...byName.keys()]
    .sort()
    .flatMap((name) => byName.get(name) ?? [])
    .map(({ platform, arch }) => ({ os: platform, arch }));
}
