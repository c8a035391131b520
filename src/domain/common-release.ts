import type { ChannelView } from './channel.ts';
import { artifactFrom, isNewer, takesOf } from './decide-update.ts';
import { createNatives, type Natives } from './native-builds.ts';
import { indexUpTo, type Offer, type OfferedArtifact } from './offer.ts';
import { PLATFORMS, type Platform } from './platform.ts';
import type { UpdateQuery } from './update-query.ts';

/** One release for several machines: for a document that states one version, and that every client downloads. */

/** A kind of machine, by the name that the document has for it. */
export interface NamedMachine extends Pick<UpdateQuery, 'platform' | 'arch' | 'formats'> {
  readonly name: string;
}

/** What a machine gets, by the name that the document has for it. */
export interface NamedBuild<Artifact> {
  readonly name: string;
  readonly artifact: Artifact;
}

export interface CommonRelease {
  readonly offer: Offer;
  /** What each machine gets, in the order of the machines. A machine without a build in this release is left out. */
  readonly builds: readonly NamedBuild<OfferedArtifact>[];
}

/**
 * The newest release that every machine gets which the channel serves; undefined when there is none, or none newer than
 * the client's version.
 *
 * The channel serves a machine when this or an older active release has a native build that the client can install.
 * Such a machine holds a release back when it cannot have it. Otherwise the document would lack the machine, and its
 * clients would report an error or install another kind of package. A release that ends the native builds of a target
 * (`--end-native`) frees the document of it. So does retiring the releases with the builds that are not made any more.
 *
 * A machine that the channel does not serve holds nothing back. It gets the release when it can, for example by
 * emulation.
 *
 * @param query the client, except for its machine
 * @param now by the store's clock; milliseconds since the epoch
 */
export function findCommonRelease(
  query: UpdateQuery,
  machines: readonly NamedMachine[],
  channel: ChannelView,
  now: number,
): CommonRelease | undefined {
  const clients = machines
    .map(({ name, platform, arch, formats }) => ({
      name,
      query: { ...query, platform, arch, formats },
    }))
    .filter((client) => hasBuilds(client.query, channel));
  const nativesOf = nativesIn(channel);
  for (let index = 0; index < channel.offers.length; ) {
    const offer = channel.offers[index];
    if (offer === undefined || !isNewer(offer, query)) return undefined;
    const natives = nativesOf[index];
    const builds: NamedBuild<OfferedArtifact>[] = [];
    let refused: UpdateQuery | undefined;
    for (const client of clients) {
      const artifact = artifactFrom(offer, client.query, channel, now);
      if (artifact !== undefined) builds.push({ name: client.name, artifact });
      else if (isServed(client.query, natives)) {
        refused = client.query;
        break;
      }
    }
    if (refused === undefined && builds.length > 0) return { offer, builds };
    index = nextIndex(channel, index, refused);
  }
  return undefined;
}

function hasBuilds({ platform, arch }: UpdateQuery, channel: ChannelView): boolean {
  return channel.offersFor(platform, arch).offers.length > 0;
}

/** Whether a release up to now has a native build that the client can install. */
function isServed(
  query: UpdateQuery,
  natives: ReadonlyMap<Platform, Natives> | undefined,
): boolean {
  const builds = query.arch === null ? undefined : natives?.get(query.platform)?.get(query.arch);
  return builds?.some(takesOf(query)) === true;
}

/** Skips the offers without a build for the machine that refused one: it would refuse them too. */
function nextIndex(channel: ChannelView, index: number, refused: UpdateQuery | undefined): number {
  const offer = channel.offers[index];
  if (refused === undefined || offer === undefined) return index + 1;
  const { offers } = channel.offersFor(refused.platform, refused.arch);
  const at = indexUpTo(offers, offer.version);
  const next = offers[at] === offer ? offers[at + 1] : offers[at];
  return next === undefined ? index + 1 : indexUpTo(channel.offers, next.version);
}

/** Made once for each view: thousands of offers take several milliseconds. */
const known = new WeakMap<ChannelView, readonly ReadonlyMap<Platform, Natives>[]>();

/** For each offer: the native builds of this and all older offers, without those that were ended. */
function nativesIn(channel: ChannelView): readonly ReadonlyMap<Platform, Natives>[] {
  const found = known.get(channel);
  if (found !== undefined) return found;
  const natives = createNatives();
  const all = channel.offers.toReversed().map((offer) => {
    natives.end(offer);
    natives.add(offer);
    return new Map(PLATFORMS.map((platform) => [platform, natives.of(platform)]));
  });
  known.set(channel, all.reverse());
  return all;
}
