import type { ChangeKind, ChannelJson, OfferJson } from '../catalog/revision-document.ts';
import { type RolloutJson, withClockMoved, withClockRead } from '../catalog/rollout-document.ts';
import { AppError } from '../errors.ts';

/** How a channel's offer of a version changes its status. Pure. */

export type StatusVerb = Extract<ChangeKind, 'pause' | 'resume' | 'yank' | 'retire'>;

interface StatusEdit {
  readonly version: string;
  readonly reason: string | null;
}

/** The offer after a change of status; undefined when it has that status already. */
type Edit = (offer: OfferJson, edit: StatusEdit, now: number) => OfferJson | 'drop' | undefined;

const EDITS: Readonly<Record<StatusVerb, Edit>> = {
  // The plan of a rollout stands still while the release is paused.
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
  if (offer.status === status) return undefined;
  const { rollout } = offer;
  return { ...offer, status, reason, ...(rollout && { rollout: edit(rollout) }) };
}

/**
 * A channel that lists or listed the version, after a change of its status; undefined when the version has that status
 * already.
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
  const offer = channel.offers.find((candidate) => candidate.version === edit.version);
  if (offer === undefined) {
    // Retiring a retired version again changes nothing; any other status needs an offer.
    if (verb === 'retire') return undefined;
    throw new AppError(
      'status_forbids',
      `${edit.version} was retired, so its status cannot change. Publish a new version.`,
    );
  }
  const edited = EDITS[verb](offer, edit, now);
  if (edited === undefined) return undefined;
  const others = channel.offers.filter((candidate) => candidate !== offer);
  return edited === 'drop'
    ? { ...channel, offers: others, retired: [...channel.retired, offer.version] }
    : { ...channel, offers: [...others, edited] };
}

function refuseYanked(offer: OfferJson, participle: string): void {
  if (offer.status !== 'yanked') return;
  throw new AppError(
    'status_forbids',
    `${offer.version} was yanked, so it cannot be ${participle}: a yank is permanent. Publish a new version.`,
  );
}
