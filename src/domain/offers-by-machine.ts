import { mapInSteps, runAtOnce, type Steps } from '../core/steps.ts';
import { admittedArches, isNativeOn, runsX64ByEmulation } from './compatible-arches.ts';
import { createNatives, kindOf, type Natives } from './native-builds.ts';
import type { Offer, OfferedArtifact } from './offer.ts';
import { ARCHES, type Arch, type Format, PLATFORMS, type Platform } from './platform.ts';
import { PROCESSOR_ARCHES } from './target.ts';

/**
 * The offers of a channel by machine, so that a decision does not search the whole list. A service has ten thousand
 * channels in memory, so equal machines share their lists.
 */

/** The offers of a channel with an artifact that runs on one platform and architecture. */
export interface MachineOffers {
  readonly platform: Platform;
  /** Newest first. */
  readonly offers: readonly Offer[];
  /** The formats of the artifacts that run on the machine. */
  readonly formats: ReadonlySet<Format>;
  /** For each of `offers`: the native builds of all older offers. */
  readonly nativesBefore: NativesBefore;
  /**
   * The jumps for each architecture that the machine may have. The map is empty when no offer for the machine can lack
   * a native build. An offer can lack a native build when the machine runs x64 builds by emulation, or when the client
   * does not state its architecture.
   */
  readonly mayHave: ReadonlyMap<Arch, Jumps>;
}

/**
 * The native builds of all older offers, for each offer. Neighbors with equal builds share one item, because thousands of
 * offers have equal builds. Newest first.
 */
type NativesBefore = readonly {
  /** The index of the newest offer of this item. */
  readonly from: number;
  readonly natives: Natives;
}[];

/**
 * After an offer without a native build for an architecture, a search can continue at these offers. Each list has the
 * indices of offers, ascending.
 */
interface Jumps {
  /** The offers at which `nativesBefore` changes. */
  readonly changes: readonly number[];
  /** By kind of native build: one build as a sample, and the offers that have a build of this kind. */
  readonly built: ReadonlyMap<string, { readonly sample: OfferedArtifact; readonly at: number[] }>;
}

/** The offers for a machine; `arch` is null when the client does not state it. */
export type MachineIndex = (platform: Platform, arch: Arch | null) => MachineOffers;

const NO_JUMPS: MachineOffers['mayHave'] = new Map();

export const NO_OFFERS: MachineIndex = (platform) => ({
  platform,
  offers: [],
  formats: new Set(),
  nativesBefore: [],
  mayHave: NO_JUMPS,
});

const ARCHES_OR_NONE = [...ARCHES, null];
const MACHINES = PLATFORMS.flatMap((platform) =>
  ARCHES_OR_NONE.map((arch) => ({ platform, arch, arches: admittedArches(platform, arch) })),
);

/** The position in {@link MACHINES}. */
function positionOf(platform: Platform, arch: Arch | null): number {
  return PLATFORMS.indexOf(platform) * ARCHES_OR_NONE.length + ARCHES_OR_NONE.indexOf(arch);
}

/** The most offers of a small channel. Its index takes less than a millisecond, so a client can wait for it. */
const SMALL_MAX = 128;

/**
 * A small channel gets its index when a client first asks: most of the channels of a thousand applications have no
 * clients, and their indexes would take a quarter of the memory of the catalogs.
 *
 * @param offers newest first
 * @param smallMax tests set 0
 */
export function* indexByMachine(
  offers: readonly Offer[],
  smallMax = SMALL_MAX,
): Steps<MachineIndex> {
  return offers.length <= smallMax ? indexLater(offers) : lookUp(yield* listMachines(offers));
}

function indexLater(offers: readonly Offer[]): MachineIndex {
  let index: MachineIndex | undefined;
  return (platform, arch) => {
    index ??= lookUp(runAtOnce(listMachines(offers)));
    return index(platform, arch);
  };
}

/** A function of its own, so that the index keeps nothing else in memory. */
function lookUp(machines: readonly (MachineOffers | undefined)[]): MachineIndex {
  return (platform, arch) => machines[positionOf(platform, arch)] ?? NO_OFFERS(platform, arch);
}

/** What the loop over the offers, oldest first, collects about a machine. */
interface Collected {
  readonly platform: Platform;
  readonly offers: Offer[];
  readonly formats: Set<Format>;
  /** `from`: the number of offers from the oldest to the newest offer of this item. */
  readonly nativesBefore: { from: number; readonly natives: Natives }[];
}

/** The machines in the order of {@link MACHINES}; undefined for a machine without an offer. */
function* listMachines(offers: readonly Offer[]): Steps<(MachineOffers | undefined)[]> {
  const collected = MACHINES.map((machine) => {
    const empty: Omit<Collected, 'platform'> = {
      offers: [],
      formats: new Set(),
      nativesBefore: [],
    };
    return { ...machine, ...empty };
  });
  const natives = createNatives();
  const add = (offer: Offer): void => {
    natives.end(offer);
    for (const machine of collected) {
      let fits = false;
      for (const { platform, arch, format } of offer.artifacts) {
        if (platform !== machine.platform || !machine.arches.includes(arch)) continue;
        machine.formats.add(format);
        fits = true;
      }
      if (!fits) continue;
      machine.offers.push(offer);
      const before = natives.of(machine.platform);
      const last = machine.nativesBefore.at(-1);
      // Equal lists of builds are the same object: see `createNatives`.
      if (last?.natives === before) last.from++;
      else machine.nativesBefore.push({ from: machine.offers.length, natives: before });
    }
    natives.add(offer);
  };
  // The loop begins with the oldest offer, so that it knows the builds of all older offers at each offer.
  yield* mapInSteps(offers.toReversed(), add);
  const machines: (MachineOffers | undefined)[] = [];
  for (const { arch, ...machine } of collected) {
    yield;
    const others = machines.filter((other) => other !== undefined);
    const neighbors = others.filter(({ platform }) => platform === machine.platform);
    machines.push(
      machine.offers.length === 0 ? undefined : share(machine, arch, neighbors, offers),
    );
  }
  return machines;
}

/** Completes a machine with parts of other machines of its platform, as far as these parts are equal. */
function share(
  { platform, ...own }: Collected,
  arch: Arch | null,
  others: readonly MachineOffers[],
  all: readonly Offer[],
): MachineOffers {
  const newest = own.offers.reverse();
  const lists = [all, ...others.map(({ offers }) => offers)];
  const offers = lists.find((list) => isEqual(list, newest)) ?? newest;
  const formats =
    others.find((other) => isEqual([...other.formats], [...own.formats]))?.formats ?? own.formats;
  const nativesBefore = own.nativesBefore
    .map(({ from, natives }) => ({ from: newest.length - from, natives }))
    .reverse();
  const mayHave = new Map<Arch, Jumps>();
  for (const each of possibleArches(platform, arch)) {
    if (!nativesBefore.some(({ natives }) => natives.has(each))) continue;
    const known = others.find((other) => other.offers === offers && other.mayHave.has(each));
    const machine = { platform, offers, nativesBefore };
    mayHave.set(each, known?.mayHave.get(each) ?? findJumps(machine, each));
  }
  if (mayHave.size > 0) return { platform, offers, formats, nativesBefore, mayHave };
  const twin = others.find(
    (other) => other.mayHave === NO_JUMPS && other.offers === offers && other.formats === formats,
  );
  return twin ?? { platform, offers, formats, nativesBefore: [], mayHave: NO_JUMPS };
}

function isEqual<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function possibleArches(platform: Platform, arch: Arch | null): readonly Arch[] {
  if (arch === null) return PROCESSOR_ARCHES;
  return runsX64ByEmulation(platform, arch) ? [arch] : [];
}

function findJumps(
  { platform, offers, nativesBefore }: Pick<MachineOffers, 'platform' | 'offers' | 'nativesBefore'>,
  arch: Arch,
): Jumps {
  const changes = nativesBefore
    .filter(({ natives }, index) => {
      const before = nativesBefore[index - 1]?.natives;
      return before !== undefined && natives.get(arch) !== before.get(arch);
    })
    .map(({ from }) => from);
  const built = new Map<string, { sample: OfferedArtifact; at: number[] }>();
  offers.forEach((offer, index) => {
    for (const sample of offer.artifacts) {
      if (sample.platform !== platform || !isNativeOn(arch, sample)) continue;
      const known = built.get(kindOf(sample)) ?? { sample, at: [] };
      if (known.at.at(-1) !== index) known.at.push(index);
      built.set(kindOf(sample), known);
    }
  });
  return { changes, built };
}

/**
 * The index of the next offer after `index` that is not skipped; the number of offers when there is none.
 *
 * An offer is skipped when it has no native build that the client can install, and an older active offer has one.
 *
 * @param index -1 for the first call
 * @param takes says whether the client can install an artifact of its architecture
 */
export function nextWhole(
  machine: MachineOffers,
  index: number,
  takes: (artifact: OfferedArtifact) => boolean,
): number {
  let next = index + 1;
  while (next < machine.offers.length) {
    const jumps = findMissing(machine, next, takes);
    if (jumps === undefined) break;
    next = jumpFrom(jumps, next, machine.offers.length, takes);
  }
  return next;
}

function findMissing(
  machine: MachineOffers,
  index: number,
  takes: (artifact: OfferedArtifact) => boolean,
): Jumps | undefined {
  const arch = findMissingArch(machine, index, takes);
  return arch === undefined ? undefined : machine.mayHave.get(arch);
}

/**
 * The architecture for which the offer lacks a native build and an older offer has one; undefined when there is no such
 * architecture.
 *
 * @param takes as for {@link nextWhole}
 */
export function findMissingArch(
  { platform, offers, nativesBefore, mayHave }: MachineOffers,
  index: number,
  takes: (artifact: OfferedArtifact) => boolean,
): Arch | undefined {
  if (mayHave.size === 0) return undefined;
  for (const arch of mayHave.keys()) {
    if (nativesAt(nativesBefore, index)?.get(arch)?.some(takes) !== true) continue;
    const isBuilt = offers[index]?.artifacts.some(
      (build) => build.platform === platform && isNativeOn(arch, build) && takes(build),
    );
    if (isBuilt !== true) return arch;
  }
  return undefined;
}

function nativesAt(nativesBefore: NativesBefore, index: number): Natives | undefined {
  let low = 0;
  let high = nativesBefore.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((nativesBefore[middle]?.from ?? 0) > index) high = middle;
    else low = middle;
  }
  return nativesBefore[low]?.natives;
}

/** The index of the next offer that has a native build for the client, or at which `nativesBefore` changes. */
function jumpFrom(
  { changes, built }: Jumps,
  index: number,
  end: number,
  takes: (artifact: OfferedArtifact) => boolean,
): number {
  let next = firstAfter(changes, index) ?? end;
  for (const { sample, at } of built.values()) {
    if (takes(sample)) next = Math.min(next, firstAfter(at, index) ?? end);
  }
  return next;
}

/** The first of ascending numbers that is above `index`; undefined when there is none. */
function firstAfter(numbers: readonly number[], index: number): number | undefined {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) > index) high = middle;
    else low = middle + 1;
  }
  return numbers[low];
}
