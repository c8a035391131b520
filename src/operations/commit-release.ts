import {
  type Committed,
  changeCatalog,
  changeManifest,
  registerApplication,
  type WriterDeps,
} from '../catalog/change.ts';
import { type ManifestReference, readRevision } from '../catalog/read.ts';
import { type OfferJson, offerJsonOf } from '../catalog/revision-document.ts';
import type { Release } from '../domain/release.ts';
import type { Target } from '../domain/target.ts';
import type { Version } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import {
  type Admission,
  admitToChannel,
  leftBehindOn,
  newestAbove,
  withOffer,
  withRollout,
} from './channel-rules.ts';
import { type Contribution, isSameRelease, mergeRelease } from './merge-release.ts';
import { fixedReleases, readFixed, readOffered } from './read-offered.ts';
import { refuseStranding } from './refuse-stranding.ts';

/** Facts about the channel for the publisher. */
interface OfferedFacts {
  readonly createdChannel: boolean;
  /** The channel that it inherits from. */
  readonly inherits: string | null;
  /** Machines that stay on an older release of the channel, because it has native builds for them. */
  readonly leftBehind: readonly Target[];
  /** The newest active release of the channel when it is newer than this one; null otherwise. */
  readonly newerVersion: string | null;
  /** The status of the offer: a paused release that gets another platform stays paused. */
  readonly status: OfferJson['status'];
  readonly rollout: OfferJson['rollout'];
}

export interface CommittedRelease extends Committed, OfferedFacts {
  readonly manifest: number;
  /** The whole release, with the artifacts that other publishers added. */
  readonly release: Release;
}

interface CommitOptions {
  /** Whether the list of applications has the application already. */
  readonly isListed: boolean;
  /** @throws AppError when the uploads are too old to be relied on */
  readonly ensureInTime: () => void;
}

/** Enough for publishers of every platform that commit at the same moment. */
const ROUNDS_MAX = 50;

/**
 * The last steps of publishing: the manifest, then the catalog revision that offers it. When another publisher's
 * artifacts or corrected notes were offered in between, the manifest lacks them; it is then made again, so that none of
 * them is lost.
 *
 * @throws AppError those of `admitToChannel`, `mergeRelease`, `refuseStranding` and `readOffered`; the store's
 */
export async function commitRelease(
  deps: WriterDeps,
  version: Version,
  admission: Admission,
  mine: Contribution,
  { isListed, ensureInTime }: CommitOptions,
): Promise<CommittedRelease> {
  const { application } = mine;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    // Read again after the uploads: other publishers may have published meanwhile.
    const revision = await readRevision(deps, application);
    const complete = async (newest: ManifestReference | undefined) => {
      const fixed = await readFixed(deps, mine, revision?.signed.channels ?? {}, newest);
      ensureInTime();
      const merged = mergeRelease(newest?.release, fixed, mine);
      return newest !== undefined && isSameRelease(newest.release, merged) ? undefined : merged;
    };
    const manifest = await changeManifest(deps, application, mine.version, complete, {
      // Only revisions name manifests: without a revision, no document refers to this sequence.
      isUnreferenced: revision === undefined,
    });
    if (!isListed) await registerApplication(deps, application);
    const offered = await commitOffer(deps, version, admission, mine, manifest);
    if (offered !== 'lacking')
      return { manifest: manifest.number, release: manifest.release, ...offered };
  }
  throw new AppError(
    'store_unavailable',
    `Other publishers kept adding to ${mine.version}. Run the same command again.`,
  );
}

/** @returns `lacking` when the manifest lacks what another publisher or operator changed meanwhile */
async function commitOffer(
  deps: WriterDeps,
  version: Version,
  admission: Admission,
  mine: Contribution,
  manifest: ManifestReference,
): Promise<(Committed & OfferedFacts) | 'lacking'> {
  const { channel: name } = admission;
  let facts: OfferedFacts | undefined;
  const committed = await changeCatalog(deps, mine.application, async (channels) => {
    const channel = admitToChannel(channels, version, admission);
    const offered = await readOffered(deps, mine, channels, manifest.number);
    const fixed = fixedReleases(offered, mine, channels, manifest);
    // Made again from what is offered by now, it would be another: it lacks files, or has notes that were corrected.
    if (!isSameRelease(manifest.release, mergeRelease(manifest.release, fixed, mine))) {
      facts = undefined;
      return undefined;
    }
    const existing = channel.offers.find((offer) => offer.version === mine.version);
    const kept = withKept(offerJsonOf(manifest.release, manifest), existing);
    const offer = withRollout(deps, kept, existing, admission);
    const after = withOffer(channels, name, channel, offer);
    facts = {
      createdChannel: !Object.hasOwn(channels, name),
      inherits: channel.inherits,
      leftBehind: leftBehindOn(after, name, version),
      newerVersion: newestAbove(channel, version),
      status: offer.status,
      rollout: offer.rollout,
    };
    if (existing !== undefined && isCovered(existing.manifest, offered, mine)) return undefined;
    if (existing === undefined && !admission.allowStranded) refuseStranding(after, name, offer);
    return {
      change: {
        ...{ kind: 'publish', version: mine.version, channels: [name], reason: null },
        summary: existing === undefined ? admission.rollout?.text : undefined,
      },
      channels: after,
    };
  });
  return facts === undefined ? 'lacking' : { ...committed, ...facts };
}

/** Whether the offered manifest already states everything that this publisher adds. */
function isCovered(
  manifest: { readonly number: number },
  offered: readonly ManifestReference[],
  mine: Contribution,
): boolean {
  const current = offered.find(({ number }) => number === manifest.number);
  if (current === undefined) return false;
  return isSameRelease(current.release, mergeRelease(current.release, [current.release], mine));
}

/**
 * Keeps the status of the offer: a paused release that gets another platform stays paused. Native builds that ended
 * stay ended, even when the release that ended them was withdrawn.
 */
function withKept(offer: OfferJson, existing: OfferJson | undefined): OfferJson {
  if (existing === undefined) return offer;
  const { status, reason, ends_native: ended = [] } = existing;
  return { ...offer, status, reason, ends_native: [...(offer.ends_native ?? []), ...ended] };
}
