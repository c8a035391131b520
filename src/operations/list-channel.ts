import type { LoadedRelease } from '../catalog/catalog.ts';
import { chooseArtifact } from '../domain/choose-artifact.ts';
import { isForAllClients } from '../domain/decide-update.ts';
import type { Offer } from '../domain/offer.ts';
import type { Release } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { compareVersions, inRange, versionText } from '../domain/version.ts';
import { whenKnown } from '../when-known.ts';
import { type FoundUpdate, findUpdate } from './find-update.ts';
import { notEntitled, type ServiceDeps } from './open-channel.ts';

/** The update of a client, with the older releases that a feed lists beside it. */
export interface ChannelListing extends FoundUpdate {
  /** Active releases that the client can install, newest first. */
  readonly olderReleases: readonly Release[];
  /** The release that a client has which is offered nothing, when it carries signed documents; undefined for none. */
  readonly ownSigned: LoadedRelease | undefined;
}

/**
 * Lists a channel for a feed.
 *
 * {@link findUpdate} makes the decision, so every rule of an offer applies here as well. The older releases are older
 * than the offered release. Without an offer, they are not newer than the client's version.
 *
 * @param olderMax how many releases to list beside the offered one
 * @param tier of the requesting account; null when the client is not signed in
 * @param wantsSigned whether to find {@link ChannelListing.ownSigned}
 *
 * Synchronous like {@link findUpdate} when there are no older releases to list.
 *
 * @throws AppError `not_entitled`, and those of {@link findUpdate}
 */
export function listChannel(
  deps: ServiceDeps,
  query: UpdateQuery,
  olderMax: number,
  tier: string | null,
  wantsSigned: boolean,
): ChannelListing | Promise<ChannelListing> {
  return whenKnown(findUpdate(deps, query, tier), (found) => {
    if (found.decision.reason === 'not_entitled') {
      throw notEntitled(query.application, found.channel.name);
    }
    const { channel, isRestricted, revision, decision, offered, isPartial } = found;
    const list = (
      olderReleases: readonly Release[],
      ownSigned: ChannelListing['ownSigned'],
    ): ChannelListing => ({
      channel,
      isRestricted,
      revision,
      decision,
      offered,
      isPartial,
      olderReleases,
      ownSigned,
    });
    return whenKnown(wantsSigned ? findOwnSigned(deps, found, query) : undefined, (own) => {
      if (olderMax === 0) return list(NO_RELEASES, own);
      const older = olderOffers(deps, found, query).slice(0, olderMax);
      return loadOlder(deps, query, older).then((releases) => list(releases, own));
    });
  });
}

const NO_RELEASES: readonly Release[] = [];

/**
 * The release that a client has, for a client that trusts only signed documents: it takes a generated "no update" for
 * an attack. A yanked release is not shown again.
 */
function findOwnSigned(
  { catalog }: ServiceDeps,
  { channel, offered }: FoundUpdate,
  { application, currentVersion }: UpdateQuery,
): ChannelListing['ownSigned'] | Promise<ChannelListing['ownSigned']> {
  if (offered !== undefined || currentVersion === null) return undefined;
  const own = channel.offerOf(versionText(currentVersion));
  if (own?.hasSignedDocuments !== true || own.status === 'yanked') return undefined;
  return catalog.application(application).release(own);
}

async function loadOlder(
  { catalog }: ServiceDeps,
  query: UpdateQuery,
  offers: readonly Offer[],
): Promise<readonly Release[]> {
  const application = catalog.application(query.application);
  const releases: Release[] = [];
  for (const offer of offers) {
    const release = await application.release(offer);
    // Undefined when the stored release does not match its digest: the catalog has dropped it.
    if (release !== undefined) releases.push(release);
  }
  return releases;
}

function olderOffers(
  { clock }: ServiceDeps,
  { channel, decision }: FoundUpdate,
  query: UpdateQuery,
): readonly Offer[] {
  const now = clock.now();
  const { platform, arch, currentVersion } = query;
  const isOlder = (offer: Offer): boolean => {
    if (decision.reason === 'offer') {
      return compareVersions(offer.version, decision.offer.version) < 0;
    }
    return currentVersion !== null && compareVersions(offer.version, currentVersion) <= 0;
  };
  return channel
    .offersFor(platform, arch)
    .offers.filter((offer) => isOlder(offer) && isInstallable(offer, query, now));
}

function isInstallable(offer: Offer, query: UpdateQuery, now: number): boolean {
  if (!isForAllClients(offer, now)) return false;
  if ('refused' in chooseArtifact(offer.artifacts, query)) return false;
  const { currentVersion } = query;
  if (offer.requires === null) return true;
  if (currentVersion === null) return false;
  // A release that is not newer than the client's version is not an update, so its requirement does not matter.
  return (
    compareVersions(offer.version, currentVersion) <= 0 || inRange(currentVersion, offer.requires)
  );
}
