import { type Channel, type ChannelView, createChannelView, inheritedNames } from './channel.ts';
import { chooseArtifact, suits } from './choose-artifact.ts';
import { admittedArches, isNativeOn } from './compatible-arches.ts';
import { isForAllClients, newestFor, takesOf } from './decide-update.ts';
import { createNatives } from './native-builds.ts';
import { newestFirst, type Offer } from './offer.ts';
import { nextWhole } from './offers-by-machine.ts';
import { ARCHES, PLATFORMS } from './platform.ts';
import { targetName } from './target.ts';
import { type MachineQuery, visitorOn } from './update-query.ts';
import { compareVersions, rangeText, type Version, versionText } from './version.ts';

/**
 * Finds the offers that a channel drops because it keeps only its newest offers. This changes the answer of no client:
 * the channel keeps every offer that some client gets, whatever its age.
 */

interface KeepRule {
  readonly channels: ReadonlyMap<string, Channel>;
  /** The channel that drops offers. */
  readonly name: string;
  /** The number of newest active offers that the channel keeps. */
  readonly keep: number;
  /** A version that stays, because a publisher is adding it; undefined for none. */
  readonly added: Version | undefined;
  /**
   * Versions that stay, because some channel has a draft of them. A draft of a dropped version could not be opened any
   * more.
   */
  readonly drafted?: readonly string[];
  /** By the store's clock; milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The versions to drop, newest first. The channel keeps:
 *
 * - the newest active offers; every paused or yanked offer; every offer whose rollout has not reached all clients
 * - every offer that some client gets now: the newest offer for a target, format and system version, and stepping
 *   stones. This includes clients of this channel, with or without the channels that it inherits, and clients of the
 *   channels that inherit from it
 * - every offer whose native build keeps a machine from getting an emulated build
 */
export function findSuperfluous(rule: KeepRule): readonly string[] {
  const { channels, name, keep, added, drafted = [], now } = rule;
  const channel = channels.get(name);
  if (channel === undefined) return [];
  const active = channel.offers.filter(({ status }) => status === 'active').sort(newestFirst);
  const stays = new Set([
    ...heldBelow(rule),
    ...drafted,
    ...(added === undefined ? [] : [versionText(added)]),
    ...active.slice(0, keep).map(({ version }) => versionText(version)),
  ]);
  const superfluous = new Set(
    active.filter((offer) => isForAllClients(offer, now) && !stays.has(versionText(offer.version))),
  );
  if (superfluous.size === 0) return [];
  const viewers = viewersOf(channels, name);
  const before = answersOf(channels, viewers, now);
  for (const { given } of before) for (const offer of given) superfluous.delete(offer);
  keepBuildsRelied(rule, viewers, before, superfluous);
  return [...superfluous].map(({ version }) => versionText(version));
}

/**
 * The versions that an inherited channel pauses, yanks or rolls out in stages. If the channel dropped its own offer of
 * such a version, it would show the offer of the inherited channel.
 */
function heldBelow({ channels, name, now }: KeepRule): readonly string[] {
  return inheritedNames(name, (each) => channels.get(each)?.inherits)
    .flatMap((each) => channels.get(each)?.offers ?? [])
    .filter((offer) => !isForAllClients(offer, now))
    .map(({ version }) => versionText(version));
}

/** The releases that the clients on a machine are offered. */
interface MachineAnswer {
  /** All offers that the clients see, newest first. */
  readonly offers: readonly Offer[];
  readonly machine: MachineQuery;
  /** See {@link offersGiven}. */
  readonly given: readonly Offer[];
}

/** Channels whose offers clients see together, the nearest first, and the machines of these clients. */
interface Viewer {
  readonly shown: readonly string[];
  readonly machines: readonly MachineQuery[];
}

/**
 * Finds the clients that see the offers of a channel. These are the clients of this channel and of the channels that
 * inherit from it, and also clients that see this channel alone, because tiers may hide inherited channels.
 */
function viewersOf(channels: ReadonlyMap<string, Channel>, name: string): readonly Viewer[] {
  const showing = [...channels.keys()]
    .map((each) => [each, ...inheritedNames(each, (other) => channels.get(other)?.inherits)])
    .filter((shown) => shown.includes(name));
  return [[name], ...showing].map((shown) => {
    const offers = shown.flatMap((each) => channels.get(each)?.offers ?? []);
    return { shown, machines: machinesOf(offers) };
  });
}

/** One answer for each machine of each viewer, always in the same order. */
function answersOf(
  channels: ReadonlyMap<string, Channel>,
  viewers: readonly Viewer[],
  now: number,
): readonly MachineAnswer[] {
  return viewers.flatMap(({ shown, machines }) => {
    const [own, ...inherited] = shown
      .map((name) => channels.get(name))
      .filter((c) => c !== undefined);
    if (own === undefined) return [];
    const { offers } = createChannelView(own, inherited);
    const view = createChannelView({ ...own, offers: withoutRepeats(offers, now) }, []);
    return machines.map((machine) => {
      return { offers, machine, given: offersGiven(view, machine, now) };
    });
  });
}

/**
 * The offers that decide the answer of every client on a machine: one for each range of versions that may update, and
 * the offer that a website shows. A client gets the first offer whose range contains the client's version. The last
 * offer is for all versions.
 */
function offersGiven(view: ChannelView, machine: MachineQuery, now: number): readonly Offer[] {
  const latest = newestFor(view, machine, now);
  const given = latest === undefined ? [] : [latest];
  const known = new Set<string>();
  const forMachine = view.offersFor(machine.platform, machine.arch);
  const takes = takesOf(machine);
  for (let index = -1; ; ) {
    index = nextWhole(forMachine, index, takes);
    const offer = forMachine.offers[index];
    if (offer === undefined) return given;
    if (!isForAllClients(offer, now)) continue;
    if ('refused' in chooseArtifact(offer.artifacts, machine)) continue;
    const isForAny = offer.requires === null || machine.purpose === 'download';
    if (isForAny || !known.has(rangeText(offer.requires))) given.push(offer);
    if (isForAny) return given;
    known.add(rangeText(offer.requires));
  }
}

/**
 * Leaves out each offer that a newer offer replaces for every client: the newer offer has the same artifacts and
 * conditions, and is skipped for the same machines. In a channel with thousands of offers, only a few offers differ.
 *
 * @param offers newest first, as returned
 */
function withoutRepeats(offers: readonly Offer[], now: number): readonly Offer[] {
  const natives = createNatives();
  const idOf = createIds();
  const newest = new Map<string, Offer>();
  const left = new Set<Offer>();
  for (const offer of offers.toReversed()) {
    const nativesOf = (): string => PLATFORMS.map((platform) => idOf(natives.of(platform))).join();
    const before = nativesOf();
    natives.end(offer);
    const present = nativesOf();
    natives.add(offer);
    const { artifacts, requires, endsNative } = offer;
    const ended = endsNative.map(targetName).join();
    const range = requires === null ? '' : rangeText(requires);
    const isForAll = isForAllClients(offer, now);
    if (isForAll) newest.set([present, idOf(artifacts), ended, range].join(' '), offer);
    const changesNatives = before !== present || present !== nativesOf();
    if (changesNatives || !isForAll) left.add(offer);
  }
  for (const offer of newest.values()) left.add(offer);
  return offers.filter((offer) => left.has(offer));
}

/** Numbers objects, so that they can be part of a key. */
function createIds(): (object: object) => number {
  const ids = new Map<object, number>();
  return (object) => {
    const id = ids.get(object) ?? ids.size;
    ids.set(object, id);
    return id;
  };
}

/**
 * Keeps the offers that no client gets, but that still change an answer: a machine is not offered an emulated build
 * while an older offer has a native one.
 *
 * @param superfluous the function deletes the offers to keep from this set
 */
function keepBuildsRelied(
  { channels, now }: KeepRule,
  viewers: readonly Viewer[],
  before: readonly MachineAnswer[],
  superfluous: Set<Offer>,
): void {
  while (superfluous.size > 0) {
    const after = answersOf(withoutOffers(channels, superfluous), viewers, now);
    const changed = before.flatMap(({ offers, machine, given }, index) => {
      const present = after[index]?.given ?? [];
      const isSame = present.length === given.length && given.every((o, at) => o === present[at]);
      return isSame ? [] : [{ offers, machine, wrong: present.find((o) => !given.includes(o)) }];
    });
    if (changed.length === 0) return;
    const { size } = superfluous;
    for (const { offers, machine, wrong } of changed) {
      const left = offers.filter((offer) => superfluous.has(offer));
      const isOlder = ({ version }: Offer): boolean =>
        wrong === undefined || compareVersions(version, wrong.version) <= 0;
      const relied =
        left.find((offer) => isOlder(offer) && decidesNative(offer, machine)) ?? left[0];
      if (relied !== undefined) superfluous.delete(relied);
    }
    // When an answer changed, but the function found no offer to keep, the channel drops nothing.
    if (superfluous.size === size) superfluous.clear();
  }
}

function withoutOffers(
  channels: ReadonlyMap<string, Channel>,
  dropped: ReadonlySet<Offer>,
): ReadonlyMap<string, Channel> {
  const left = [...channels].map(([name, channel]) => {
    const offers = channel.offers.filter((offer) => !dropped.has(offer));
    return [name, { ...channel, offers }] as const;
  });
  return new Map(left);
}

/** True when an offer has a native build that the client can take, or ends native builds. */
function decidesNative({ artifacts, endsNative }: Offer, machine: MachineQuery): boolean {
  const { platform, arch } = machine;
  return (
    endsNative.some((target) => target.platform === platform) ||
    artifacts.some(
      (build) =>
        build.platform === platform &&
        (arch === null || isNativeOn(arch, build)) &&
        suits(build, machine),
    )
  );
}

const PURPOSES = ['download', 'update'] as const;

/**
 * For each kind of machine that can take some artifact: one client for each purpose, format, signature and system
 * version.
 */
function machinesOf(offers: readonly Offer[]): readonly MachineQuery[] {
  // Most offers share their list of artifacts.
  const artifacts = [...new Set(offers.map((offer) => offer.artifacts))].flat();
  return PLATFORMS.flatMap((platform) => {
    const own = artifacts.filter((artifact) => artifact.platform === platform);
    const formats = [null, ...[...new Set(own.map(({ format }) => format))].map((one) => [one])];
    const systems = [...new Set([null, ...own.map(({ minimumOsVersion }) => minimumOsVersion)])];
    const schemes = [
      ...new Set([null, ...own.flatMap(({ signatureSchemes }) => signatureSchemes)]),
    ];
    const visitors = [...ARCHES, null]
      .filter((arch) => own.some((each) => admittedArches(platform, arch).includes(each.arch)))
      .map((arch) => visitorOn(platform, arch));
    const clients = visitors.flatMap((visitor) =>
      PURPOSES.flatMap((purpose) =>
        formats.flatMap((wanted) =>
          schemes.map((signatureScheme): MachineQuery => {
            return { ...visitor, purpose, formats: wanted, signatureScheme };
          }),
        ),
      ),
    );
    const checked = clients.flatMap((client) =>
      systems.map((osVersion): MachineQuery => ({ ...client, osVersion, osGate: 'server' })),
    );
    return [...clients, ...checked];
  });
}
