import type { ChannelView } from './channel.ts';
import { type Choice, chooseArtifact } from './choose-artifact.ts';
import { artifactFrom, isNewer, obstacleFor, reachedBy, takesOf } from './decide-update.ts';
import { createNatives, mayBeOffered, type Natives } from './native-builds.ts';
import { indexUpTo, type Offer, type OfferedArtifact } from './offer.ts';
import { nextWhole } from './offers-by-machine.ts';
import { PLATFORMS, type Platform } from './platform.ts';
import type { UpdateQuery } from './update-query.ts';
import { compareVersions } from './version.ts';

/**
 * Some documents state one version for clients on all kinds of machines. This file finds the release for such a
 * document.
 */

/** A kind of machine, with its name in the document. */
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
  /**
   * The build for each machine, in the order of the machines. Machines without a build in this release are left out.
   */
  readonly builds: readonly NamedBuild<OfferedArtifact>[];
}

/**
 * The newest release for all machines that the channel serves. Undefined when no such release is newer than the
 * client's version.
 *
 * The channel serves a machine when it has a release to offer to the client on this machine. A served machine holds
 * back each release that it cannot have: with such a release, the document would lack the machine, and clients on this
 * machine would report an error or install another kind of package. A publisher who makes no more builds for a machine
 * has two ways to end this: publish a release that ends the native builds of its target (`--end-native`), or retire the
 * releases that have a build for the machine.
 *
 * A machine that the channel does not serve holds nothing back. `universal` holds nothing back either, because it is a
 * kind of build and not a processor. It still gets the release when the release has a build for it.
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
  // The machine that held back the last release mostly holds back the next one too, so the search asks it first.
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

/** The machines that get a release, and the machines that hold it back, by their names in the document. */
export interface DividedMachines {
  readonly getting: readonly string[];
  /** The machines that hold the release back, see {@link findCommonRelease}. Empty when no machine gets the release. */
  readonly holding: readonly string[];
}

/**
 * Finds the machines that get a release, and the machines that hold it back.
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

/**
 * Returns a test of offers: true when no rule refuses the offer to the client, apart from the rules about the machine.
 * It tests each offer once.
 */
function possibleFor(
  query: UpdateQuery,
  channel: ChannelView,
  now: number,
): (offer: Offer) => boolean {
  const isReached = reachedBy(query, channel, now);
  return once((offer: Offer) => obstacleFor(offer, query, isReached) === undefined);
}

/** Returns a function with the same results. It computes the result for each value once. */
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
  /** Chooses an artifact for the machine. It searches each list of artifacts once. */
  readonly choose: (artifacts: Offer['artifacts']) => Choice;
  /** The newest release that the client is offered on this machine; `artifact` is its build. */
  readonly newest: Offer;
  readonly artifact: OfferedArtifact;
}

/**
 * The machines that the channel serves.
 *
 * Any anonymous client can start this search, for dozens of machines in a channel with thousands of offers. So the
 * search makes each test that is equal for all machines only once, and looks up the other results.
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
  // `builds` is undefined when the publisher ended the native builds, or when the machine only ran emulated builds.
  const builds = natives?.get(platform)?.get(arch);
  return isAbove(newest, offer) || builds?.some(takesOf(query)) === true;
}

function isAbove(a: Offer, b: Offer): boolean {
  return compareVersions(a.version, b.version) > 0;
}

type NativesByPlatform = ReadonlyMap<Platform, Natives>;

interface ChannelFacts {
  /**
   * For each offer: the native builds of this and all older offers, without the native builds that a publisher ended.
   */
  readonly natives: ReadonlyMap<Offer, NativesByPlatform>;
  /** The different lists of artifacts. Thousands of offers share a few lists, see `createOfferParser`. */
  readonly lists: readonly Offer['artifacts'][];
}

/** The facts of each view. They are computed once. */
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
