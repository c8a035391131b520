import type {
  ChangeKind,
  ChannelJson,
  OfferJson,
} from '../../catalog/documents/revision-document.ts';
import {
  type RolloutJson,
  withClockMoved,
  withClockRead,
} from '../../catalog/documents/rollout-document.ts';
import { AppError } from '../../core/errors.ts';

/** Pure functions that change the status of a version on a channel. */

export type StatusVerb = Extract<ChangeKind, 'pause' | 'resume' | 'yank' | 'retire'>;

interface StatusEdit {
  /** The versions to edit. One pass over the offers edits all of them, because a rollback may edit thousands. */
  readonly versions: readonly string[];
  readonly reason: string | null;
}

/**
 * The offer after a change of status; undefined when the offer has that status already, and the command gives no other
 * reason.
 */
type Edit = (offer: OfferJson, edit: StatusEdit, now: number) => OfferJson | 'drop' | undefined;

const EDITS: Readonly<Record<StatusVerb, Edit>> = {
  // The plan of a rollout does not advance while the release is paused.
  pause: (offer, edit, now) => {
    refuseYanked(offer, 'paused');
    return withStatus(offer, 'paused', edit, (rollout) => withClockRead(rollout, now));
  },
  resume: (offer, edit, now) => {
    refuseYanked(offer, 'resumed');
    return withStatus(offer, 'active', edit, (rollout) => withClockMoved(rollout, now));
  },
  yank: (offer, edit) => withStatus(offer, 'yanked', edit, (rollout) => rollout),
  retire: () => 'drop',
};

function withStatus(
  offer: OfferJson,
  status: OfferJson['status'],
  { reason }: StatusEdit,
  edit: (rollout: RolloutJson) => RolloutJson,
): OfferJson | undefined {
  if (offer.status === status) {
    // An emergency pause leaves no time for a reason, so the operator can state or correct the reason later.
    const isOther = status !== 'active' && reason !== null && reason !== offer.reason;
    return isOther ? { ...offer, reason } : undefined;
  }
  const { rollout } = offer;
  return { ...offer, status, reason, ...(rollout && { rollout: edit(rollout) }) };
}

/**
 * Changes the status of versions that a channel lists or listed. A version that is paused or yanked already gets the
 * new reason, if the command gives one. Returns undefined when nothing changes.
 *
 * @param now by the store's clock
 * @throws AppError `status_forbids`
 */
export function editStatus(
  channel: ChannelJson,
  verb: StatusVerb,
  edit: StatusEdit,
  now: number,
): ChannelJson | undefined {
  const offers = new Map(channel.offers.map((offer) => [offer.version, offer]));
  const replaced = new Set<OfferJson>();
  const changed: OfferJson[] = [];
  const retired: string[] = [];
  for (const version of edit.versions) {
    const offer = offers.get(version);
    // Retiring a retired version again changes nothing; any other status needs an offer.
    if (offer === undefined) {
      if (verb === 'retire') continue;
      throw new AppError(
        'status_forbids',
        `${version} was retired, so its status cannot change. Publish a new version.`,
      );
    }
    const edited = EDITS[verb](offer, edit, now);
    if (edited === undefined) continue;
    replaced.add(offer);
    if (edited === 'drop') retired.push(version);
    else changed.push(edited);
  }
  if (replaced.size === 0) return undefined;
  const others = channel.offers.filter((offer) => !replaced.has(offer));
  const edited = { ...channel, offers: [...others, ...changed] };
  return retired.length === 0 ? edited : { ...edited, retired: [...channel.retired, ...retired] };
}

function refuseYanked(offer: OfferJson, participle: string): void {
  if (offer.status !== 'yanked') return;
  throw new AppError(
    'status_forbids',
    `${offer.version} was yanked, so it cannot be ${participle}: a yank is permanent. Publish a new version.`,
  );
}
