import type { ChannelView } from './channel.ts';
import { artifactFrom, isNewer, takesOf } from './decide-update.ts';
import { createNatives, mayBeOffered, type Natives } from './native-builds.ts';
import { indexUpTo, type Offer, type OfferedArtifact } from './offer.ts';
import { PLATFORMS, type Platform } from './platform.ts';
import type { UpdateQuery } from './update-query.ts';
import { compareVersions } from './version.ts';

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
 * The channel serves a machine when the client would be offered some release on it. Such a machine holds a release back
 * that it cannot have. Otherwise the document would lack the machine, and its clients would report an error or install
 * another kind of package. Two things free the document of a machine that gets no builds any more: a release that ends
 * the native builds of its target (`--end-native`), and retiring the releases that have a build for it.
 *
 * A machine that the channel does not serve holds nothing back. Neither does `universal`, which is a kind of build and
 * not a processor. They get the release when they can.
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
  const clients = machines.flatMap((machine) => findServed(query, machine, channel, now));
  const nativesOf = nativesIn(channel);
  for (let index = 0; index < channel.offers.length; ) {
    const offer = channel.offers[index];
    if (offer === undefined || !isNewer(offer, query)) return undefined;
    const builds: NamedBuild<OfferedArtifact>[] = [];
    let refused: Served | undefined;
    for (const client of clients) {
      const artifact = buildFor(client, offer, channel, now);
      if (artifact !== undefined) builds.push({ name: client.name, artifact });
      else if (holdsBack(client, offer, nativesOf[index])) {
        refused = client;
        break;
      }
    }
    if (refused === undefined && builds.length > 0) return { offer, builds };
    index = nextIndex(channel, index, refused);
  }
  return undefined;
}

/**
 * The names of the machines that hold back a release, see {@link findCommonRelease}. Empty when no machine gets it.
 *
 * @param offer one of the channel's offers
 * @param now as for {@link findCommonRelease}
 */
export function findHolding(
  query: UpdateQuery,
  machines: readonly NamedMachine[],
  channel: ChannelView,
  offer: Offer,
  now: number,
): readonly string[] {
  const clients = machines.flatMap((machine) => findServed(query, machine, channel, now));
  const lacking = clients.filter((each) => buildFor(each, offer, channel, now) === undefined);
  if (lacking.length === clients.length) return [];
  const natives = nativesIn(channel)[indexUpTo(channel.offers, offer.version)];
  return lacking.filter((each) => holdsBack(each, offer, natives)).map(({ name }) => name);
}

/** A machine that the channel serves. */
interface Served {
  readonly name: string;
  readonly query: UpdateQuery;
  /** The newest release for it, with its build there. */
  readonly newest: Offer;
  readonly artifact: OfferedArtifact;
}

function findServed(
  client: UpdateQuery,
  { name, platform, arch, formats }: NamedMachine,
  channel: ChannelView,
  now: number,
): readonly Served[] {
  const machine = channel.offersFor(platform, arch);
  if (formats?.some((format) => machine.formats.has(format)) === false) return [];
  const query = { ...client, platform, arch, formats };
  for (const newest of machine.offers) {
    const artifact = artifactFrom(newest, query, channel, now);
    if (artifact !== undefined) return [{ name, query, newest, artifact }];
  }
  return [];
}

function buildFor(
  { query, newest, artifact }: Served,
  offer: Offer,
  channel: ChannelView,
  now: number,
): OfferedArtifact | undefined {
  if (newest === offer) return artifact;
  return isAbove(newest, offer) ? artifactFrom(offer, query, channel, now) : undefined;
}

/** Whether a machine without a build in a release keeps the document from it. */
function holdsBack(
  { query, newest }: Served,
  offer: Offer,
  natives: NativesByPlatform | undefined,
): boolean {
  const { platform, arch } = query;
  if (arch === null || arch === 'universal') return false;
  // Without native builds up to the release, they were ended, or the machine only ran builds by emulation.
  const builds = natives?.get(platform)?.get(arch);
  return isAbove(newest, offer) || builds?.some(takesOf(query)) === true;
}

function isAbove(a: Offer, b: Offer): boolean {
  return compareVersions(a.version, b.version) > 0;
}

/** Skips the offers without any build for the machine that held one back: it holds them back too. */
function nextIndex(channel: ChannelView, index: number, refused: Served | undefined): number {
  const offer = channel.offers[index];
  if (refused === undefined || offer === undefined) return index + 1;
  const { platform, arch } = refused.query;
  const { offers } = channel.offersFor(platform, arch);
  const next = offers[indexUpTo(offers, offer.version)];
  return next === undefined || next === offer ? index + 1 : indexUpTo(channel.offers, next.version);
}

type NativesByPlatform = ReadonlyMap<Platform, Natives>;

/** Made once for each view. */
const known = new WeakMap<ChannelView, readonly NativesByPlatform[]>();

/** For each offer: the native builds of this and all older offers, without those that were ended. */
function nativesIn(channel: ChannelView): readonly NativesByPlatform[] {
  const found = known.get(channel);
  if (found !== undefined) return found;
  const natives = createNatives();
  let present: NativesByPlatform = new Map();
  let added: Offer['artifacts'] | undefined;
  const all = channel.offers.toReversed().map((offer) => {
    // Thousands of offers share one list of builds, see `createOfferParser`: it is added once.
    const isSame = offer.artifacts === added && offer.endsNative.length === 0;
    if (isSame || !mayBeOffered(offer)) return present;
    natives.end(offer);
    natives.add(offer);
    added = offer.artifacts;
    present = new Map(PLATFORMS.map((platform) => [platform, natives.of(platform)]));
    return present;
  });
  known.set(channel, all.reverse());
  return all;
}
