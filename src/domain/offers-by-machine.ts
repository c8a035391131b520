import { mapInSteps, type Steps } from '../core/steps.ts';
import {
  admittedArches,
  isNativeOn,
  machineName,
  runsX64ByEmulation,
} from './compatible-arches.ts';
import { createNatives, kindOf, type Natives } from './native-builds.ts';
import type { Offer, OfferedArtifact } from './offer.ts';
import { ARCHES, type Arch, type Format, PLATFORMS, type Platform } from './platform.ts';
import { PROCESSOR_ARCHES } from './target.ts';

/** The offers of a channel by machine, so that a decision does not search the whole list. */

/** The offers of a channel with an artifact that runs on one platform and architecture. */
export interface MachineOffers {
  readonly platform: Platform;
  /** Newest first. */
  readonly offers: readonly Offer[];
  /** The formats of the artifacts that run on the machine. */
  readonly formats: ReadonlySet<Format>;
  /** For each of `offers`: the native builds of all older offers. */
  readonly nativesBefore: readonly Natives[];
  /**
   * The jumps for each architecture that the machine may have. The map is empty when no offer for the machine can lack
   * a native build. An offer can lack a native build when the machine runs x64 builds by emulation, or when the client
   * does not state its architecture.
   */
  readonly mayHave: ReadonlyMap<Arch, Jumps>;
}

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

export const NO_OFFERS: MachineIndex = (platform) => ({
  platform,
  offers: [],
  formats: new Set(),
  nativesBefore: [],
  mayHave: new Map(),
});

/** @param offers newest first */
export function* indexByMachine(offers: readonly Offer[]): Steps<MachineIndex> {
  const machines = PLATFORMS.flatMap((platform) =>
    [...ARCHES, null].map((arch) => {
      const offers: Offer[] = [];
      const nativesBefore: Natives[] = [];
      const name = machineName(platform, arch);
      const arches = admittedArches(platform, arch);
      return { name, platform, arch, arches, offers, nativesBefore, formats: new Set<Format>() };
    }),
  );
  const natives = createNatives();
  const add = (offer: Offer): void => {
    natives.end(offer);
    for (const machine of machines) {
      let fits = false;
      for (const { platform, arch, format } of offer.artifacts) {
        if (platform !== machine.platform || !machine.arches.includes(arch)) continue;
        machine.formats.add(format);
        fits = true;
      }
      if (!fits) continue;
      machine.offers.push(offer);
      machine.nativesBefore.push(natives.of(machine.platform));
    }
    natives.add(offer);
  };
  // The loop begins with the oldest offer, so that it knows the builds of all older offers at each offer.
  yield* mapInSteps(offers.toReversed(), add);
  const byName = new Map<string, MachineOffers>();
  for (const { name, arch, ...machine } of machines) {
    if (machine.offers.length === 0) continue;
    machine.offers.reverse();
    machine.nativesBefore.reverse();
    const mayHave = new Map<Arch, Jumps>();
    for (const each of possibleArches(machine.platform, arch)) {
      yield;
      mayHave.set(each, findJumps(machine, each));
    }
    byName.set(name, { ...machine, mayHave });
  }
  return (platform, arch) => byName.get(machineName(platform, arch)) ?? NO_OFFERS(platform, arch);
}

function possibleArches(platform: Platform, arch: Arch | null): readonly Arch[] {
  if (arch === null) return PROCESSOR_ARCHES;
  return runsX64ByEmulation(platform, arch) ? [arch] : [];
}

function findJumps(
  { platform, offers, nativesBefore }: Pick<MachineOffers, 'platform' | 'offers' | 'nativesBefore'>,
  arch: Arch,
): Jumps {
  const changes: number[] = [];
  const built = new Map<string, { sample: OfferedArtifact; at: number[] }>();
  offers.forEach((offer, index) => {
    // Equal lists of builds are the same object: see `createNatives`.
    const isSame = nativesBefore[index]?.get(arch) === nativesBefore[index - 1]?.get(arch);
    if (index > 0 && !isSame) changes.push(index);
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
    if (nativesBefore[index]?.get(arch)?.some(takes) !== true) continue;
    const isBuilt = offers[index]?.artifacts.some(
      (build) => build.platform === platform && isNativeOn(arch, build) && takes(build),
    );
    if (isBuilt !== true) return arch;
  }
  return undefined;
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
