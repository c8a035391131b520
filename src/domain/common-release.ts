import type { ChannelView } from './channel.ts';
import { type Choice, chooseArtifact } from './choose-artifact.ts';
import { artifactFrom, isNewer, obstacleFor, reachedBy, takesOf } from './decide-update.ts';
import { createNatives, mayBeOffered, type Natives } from './native-builds.ts';
import { indexUpTo, type Offer, type OfferedArtifact } from './offer.ts';
import { nextWhole } from './offers-by-machine.ts';
import { PLATFORMS, type Platform } from './platform.ts';
import type { UpdateQuery } from './update-query.ts';
import { compareVersions } from './version.ts';

/** One release for several machines: for a document that states one version, and that every client downloads. */

/** A kind of machine, by the name that the document has for it. */
export interface NamedMachine extends Pick<UpdateQuery, 'platform' | 'arch' | 'formats'> {
  readonly name: string;
}

/** The build for a machine. Its name is the machine's name in the document. */
export interface NamedBuild<Artifact> {
  readonly name: string;
  readonly artifact: Artifact;
}

export interface CommonRelease {
  readonly offer: Offer;
  /** The build for each machine, in the order of the machines. A machine without a build in this release is left out. */
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
 * not a processor. Both get the release when they can.
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
  const isPossible = possibleFor(query, channel, now);
  const clients = findServed(query, machines, channel, isPossible);
  const { natives } = factsOf(channel);
  // The machine that held back the last release mostly holds back the next one too: it is asked first.
  const asked = [...clients];
  for (const offer of channel.offers) {
    if (clients.length === 0 || !isNewer(offer, query)) return undefined;
    if (!isPossible(offer)) continue;
    const refused = asked.findIndex(
      (each) =>
        buildFor(each, offer, channel, now) === undefined &&
        holdsBack(each, offer, natives.get(offer)),
    );
    if (refused >= 0) {
      asked.unshift(...asked.splice(refused, 1));
      continue;
    }
    const builds = clients.flatMap((each) => {
      const artifact = buildFor(each, offer, channel, now);
      return artifact === undefined ? [] : [{ name: each.name, artifact }];
    });
    if (builds.length > 0) return { offer, builds };
  }
  return undefined;
}

/** The use of a release to the machines of a document, by their names there. */
export interface DividedMachines {
  readonly getting: readonly string[];
  /** Those that hold the release back, see {@link findCommonRelease}. Empty when no machine gets it. */
  readonly holding: readonly string[];
}

/**
 * Divides the machines by whether they get a release.
 *
 * @param offer one of the channel's offers
 * @param now as for {@link findCommonRelease}
 */
export function divideMachines(
  query: UpdateQuery,
  machines: readonly NamedMachine[],
  channel: ChannelView,
  offer: Offer,
  now: number,
): DividedMachines {
  const clients = findServed(query, machines, channel, possibleFor(query, channel, now));
  const lacking = clients.filter((each) => buildFor(each, offer, channel, now) === undefined);
  const getting = clients.filter((each) => !lacking.includes(each)).map(({ name }) => name);
  if (getting.length === 0) return { getting, holding: [] };
  const natives = factsOf(channel).natives.get(offer);
  const holding = lacking.filter((each) => holdsBack(each, offer, natives));
  return { getting, holding: holding.map(({ name }) => name) };
}

/** True when no rule keeps an offer from the client on every machine. It is decided once for all machines. */
function possibleFor(
  query: UpdateQuery,
  channel: ChannelView,
  now: number,
): (offer: Offer) => boolean {
  const isReached = reachedBy(query, channel, now);
  return once((offer: Offer) => obstacleFor(offer, query, isReached) === undefined);
}

/** The same function, which computes the result for each value once. */
function once<Value, Result extends {}>(
  compute: (value: Value) => Result,
): (value: Value) => Result {
  const results = new Map<Value, Result>();
  return (value) => {
    const known = results.get(value);
    if (known !== undefined) return known;
    const result = compute(value);
    results.set(value, result);
    return result;
  };
}

/** A machine that the channel serves. */
interface Served {
  readonly name: string;
  readonly query: UpdateQuery;
  /** Searches each list of artifacts once. */
  readonly choose: (artifacts: Offer['artifacts']) => Choice;
  /** The newest release for it, with its build there. */
  readonly newest: Offer;
  readonly artifact: OfferedArtifact;
}

/**
 * The machines that the channel serves.
 *
 * An anonymous client causes this search, for dozens of machines in a channel with thousands of offers. So what is
 * equal for all machines is decided once, and the rest is looked up.
 */
function findServed(
  client: UpdateQuery,
  machines: readonly NamedMachine[],
  channel: ChannelView,
  isPossible: (offer: Offer) => boolean,
): readonly Served[] {
  const { lists } = factsOf(channel);
  const first = channel.offers.find(isPossible);
  if (first === undefined) return [];
  return machines.flatMap(({ name, platform, arch, formats }) => {
    const machine = channel.offersFor(platform, arch);
    if (formats?.some((format) => machine.formats.has(format)) === false) return [];
    const query = { ...client, platform, arch, formats };
    const takes = takesOf(query);
    const choose = once((artifacts: Offer['artifacts']) => chooseArtifact(artifacts, query));
    if (!lists.some((list) => 'artifact' in choose(list))) return [];
    const { offers } = machine;
    let index = nextWhole(machine, indexUpTo(offers, first.version) - 1, takes);
    for (; index < offers.length; index = nextWhole(machine, index, takes)) {
      const newest = offers[index];
      if (newest === undefined || !isPossible(newest)) continue;
      const choice = choose(newest.artifacts);
      if ('artifact' in choice) return [{ name, query, choose, newest, ...choice }];
    }
    return [];
  });
}

function buildFor(
  { query, choose, newest, artifact }: Served,
  offer: Offer,
  channel: ChannelView,
  now: number,
): OfferedArtifact | undefined {
  if (newest === offer) return artifact;
  if (!isAbove(newest, offer) || 'refused' in choose(offer.artifacts)) return undefined;
  return artifactFrom(offer, query, channel, now);
}

/** True when a machine keeps a release out of the document, because the release has no build for it. */
function holdsBack(
  { query, newest }: Served,
  offer: Offer,
  natives: NativesByPlatform | undefined,
): boolean {
  const { platform, arch } = query;
  if (arch === null || arch === 'universal') return false;
  // No native build up to this release: the publisher ended them, or the machine only ran emulated builds.
  const builds = natives?.get(platform)?.get(arch);
  return isAbove(newest, offer) || builds?.some(takesOf(query)) === true;
}

function isAbove(a: Offer, b: Offer): boolean {
  return compareVersions(a.version, b.version) > 0;
}

type NativesByPlatform = ReadonlyMap<Platform, Natives>;

interface ChannelFacts {
  /** For each offer: the native builds of this and all older offers, without those that were ended. */
  readonly natives: ReadonlyMap<Offer, NativesByPlatform>;
  /** The different lists of artifacts: thousands of offers share a few, see `createOfferParser`. */
  readonly lists: readonly Offer['artifacts'][];
}

/** Made once for each view. */
const known = new WeakMap<ChannelView, ChannelFacts>();

function factsOf(channel: ChannelView): ChannelFacts {
  const found = known.get(channel);
  if (found !== undefined) return found;
  const lists = [...new Set(channel.offers.map(({ artifacts }) => artifacts))];
  const facts = { natives: nativesIn(channel), lists };
  known.set(channel, facts);
  return facts;
}

function nativesIn(channel: ChannelView): ChannelFacts['natives'] {
  const natives = createNatives();
  let present: NativesByPlatform = new Map();
  let added: Offer['artifacts'] | undefined;
  const all = new Map<Offer, NativesByPlatform>();
  for (const offer of channel.offers.toReversed()) {
    // A shared list of builds is added once.
    const isSame = offer.artifacts === added && offer.endsNative.length === 0;
    if (!isSame && mayBeOffered(offer)) {
      natives.end(offer);
      natives.add(offer);
      added = offer.artifacts;
      present = new Map(PLATFORMS.map((platform) => [platform, natives.of(platform)]));
    }
    all.set(offer, present);
  }
  return all;
}
