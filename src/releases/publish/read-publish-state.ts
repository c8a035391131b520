import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import {
  type ChannelJson,
  type Channels,
  channelIn,
  type OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { optionOf } from '../../catalog/reading/draft-text.ts';
import { draftIn } from '../../catalog/reading/list-drafts.ts';
import {
  type ManifestReference,
  readEveryManifest,
  readManifest,
} from '../../catalog/reading/read.ts';
import type { OfferRight } from '../../catalog/trust/trust.ts';
import type { CatalogState, WriterDeps } from '../../catalog/writing/change.ts';
import { openOfferRight } from '../../catalog/writing/offer-right.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { findArtifact, type Release } from '../../domain/release.ts';
import { parseVersion } from '../../domain/version.ts';
import { type Admission, admitToChannel, offersOf, refuseRemoved } from '../offer/channel-rules.ts';
import { continued, type Holding, noDraft } from '../offer/draft-rules.ts';
import { unsignedOffer } from '../offer/unsigned-offer.ts';
import { findMade } from './find-made.ts';
import { type Contribution, mergeRelease } from './merge-release.ts';
import { addsFiles, wasListed } from './refuse-other-bytes.ts';

/**
 * Reads the documents on which a publish depends. It makes one decision only: whether the channel admits the version.
 */

/** The state of a catalog, and the channel that a version may be published to. */
export interface Admitted extends CatalogState {
  /** The present channel; a new one when the publish creates it. */
  readonly channel: ChannelJson;
}

/** The state from which `planPublish` plans a publish. */
export interface PublishState extends Admitted {
  /** By the store's clock; milliseconds since the epoch. */
  readonly now: number;
  /** The newest manifest that the publisher may continue, offered or not; undefined for none. */
  readonly newest: ManifestReference | undefined;
  /**
   * The manifest to which the publisher adds: the manifest of the draft; without a draft, the newest manifest.
   * Undefined for a new release.
   */
  readonly base: ManifestReference | undefined;
  /** The manifests that channels offer, by number. */
  readonly offered: readonly ManifestReference[];
  /** The releases of offers with a corrupt manifest, as a newer manifest states them. */
  readonly restored: readonly Release[];
  /**
   * The releases in all manifests of the version, when a channel listed the version and lists it no longer; empty
   * otherwise.
   */
  readonly former: readonly Release[];
  /** See `OfferRight`. Undefined: the publisher may offer every release. */
  readonly offerRight: OfferRight | undefined;
  /** The draft's manifest when no key of the channel made it, and the publisher signs for the channel. */
  readonly unmade?: ManifestReference | undefined;
}

/**
 * Admits a version to a channel, on the state of the catalog that the publish will change. It needs no file, so a
 * publish does it before it hashes the files.
 *
 * @throws AppError the codes of {@link admitToChannel} and {@link refuseRemoved}; `unknown_version` when the request
 *   opens a draft and the channel has none
 */
export function admit(
  { channels, ...state }: CatalogState,
  request: Admission & Holding & { readonly version: string },
): Admitted {
  if (request.mode === 'open') refuseUndrafted(channels, request);
  const channel = admitToChannel(channels, parseVersion(request.version), request);
  refuseRemoved(channels, state.removedVersions, request.version);
  return { ...state, channels, channel };
}

function refuseUndrafted(
  channels: Channels,
  { channel: name, version }: Admission & { readonly version: string },
): void {
  const channel = channelIn(channels, name);
  // Another publisher may have opened the draft already.
  if (channel?.offers.some((offer) => offer.version === version)) return;
  if (channel === undefined || draftIn(channel, version) === undefined) {
    throw noDraft(channels, version, name);
  }
}

/**
 * Reads the manifests of the version. A publish continues a draft as the channel lists it, without files that another
 * publisher has not committed.
 *
 * @param stored the newest manifest
 * @throws AppError `document_corrupt`, with the option that allows it; `key_required` when the command opens what no key of
 *   the channel made or signed
 */
export async function readPublishState(
  deps: WriterDeps,
  admitted: Admitted,
  { mine, mode, channel: name }: Admission & Holding & { readonly mine: Contribution },
  stored: ManifestReference | undefined,
): Promise<PublishState> {
  const { channels, channel, removedVersions } = admitted;
  const { application, version } = mine;
  const draft = draftIn(channel, version);
  // A command that opens a draft has no files, so it cannot make a corrupt manifest again, and no option allows one.
  const listed = draft ?? channel.offers.find((offer) => offer.version === version);
  const opened =
    mode === 'open' && listed !== undefined
      ? await readManifest(deps, application, version, listed.manifest)
      : undefined;
  const isVerified = deps.trust?.of(application) !== undefined;
  const { next, trust } = admitted;
  const offerRight = await openOfferRight(deps, application, next, trust);
  const signs = offerRight?.signsFor(name, draft !== undefined) === true;
  const newest = await continuable(offerRight, admitted, { channel: name, version }, stored);
  const { offered: all, restored } = await readOffered(
    deps,
    mine,
    channels,
    isVerified ? undefined : newest,
  );
  // People see the manifest of a draft before they sign it, so they may open it. A command that signs by itself trusts only
  // what the keys of the channel have signed, for this channel.
  const isTrusted = ({ number }: ManifestReference): boolean =>
    offerRight === undefined ||
    (number === opened?.number && !signs) ||
    [...offersOf(channels, version)].some(
      ([each, offer]) =>
        offer.manifest.number === number && offerRight.isSigned(signs ? name : each, offer),
    );
  const offered = all.filter(isTrusted);
  // Publishers never replace files that clients may have, signed or not. But no unsigned file gets into the release.
  const unsigned = all.filter((reference) => !offered.includes(reference));
  for (const { release } of unsigned) mergeRelease(undefined, [release], mine);
  // No signed revision names the newest manifest: an attacker who writes the bucket may have stored it.
  const known = isVerified ? offered.at(-1) : newest;
  const drafted = draft && (opened ?? (await readDraft(deps, mine, draft)));
  const made =
    signs && draft !== undefined
      ? await findMade(
          deps,
          offerRight,
          { application, channel: name, draft, channels },
          drafted,
          offered.at(-1)?.number ?? 0,
        )
      : drafted;
  const base = draft === undefined ? known : (made ?? (signs ? known : undefined));
  const unmade = signs && drafted !== undefined && made !== drafted ? drafted : undefined;
  if (mode === 'open' && unmade !== undefined && base === undefined) {
    throw new AppError(
      'key_required',
      `No key of ${name} made the draft ${version} (manifest ${unmade.number}), so nothing was offered. To look at it, and to offer it: slipway sign ${version}${optionOf(name)}.`,
    );
  }
  if (mode === 'open' && draft === undefined && base === undefined && offerRight !== undefined) {
    throw unsignedOffer(name, version);
  }
  const needsFormer = wasListed(channels, removedVersions, version) && addsFiles(mine, offered);
  const former = needsFormer ? await readEveryManifest(deps, application, version) : [];
  const now = deps.clock.now();
  return { ...admitted, now, newest, base, offered, restored, former, offerRight, unmade };
}

/**
 * Returns the newest manifest when the publisher may use it again, or continue from it. Undefined when it is older than a
 * discarded draft, and when the publisher signs for the channel and no key of the channel made it.
 */
export async function continuable(
  right: OfferRight | undefined,
  { channels, channel }: Pick<Admitted, 'channels' | 'channel'>,
  { channel: name, version }: { readonly channel: string; readonly version: string },
  stored: ManifestReference | undefined,
): Promise<ManifestReference | undefined> {
  const newest = continued(channels, version, stored);
  const hasDraft = draftIn(channel, version) !== undefined;
  if (newest === undefined || right?.signsFor(name, hasDraft) !== true) return newest;
  return (await right.isMade(name, newest)) ? newest : undefined;
}

/**
 * The releases whose bytes clients may have: releases that a channel lists no longer, then releases that are offered
 * now. The last release has the statements that clients see.
 */
export function fixedReleases(
  { channels, removedVersions, base, offered, restored }: PublishState,
  version: string,
): readonly Release[] {
  return [
    ...(wasListed(channels, removedVersions, version) && base ? [base.release] : []),
    ...restored,
    ...offered.map(({ release }) => release),
  ];
}

/**
 * Reads the manifests of a version that channels offer, by number. Leaves out a corrupt manifest when a newer, sound
 * manifest has every build of the offer, or when the operator allows it with `--skip-corrupt`.
 *
 * @param newest the newest sound manifest; undefined for none
 * @throws AppError `document_corrupt`, with the option that allows it
 */
async function readOffered(
  deps: WriterDeps,
  { application, version }: Contribution,
  channels: Channels,
  newest: ManifestReference | undefined,
): Promise<Pick<PublishState, 'offered' | 'restored'>> {
  const offers = [...offersOf(channels, version).values()];
  const distinct = [...new Map(offers.map((offer) => [offer.manifest.number, offer])).values()];
  const restored: Release[] = [];
  const found = await Promise.all(
    distinct.map(async (offer) => {
      try {
        return await readManifest(deps, application, version, offer.manifest);
      } catch (error) {
        if (!isAppError(error, 'document_corrupt')) throw error;
        const { number } = offer.manifest;
        const release = restoredFrom(newest, offer);
        if (release !== undefined) restored.push(release);
        if (release !== undefined || deps.skipCorrupt?.includes(number)) return undefined;
        throw new AppError(
          'document_corrupt',
          `${error.message} This manifest lists the files of ${version}. To make it again from the files of this command alone, add --skip-corrupt ${number}. Then publish the other platforms of ${version} again.`,
          { cause: error },
        );
      }
    }),
  );
  const sound = found.filter((reference) => reference !== undefined);
  return { offered: sound.sort((a, b) => a.number - b.number), restored };
}

/**
 * The release of an offer, with the files that a newer manifest states for the offer's builds. Undefined when there is
 * no newer manifest, and when it lacks one of these builds. An
 * interrupted publisher may leave a newer manifest that lacks some of these builds.
 */
function restoredFrom(
  newest: ManifestReference | undefined,
  offer: OfferJson,
): Release | undefined {
  if (newest === undefined || newest.number <= offer.manifest.number) return undefined;
  const artifacts = offer.artifacts.flatMap(
    ({ os: platform, arch, format }) =>
      findArtifact(newest.release, { platform, arch, format }) ?? [],
  );
  if (artifacts.length < offer.artifacts.length) return undefined;
  return { ...newest.release, artifacts };
}

async function readDraft(
  deps: WriterDeps,
  { application, version }: Contribution,
  { manifest }: DraftJson,
): Promise<ManifestReference | undefined> {
  try {
    return await readManifest(deps, application, version, manifest);
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    if (deps.skipCorrupt?.includes(manifest.number)) return undefined;
    throw new AppError(
      'document_corrupt',
      `${error.message} It lists the files of the draft ${version}. To make it again from the files of this command alone, add --skip-corrupt ${manifest.number}. Then publish the other platforms of ${version} again.`,
      { cause: error },
    );
  }
}
