import type { LoadedRelease } from '../../catalog/live/catalog.ts';
import { whenKnown } from '../../core/when-known.ts';
import { chooseArtifact } from '../../domain/choose-artifact.ts';
import type { NamedBuild } from '../../domain/common-release.ts';
import { isForAllClients } from '../../domain/decide-update.ts';
import type { Offer } from '../../domain/offer.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { compareVersions, inRange, type Version, versionText } from '../../domain/version.ts';
import { type FoundUpdate, findUpdate } from '../find-update.ts';
import { notEntitled, type ServiceDeps, seeChannel } from '../open-channel.ts';
import { openChannels } from '../open-channels.ts';

/** The update of a client, with the older releases that a feed lists beside it. */
export interface ChannelListing extends FoundUpdate {
  /**
   * Active releases that the client can install, newest first. The function goes through all offers of the channel, so
   * callers use it only for an answer that is not in memory.
   */
  readonly olderReleases: () => readonly Release[] | Promise<readonly Release[]>;
  /** The builds of a release for several machines, see `listCommonRelease`; empty for any other listing. */
  readonly builds: readonly NamedBuild<Artifact>[];
  /**
   * The release that the client has. Set only when the client is offered nothing and the dialect wants this release:
   * see {@link OwnWanted}.
   */
  readonly own: LoadedRelease | undefined;
}

export interface ChannelQuery extends UpdateQuery {
  /**
   * Other values of `currentVersion`, for updaters that write several versions alike. The service uses the first of
   * these versions that the channel lists.
   */
  readonly versions?: readonly Version[];
}

/**
 * When a client is offered nothing, a dialect may answer with the release that the client has. This type says for which
 * releases the dialect does so.
 */
export type OwnWanted = 'none' | 'with_signed_documents' | 'every';

/** @see ChannelQuery.versions */
function withListedVersion(
  deps: ServiceDeps,
  asked: ChannelQuery,
  tier: string | null,
): UpdateQuery {
  if (asked.versions === undefined) return asked;
  const application = deps.catalog.application(asked.application);
  const { channel } = seeChannel(deps, application, asked.channel, tier);
  const listed = asked.versions.find((each) => channel.offerOf(versionText(each)) !== undefined);
  return listed === undefined ? asked : { ...asked, currentVersion: listed };
}

/**
 * Lists a channel for a feed.
 *
 * {@link findUpdate} makes the decision, so every rule of an offer applies here as well. The older releases are older
 * than the offered release. Without an offer, they are not newer than the client's version.
 *
 * The function is synchronous unless a release has not been read yet.
 *
 * @param olderMax the most releases to list beside the offered release
 * @param tier of the requesting account; null when the client is not signed in
 * @param ownWanted says whether to find {@link ChannelListing.own}
 *
 * @throws AppError `not_entitled`, `unknown_application`, `unknown_channel`, `catalog_unavailable`, `store_unavailable`
 */
export function listChannel(
  deps: ServiceDeps,
  asked: ChannelQuery,
  olderMax: number,
  tier: string | null,
  ownWanted: OwnWanted,
): ChannelListing | Promise<ChannelListing> {
  const query = withListedVersion(deps, asked, tier);
  return whenKnown(findUpdate(deps, query, tier), (found) => {
    if (found.decision.reason === 'not_entitled') {
      throw notEntitled(query.application, found.channel.name);
    }
    const { channel, revision, decision, offered, stage } = found;
    const own = seeOwn(deps, found, query, tier, ownWanted);
    const olderReleases =
      olderMax === 0
        ? NO_RELEASES
        : () => loadOlder(deps, query, olderOffers(deps, found, query).slice(0, olderMax));
    return whenKnown(
      own.offer && loadOwn(deps, query, own.offer),
      (release): ChannelListing => ({
        channel,
        isRestricted: found.isRestricted || own.isRestricted,
        revision,
        decision,
        offered,
        stage,
        olderReleases,
        builds: NO_BUILDS,
        own: release,
      }),
    );
  });
}

/** The {@link ChannelListing.olderReleases} of a document that lists no older releases. */
export const NO_RELEASES: ChannelListing['olderReleases'] = () => [];
const NO_BUILDS: readonly NamedBuild<Artifact>[] = [];

interface OwnOffer {
  /** Undefined unless the dialect wants the release. */
  readonly offer: Offer | undefined;
  /** True when another account may get another answer, because the search looked at other channels. */
  readonly isRestricted: boolean;
}

const NO_OWN: OwnOffer = { offer: undefined, isRestricted: false };

/**
 * The offer of the version that a client has. Two kinds of clients need this release: clients that trust only signed
 * documents consider a generated "no update" an attack, and some other clients need a document that lists a release. A
 * yanked offer counts too, because a client that has the version does not install it again. A client that moved from
 * beta to stable may have a version that only beta lists.
 */
function seeOwn(
  deps: ServiceDeps,
  { channel, offered }: FoundUpdate,
  { application, currentVersion }: UpdateQuery,
  tier: string | null,
  wanted: OwnWanted,
): OwnOffer {
  if (wanted === 'none' || offered !== undefined || currentVersion === null) return NO_OWN;
  const ifWanted = (offer: Offer | undefined): Offer | undefined =>
    wanted === 'every' || offer?.hasSignedDocuments === true ? offer : undefined;
  const version = versionText(currentVersion);
  const listed = channel.offerOf(version);
  if (listed !== undefined) return { ...NO_OWN, offer: ifWanted(listed) };
  const ready = deps.catalog.application(application);
  const offers = openChannels(deps, ready, channel.name, tier).map((each) =>
    ifWanted(each.channel.offerOf(version)),
  );
  // The answer is restricted when any channel is. Otherwise the cache headers would tell every client whether a
  // restricted channel lists the version.
  const names = [...ready.snapshot().channels.keys()];
  const isRestricted = names.some((name) => deps.tiers.restricts(application, name));
  return { offer: offers.find((offer) => offer !== undefined), isRestricted };
}

function loadOwn({ catalog }: ServiceDeps, { application }: UpdateQuery, offer: Offer) {
  return catalog.application(application).release(offer);
}

/** Returns no promise when all older releases are in memory. */
function loadOlder(
  { catalog }: ServiceDeps,
  query: UpdateQuery,
  offers: readonly Offer[],
): readonly Release[] | Promise<readonly Release[]> {
  const application = catalog.application(query.application);
  let releases: readonly Release[] | Promise<readonly Release[]> = [];
  for (const offer of offers) {
    releases = whenKnown(releases, (before) =>
      // The release is undefined when its stored bytes do not match its digest. The catalog has then dropped it.
      whenKnown(application.release(offer), (release) =>
        release === undefined ? before : [...before, release],
      ),
    );
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
