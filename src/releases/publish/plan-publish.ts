import { isDeepStrictEqual } from 'node:util';
import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import {
  type Channels,
  type OfferJson,
  offerJsonOf,
} from '../../catalog/documents/revision-document.ts';
import type { SettingsJson } from '../../catalog/documents/settings-document.ts';
import { describeDraft, draftIn, type ListedDraft } from '../../catalog/reading/list-drafts.ts';
import type { ManifestReference } from '../../catalog/reading/read.ts';
import { REUSE_AGE_MAX_MS } from '../../catalog/writing/artifact-upload.ts';
import type { CatalogEdit, WantedManifest } from '../../catalog/writing/change.ts';
import { listed } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import type { Target } from '../../domain/target.ts';
import { parseVersion } from '../../domain/version.ts';
import {
  applicationSettingsOf,
  type PublicKeySettings,
} from '../applications/application-settings.ts';
import {
  type Admission,
  leftBehindOn,
  newestAbove,
  withOffer,
  withRollout,
} from '../offer/channel-rules.ts';
import {
  type Holding,
  isHeld,
  planDraft,
  refuseDraftElsewhere,
  signedDraftOf,
  withDraft,
  withOwnTerms,
  withoutDraft,
} from '../offer/draft-rules.ts';
import { withoutOldOffers } from '../offer/keep-newest-offers.ts';
import { refuseStranding } from '../offer/refuse-stranding.ts';
import type { ProductName } from './display-name.ts';
import { type LeftOut, leftOutOf } from './find-made.ts';
import { type Contribution, isSameRelease, mergeRelease } from './merge-release.ts';
import { fixedReleases, type PublishState } from './read-publish-state.ts';
import { refuseOtherBytes } from './refuse-other-bytes.ts';

const FIRST_REVISION = 1;

/** The files that a publisher adds to a release, and the options for its channel. */
export interface Publish extends Admission, Holding {
  readonly version: string;
  readonly mine: Contribution;
  /** The time at which the uploads began, in milliseconds since the epoch; null: the publish uploads nothing. */
  readonly uploadsBegan: number | null;
  /**
   * The keys that verified the signatures of the files. Null: the application had no key. Undefined: no file has such a
   * signature.
   */
  readonly verifiedWith: Readonly<
    Record<keyof PublicKeySettings, { readonly text: string } | null | undefined>
  >;
  /** The published names of files that the publisher accepts although a feed of the build states other bytes. */
  readonly rehashed: readonly string[];
  /** The published names of files that publishing packed again. */
  readonly repacked: readonly string[];
  /** The salt of a rollout that starts with this publish. */
  readonly salt: string;
  /** The display name of the application, when the publish makes its first revision; absent: none. */
  readonly displayName?: ProductName | undefined;
}

/** The effect of a publish on one state of the catalog. */
export interface PublishPlan {
  /**
   * The manifest that the channel has to name. When `kept` is undefined, the caller stores the manifest before the
   * commit.
   */
  readonly manifest: WantedManifest;
  /** The change of the catalog; undefined when the channel states everything already. */
  readonly edit: CatalogEdit | undefined;
  /**
   * The release, when this publish is the first that offers it on the channel. Then the caller verifies its stored
   * files with the keys of the application before the commit.
   */
  readonly firstOffered: Release | undefined;
  readonly placed: PlacedRelease;
}

/** Facts about the channel for the publisher. */
export interface ChannelFacts {
  readonly createdChannel: boolean;
  /** The channel from which this channel inherits. */
  readonly inherits: string | null;
  /** Machines that stay on an older release of the channel, because it has native builds for them. */
  readonly leftBehind: readonly Target[];
  /** The newest active release of the channel when it is newer than this one; null otherwise. */
  readonly newerVersion: string | null;
  /** The status of the offer: a paused release that gets another platform stays paused. */
  readonly status: OfferJson['status'] | 'draft';
  readonly rollout: OfferJson['rollout'];
  /** The draft that the channel holds back; null when the channel offers the release. */
  readonly held: ListedDraft | null;
  /** Older versions that the channel dropped, because it keeps only its newest offers; newest first. */
  readonly dropped: readonly string[];
  /** What the publisher did not take over from the draft, because no key of the channel made it; null: nothing. */
  readonly leftOut: LeftOut | null;
  /** The display name that the application got with its first revision; null: none, or it exists already. */
  readonly displayName: ProductName | null;
}

/**
 * Plans a publish. This pure function is the only place that decides. A publisher calls it before the upload, so that a
 * publish that cannot succeed uploads nothing. Each attempt of the commit calls it again on the newest state.
 *
 * The states that it meets:
 * - *Draft*: expected builds are missing, or the publisher asked to hold the release back. The channel gets a draft,
 *   and each publisher adds to the manifest of that draft.
 * - *Offered*: the release is complete. Its offer takes the place of the draft, if there was one. Files that a channel
 *   offered are never replaced, so a publisher may only add builds, languages and ended targets.
 * - *Run again*: the channel states everything already, because this publisher, or another with the same files, ran
 *   before. There is no `edit`, and the manifest is kept.
 * - *Raced*: another publisher added files, corrected notes, opened or discarded the draft after this publisher stored
 *   its manifest. The stored manifest does not state the result, so `manifest.kept` is undefined, and the caller stores
 *   another one. The newest state decides whether the release is complete: when several publishers add the last builds,
 *   exactly one of them offers the release.
 *
 * @throws AppError `release_differs` for other files or statements than clients may have; `release_incomplete`;
 *   `clients_stranded`; `status_forbids` for a draft on another channel, an offer that should become a draft, a rollout
 *   of a release that is offered to all, or another key of the application; `store_unavailable` for uploads that are
 *   too old
 */
export function planPublish(state: PublishState, publish: Publish): PublishPlan {
  const { channels, channel, offered } = state;
  const { channel: name, version, mode, mine } = publish;
  refuseOtherKeys(state.settings, publish);
  refuseOtherBytes(state.former, offered, mine);
  const existing = channel.offers.find((offer) => offer.version === version);
  const draft = draftIn(channel, version);
  const manifest = planManifest(state, publish, existing, draft);
  if (manifest.kept === undefined) refuseLate(state, publish);
  const placed = placeOnChannel(state, publish, existing, manifest);
  const firstOffered =
    existing === undefined && placed.kind === 'offer' ? manifest.release : undefined;
  const plan = { manifest, firstOffered, placed };
  const isStated =
    placed.kind === 'draft'
      ? isDeepStrictEqual(draft, placed.draft)
      : existing !== undefined &&
        draft === undefined &&
        isCovered(existing, offered, mine) &&
        state.offerRight?.isSigned(name, existing) !== false;
  if (isStated) return { ...plan, edit: undefined };
  refuseDraftElsewhere(channels, version, name);
  if (existing !== undefined && placed.kind === 'offer' && mode === 'draft')
    throw offeredAlready(version, name);
  const change = {
    kind: placed.kind === 'draft' ? ('draft' as const) : ('publish' as const),
    version,
    channels: [name],
    reason: changedReason(publish),
    summary: existing === undefined ? rolloutText(placed) : undefined,
  };
  const signsAgain =
    placed.kind === 'offer' && existing !== undefined
      ? { channel: name, offer: placed.offer }
      : undefined;
  const settings = firstSettings(state, publish);
  return { ...plan, edit: { change, channels: placed.channels, signsAgain, ...settings } };
}

/** The settings of a new application. A publish never changes the settings of an application that exists. */
function firstSettings(
  { next, settings }: PublishState,
  { displayName }: Publish,
): Pick<CatalogEdit, 'settings'> {
  if (next !== FIRST_REVISION || displayName === undefined) return {};
  return { settings: { ...settings, display_name: displayName.text } };
}

/**
 * Plans the release that the manifest has to state: its present content, and the additions of the publisher. A draft
 * gets the present date, because clients read the date of the offer, not the date at which the draft began.
 */
function planManifest(
  state: PublishState,
  { version, mode, mine }: Publish,
  existing: OfferJson | undefined,
  draft: DraftJson | undefined,
): WantedManifest {
  const { newest, base, offered, offerRight } = state;
  const opened = offered.find(({ number }) => number === existing?.manifest.number);
  // Another publisher opened the draft, so there is nothing to add, even if other channels offer other manifests.
  if (mode === 'open' && existing !== undefined) {
    // People have signed another manifest of the offered release, with more builds or with other notes.
    const kept = draft === undefined ? opened : base;
    if (kept !== undefined) return { release: kept.release, kept };
  }
  const fixed = fixedReleases(state, version);
  // A draft of an offered release may have corrected notes.
  const waiting = existing === undefined || draft === undefined ? undefined : base?.release;
  const merged = mergeRelease(base?.release, fixed, mine, waiting);
  const isContinued = mode !== 'open' && base !== undefined && isSameRelease(base.release, merged);
  // People have signed the manifest of the draft, so this very manifest is offered.
  const isDated =
    draft !== undefined && fixed.length === 0 && !isContinued && offerRight === undefined;
  const release = isDated ? { ...merged, releasedAt: mine.releasedAt } : merged;
  // The draft's own manifest states the time when the draft was begun.
  const stored = isDated
    ? [newest].filter((each) => each?.number !== draft.manifest.number)
    : [...offered, base, newest];
  const kept = stored.find(
    (each) =>
      each !== undefined &&
      // No offered manifest may have a higher number, because a promotion compares the numbers.
      offered.every(({ number }) => number <= each.number) &&
      isSameRelease(each.release, release),
  );
  return { release, kept };
}

/** A release on a channel: an offer, or a draft. `channels`: the channels after the publish. */
type PlacedRelease =
  | {
      readonly kind: 'offer';
      readonly offer: OfferJson;
      readonly channels: Channels;
      /** Older versions that the channel drops, because it keeps only its newest offers; newest first. */
      readonly dropped: readonly string[];
    }
  | { readonly kind: 'draft'; readonly draft: DraftJson; readonly channels: Channels };

/**
 * Offers the release on the channel, or holds it back. A draft has to pass every check that an offer passes, so that it
 * can be opened later.
 */
function placeOnChannel(
  { channels, channel, now, offerRight, unmade }: PublishState,
  publish: Publish,
  existing: OfferJson | undefined,
  { release, kept }: WantedManifest,
): PlacedRelease {
  const { channel: name, salt } = publish;
  // The number and the digest of a manifest that is not stored yet are never committed.
  const stated = offerJsonOf(release, kept ?? { number: 0, digest: '' });
  const keeping = { added: parseVersion(stated.version), now };
  const start = { now, salt };
  const hasDraft = draftIn(channel, stated.version) !== undefined;
  const mayOffer = offerRight?.mayOffer(name, stated, hasDraft) ?? true;
  if (existing !== undefined) {
    if (!mayOffer) {
      const draft = signedDraftOf(stated, draftIn(channel, stated.version), { now });
      return { kind: 'draft', draft, channels: { ...channels, [name]: withDraft(channel, draft) } };
    }
    // An operator may have ended builds in an offer that the keys of the channel have not signed.
    const isSigned = offerRight?.isSigned(name, existing) !== false;
    const kept = withKept(stated, isSigned ? existing : { ...existing, ends_native: [] });
    const offer = withRollout(start, kept, existing, publish);
    const offered = withOffer(channels, name, withoutDraft(channel, stated.version), offer);
    return { kind: 'offer', offer, ...withoutOldOffers(offered, name, keeping) };
  }
  const planning = unmade === undefined ? channel : withOwnTerms(channel, publish);
  const draft = planDraft(publish, planning, stated, { now, mayOffer });
  const rollout = draft.rollout && {
    text: draft.rollout.text,
    freezeWindows: draft.rollout.freeze_windows,
  };
  const offer = withRollout(start, stated, undefined, { ...publish, rollout });
  const offered = withOffer(channels, name, withoutDraft(channel, stated.version), offer);
  const after = withoutOldOffers(offered, name, keeping);
  if (!publish.allowStranded) refuseStranding(after.channels, name, offer);
  if (mayOffer && !isHeld(draft, publish)) return { kind: 'offer', offer, ...after };
  const isNew = !Object.hasOwn(channels, name);
  const held = withDraft(isNew ? { ...channel, hidden: true } : channel, draft);
  return { kind: 'draft', draft, channels: { ...channels, [name]: held } };
}

/**
 * Keeps the status of the offer: a paused release that gets another platform stays paused. Native builds that ended
 * stay ended, even when the release that ended them was withdrawn.
 */
function withKept(offer: OfferJson, existing: OfferJson): OfferJson {
  const { status, reason, ends_native: ended = [] } = existing;
  const own = offer.ends_native ?? [];
  const more = ended.filter((target) => !own.some((each) => isDeepStrictEqual(each, target)));
  if (more.length === 0) return { ...offer, status, reason };
  return { ...offer, status, reason, ends_native: [...own, ...more] };
}

/** The plan of the rollout that a new release or draft starts with, for the history. */
function rolloutText(placed: PlacedRelease): string | undefined {
  return placed.kind === 'draft' ? placed.draft.rollout?.text : placed.offer.rollout?.plan;
}

/**
 * Collects the facts about the channel. This parses thousands of offers, so the caller does it only for a committed
 * plan.
 */
export function channelFacts(
  { channels, channel, unmade }: PublishState,
  { channel: name, version, displayName: wanted }: Publish,
  { placed, edit, manifest }: PublishPlan,
): ChannelFacts {
  const displayName = edit?.settings === undefined ? null : (wanted ?? null);
  const leftOut = leftOutOf(unmade, manifest.release) ?? null;
  const createdChannel = !Object.hasOwn(channels, name);
  const { inherits } = channel;
  if (placed.kind === 'draft') {
    return {
      createdChannel,
      inherits,
      leftBehind: [],
      newerVersion: null,
      status: 'draft',
      rollout: undefined,
      held: describeDraft(name, placed.draft),
      dropped: [],
      leftOut,
      displayName,
    };
  }
  const parsed = parseVersion(version);
  return {
    createdChannel,
    inherits,
    leftBehind: leftBehindOn(placed.channels, name, parsed),
    newerVersion: newestAbove(channel, parsed),
    status: placed.offer.status,
    rollout: placed.offer.rollout,
    held: null,
    dropped: edit === undefined ? [] : placed.dropped,
    leftOut,
    displayName,
  };
}

/** The history records where the files are not the files of the build tool. */
function changedReason({ rehashed, repacked }: Publish): string | null {
  const sentences = [
    ...(rehashed.length === 0
      ? []
      : [`The publisher accepted other bytes than the build tool stated for ${listed(rehashed)}.`]),
    ...(repacked.length === 0 ? [] : [`Publishing repacked ${listed(repacked)} (--rezip).`]),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}

/** Reports whether the offered manifest already states everything that this publisher adds. */
function isCovered(
  { manifest }: OfferJson,
  offered: readonly ManifestReference[],
  mine: Contribution,
): boolean {
  const current = offered.find(({ number }) => number === manifest.number);
  if (current === undefined) return false;
  return isSameRelease(current.release, mergeRelease(current.release, [current.release], mine));
}

/** The error for a publisher that wants to hold files back while clients are offered the release. */
function offeredAlready(version: string, channel: string): AppError {
  return new AppError(
    'status_forbids',
    `${channel} offers ${version} already, so clients would get these files at once. To add them, leave out --draft. To hold files back, publish a new version.`,
  );
}

/**
 * Refuses files that the present key did not verify, because clients with that key refuse the files. An operator may
 * have replaced the key after it verified the signatures.
 */
function refuseOtherKeys(settings: SettingsJson, { verifiedWith }: Publish): void {
  const present = applicationSettingsOf(settings);
  for (const setting of ['tauriPubkey', 'sparklePubkey'] as const) {
    const key = present[setting];
    const verified = verifiedWith[setting];
    if (key === null || verified === undefined || key.text === verified?.text) continue;
    const whose = setting === 'tauriPubkey' ? 'Tauri' : 'Sparkle';
    throw new AppError(
      'status_forbids',
      `Another process set the public key ${'keyId' in key ? key.keyId : key.text} for ${whose} signatures meanwhile. Run the same command again, to verify the signatures with it.`,
    );
  }
}

/**
 * Refuses a publish whose uploads are too old. An upload that no manifest names is safe for a day only, and the machine
 * may have slept since the upload.
 */
function refuseLate({ now }: PublishState, { uploadsBegan }: Publish): void {
  if (uploadsBegan === null || now - uploadsBegan <= REUSE_AGE_MAX_MS) return;
  throw new AppError(
    'store_unavailable',
    'Publishing took more than a day, and uploads without a manifest are safe for a day only. Run the same command again.',
  );
}
