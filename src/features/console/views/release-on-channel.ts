import type { OfferJson, RevisionJson } from '../../../catalog/documents/revision-document.ts';
import { channelEntries } from '../../../catalog/documents/revision-document.ts';
import { storedRamp } from '../../../catalog/documents/rollout-document.ts';
import {
  type DescribedRollout,
  describeRollout,
} from '../../../catalog/reading/describe-rollout.ts';
import { describeDraft } from '../../../catalog/reading/list-drafts.ts';
import { isoOf } from '../../../core/time-text.ts';
import { ALL_CLIENTS, reachedAt } from '../../../domain/rollout.ts';
import { targetName } from '../../../domain/target.ts';
import type { ReleaseOnChannel } from '../answers.ts';
import { replacementOf } from './shown-offers.ts';

/** For each version, the channels that list it or hold it back, with its state there. */
export function releasesOnChannels(
  { channels }: Pick<RevisionJson, 'channels'>,
  now: number,
): ReadonlyMap<string, readonly ReleaseOnChannel[]> {
  const byVersion = new Map<string, ReleaseOnChannel[]>();
  const add = (version: string, cell: ReleaseOnChannel): void => {
    const cells = byVersion.get(version);
    if (cells === undefined) byVersion.set(version, [cell]);
    else cells.push(cell);
  };
  for (const [channel, { offers, drafts = [] }] of channelEntries(channels)) {
    for (const offer of offers) add(offer.version, cellOf(channels, channel, offer, now));
    for (const draft of drafts) {
      const missing = describeDraft(channel, draft).missing.map(targetName);
      add(draft.version, { ...HELD, channel, missing });
    }
  }
  return byVersion;
}

const HELD = {
  status: 'draft',
  reason: null,
  share: 0,
  isFrozen: false,
  completeAt: null,
  replacement: null,
} as const;

function cellOf(
  channels: RevisionJson['channels'],
  channel: string,
  offer: OfferJson,
  now: number,
): ReleaseOnChannel {
  const { share, isFrozen } = describeOffer(offer, now);
  const { status, reason } = offer;
  const isActive = status === 'active';
  return {
    channel,
    status,
    reason,
    share,
    isFrozen,
    completeAt: isActive ? completionOf(offer, now) : null,
    replacement: isActive ? replacementOf(channels, channel, offer, now) : null,
    missing: [],
  };
}

/**
 * Describes the present state of the rollout of an offer. For a paused offer, the state is the state at the pause,
 * because a pause stops the clock of the plan.
 */
export function describeOffer({ status, rollout }: OfferJson, now: number): DescribedRollout {
  const isPaused = status === 'paused' && rollout !== undefined;
  return describeRollout(rollout, isPaused ? Date.parse(rollout.clock.at) : now);
}

/** The time when the rollout will reach every client; null when it has reached every client, or never will. */
function completionOf({ rollout }: OfferJson, now: number): string | null {
  if (rollout === undefined) return null;
  const at = reachedAt(storedRamp(rollout), ALL_CLIENTS);
  return Number.isFinite(at) && at > now ? isoOf(at) : null;
}
