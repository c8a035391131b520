import type { Channels, WriterDeps } from '../../catalog/change.ts';
import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import {
  type ChannelJson,
  type OfferJson,
  offerJsonOf,
} from '../../catalog/documents/revision-document.ts';
import type { ManifestReference } from '../../catalog/read.ts';
import { parseVersion } from '../../domain/version.ts';
import { type Admission, withOffer, withRollout } from '../channels/channel-rules.ts';
import { withoutOldOffers } from '../channels/keep-newest-offers.ts';
import { type Holding, isHeld, planDraft, withDraft, withoutDraft } from '../drafts/draft-rules.ts';
import { refuseStranding } from './refuse-stranding.ts';

/** What becomes of a release on a channel: an offer, or a draft. */
export type PlannedRelease =
  | {
      readonly kind: 'offer';
      readonly offer: OfferJson;
      readonly channels: Channels;
      /** Older versions that the channel drops, because it keeps only its newest offers; newest first. */
      readonly dropped: readonly string[];
    }
  | { readonly kind: 'draft'; readonly draft: DraftJson; readonly channels: Channels };

/**
 * Decides whether a channel offers a release or holds it back, and makes the channels after that. A draft has to pass
 * every check that an offer passes, so that it can be opened later.
 *
 * @param channel the present channel; a new one when it is created
 * @throws AppError those of `planDraft`, `isHeld`, `withRollout` and `refuseStranding`
 */
export function planRelease(
  deps: Pick<WriterDeps, 'clock' | 'randomness'>,
  admission: Admission & Holding,
  channels: Channels,
  channel: ChannelJson,
  manifest: Pick<ManifestReference, 'release' | 'number' | 'digest'>,
): PlannedRelease {
  const { channel: name } = admission;
  const stated = offerJsonOf(manifest.release, manifest);
  const existing = channel.offers.find(({ version }) => version === stated.version);
  const keeping = { added: parseVersion(stated.version), now: deps.clock.now() };
  if (existing !== undefined) {
    const offer = withRollout(deps, withKept(stated, existing), existing, admission);
    const offered = withOffer(channels, name, channel, offer);
    return { kind: 'offer', offer, ...withoutOldOffers(offered, name, keeping) };
  }
  const draft = planDraft(deps, admission, channel, stated);
  const rollout = draft.rollout && {
    text: draft.rollout.text,
    freezeWindows: draft.rollout.freeze_windows,
  };
  const offer = withRollout(deps, stated, undefined, { ...admission, rollout });
  const offered = withOffer(channels, name, withoutDraft(channel, stated.version), offer);
  const kept = withoutOldOffers(offered, name, keeping);
  if (!admission.allowStranded) refuseStranding(kept.channels, name, offer);
  if (!isHeld(draft, admission)) return { kind: 'offer', offer, ...kept };
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
  return { ...offer, status, reason, ends_native: [...(offer.ends_native ?? []), ...ended] };
}
