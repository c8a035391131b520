import { AppError } from '../errors.ts';
import { mapInSteps, type Steps } from '../steps.ts';
import type { Offer, OfferedArtifact } from './offer.ts';
import {
  ARCHES,
  type Arch,
  type Format,
  PLATFORMS,
  type Platform,
  parsePlatformAndArch,
} from './platform.ts';
import type { Target } from './release.ts';
import { compareVersions, type Version } from './version.ts';

/** Which builds run on which machine, and the offers for each kind of machine. */

const SINGLE_ARCHES = ARCHES.filter((arch): arch is Target['arch'] => arch !== 'universal');

/** Windows on Arm and Rosetta 2 run x64 programs. On Linux that needs a set-up that few users have. */
export function runsX64ByEmulation(platform: Platform, arch: Arch | null): boolean {
  return arch === 'arm64' && platform !== 'linux';
}

/** Whether the build runs on such a processor without emulation. */
export function isNativeOn(arch: Arch, build: { readonly arch: Arch }): boolean {
  return build.arch === arch || build.arch === 'universal';
}

/**
 * A kind of machine as people write it: `windows-arm64`, `darwin-aarch64`.
 *
 * @throws AppError `unknown_platform`; `unknown_arch` without an architecture, and for `universal`
 */
export function parseTarget(text: string): Target {
  const { platform, arch } = parsePlatformAndArch(text);
  if (arch !== undefined && arch !== 'universal') return { platform, arch };
  const detail = `${JSON.stringify(text.slice(0, 64))} names no kind of machine: write it like windows-arm64, with one of ${SINGLE_ARCHES.join(', ')}.`;
  throw new AppError('unknown_arch', detail, { issues: [{ pointer: '/arch', detail }] });
}

/** Architectures of artifacts that run on a machine, best first; null: a machine that does not say. */
export function admittedArches(platform: Platform, arch: Arch | null): readonly Arch[] {
  return ADMITTED.get(machineName(platform, arch)) ?? [];
}

const ADMITTED = new Map<string, readonly Arch[]>(
  PLATFORMS.flatMap((platform) =>
    [...ARCHES, null].map((arch) => [machineName(platform, arch), computeAdmitted(platform, arch)]),
  ),
);

function computeAdmitted(platform: Platform, arch: Arch | null): readonly Arch[] {
  if (arch === null)
    return platform === 'macos' ? ['universal', 'arm64', 'x64'] : ['universal', 'x64'];
  if (arch === 'universal') return ['universal'];
  return runsX64ByEmulation(platform, arch) ? [arch, 'universal', 'x64'] : [arch, 'universal'];
}

function machineName(platform: Platform, arch: Arch | null): string {
  return arch === null ? platform : `${platform}-${arch}`;
}

/** The offers of a channel with an artifact that runs on one kind of machine. */
export interface MachineOffers {
  readonly platform: Platform;
  /** Newest first. */
  readonly offers: readonly Offer[];
  /** The formats of those artifacts. */
  readonly formats: ReadonlySet<Format>;
  /**
   * The architectures that the machine may have although a release without builds for them is in `offers`:
   * x64 builds run there by emulation, or the client does not say what its machine is.
   */
  readonly mayHave: readonly Arch[];
  /** What was out natively before each of `offers`. */
  readonly nativesBefore: readonly Natives[];
}

/** Native builds of active offers by architecture: one of each kind that a client can tell apart. */
type Natives = ReadonlyMap<Arch, readonly OfferedArtifact[]>;

/** The offers for every kind of machine; `arch` is null for a machine that does not say. */
export type MachineIndex = (platform: Platform, arch: Arch | null) => MachineOffers;

export const NO_OFFERS: MachineIndex = (platform) => ({
  platform,
  offers: [],
  formats: new Set(),
  mayHave: [],
  nativesBefore: [],
});

/** @param offers newest first */
export function* indexByMachine(offers: readonly Offer[]): Steps<MachineIndex> {
  const machines = PLATFORMS.flatMap((platform) =>
    [...ARCHES, null].map((arch) => ({
      name: machineName(platform, arch),
      platform,
      arches: admittedArches(platform, arch),
      mayHave: possibleArches(platform, arch),
      offers: [] as Offer[],
      formats: new Set<Format>(),
      nativesBefore: [] as Natives[],
    })),
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
  // Oldest first: what was out before an offer is known when its turn comes.
  yield* mapInSteps(offers.toReversed(), add);
  const byName = new Map<string, MachineOffers>();
  for (const machine of machines) {
    machine.offers.reverse();
    machine.nativesBefore.reverse();
    if (machine.offers.length > 0) byName.set(machine.name, machine);
  }
  return (platform, arch) => byName.get(machineName(platform, arch)) ?? NO_OFFERS(platform, arch);
}

function possibleArches(platform: Platform, arch: Arch | null): readonly Arch[] {
  if (arch === null) return SINGLE_ARCHES;
  return runsX64ByEmulation(platform, arch) ? [arch] : [];
}

/**
 * The machines that have native builds from older active offers, and none from this version: they stay on
 * those.
 *
 * @param offers of one channel, in any order
 */
export function findLeftBehind(offers: readonly Offer[], version: Version): readonly Target[] {
  const natives = createNatives();
  const upTo = offers
    .filter((offer) => compareVersions(offer.version, version) <= 0)
    .sort((a, b) => compareVersions(a.version, b.version));
  const own = upTo.at(-1);
  if (own === undefined) return [];
  for (const offer of upTo) {
    natives.end(offer);
    if (offer !== own) natives.add(offer);
  }
  const isBuilt = ({ platform, arch }: Target): boolean =>
    own.artifacts.some((build) => build.platform === platform && isNativeOn(arch, build));
  return PLATFORMS.flatMap((platform) =>
    SINGLE_ARCHES.filter((arch) => natives.of(platform).has(arch)).map((arch) => ({
      platform,
      arch,
    })),
  ).filter((target) => !isBuilt(target));
}

/** What is out natively, as offers are gone through from the oldest on. */
function createNatives() {
  const byPlatform = new Map<Platform, Natives>();
  const of = (platform: Platform): Natives => byPlatform.get(platform) ?? NO_NATIVES;
  return {
    of,
    end: (offer: Offer): void => {
      for (const platform of PLATFORMS) {
        byPlatform.set(platform, withoutEnded(of(platform), platform, offer));
      }
    },
    add: (offer: Offer): void => {
      for (const platform of PLATFORMS) {
        byPlatform.set(platform, withBuildsOf(of(platform), platform, offer));
      }
    },
  };
}

const NO_NATIVES: Natives = new Map();

/** An active release that ends the native builds of a target lets its machines go on to other builds. */
function withoutEnded(natives: Natives, platform: Platform, offer: Offer): Natives {
  const ended = offer.status === 'active' ? offer.endsNative : [];
  const here = ended.filter((target) => target.platform === platform && natives.has(target.arch));
  if (here.length === 0) return natives;
  return new Map([...natives].filter(([arch]) => !here.some((target) => target.arch === arch)));
}

/** The same map when the offer has no build of a new kind: thousands of offers share a few maps. */
function withBuildsOf(natives: Natives, platform: Platform, offer: Offer): Natives {
  if (offer.status !== 'active') return natives;
  let grown: Map<Arch, readonly OfferedArtifact[]> | undefined;
  for (const artifact of offer.artifacts) {
    if (artifact.platform !== platform) continue;
    for (const arch of nativeArches(artifact.arch)) {
      const known = (grown ?? natives).get(arch) ?? [];
      if (known.some((other) => isSameKind(artifact, other))) continue;
      grown ??= new Map(natives);
      grown.set(arch, [...known, artifact]);
    }
  }
  return grown ?? natives;
}

/** A universal build has those that are in use today. */
function nativeArches(arch: Arch): readonly Arch[] {
  return arch === 'universal' ? ['x64', 'arm64'] : [arch];
}

function isSameKind(a: OfferedArtifact, b: OfferedArtifact): boolean {
  return (
    a.format === b.format &&
    a.minimumOsVersion === b.minimumOsVersion &&
    a.signatureSchemes.join() === b.signatureSchemes.join()
  );
}

/**
 * The index of the next offer after `index` that leaves no machine behind; the number of offers when
 * there is none.
 *
 * A machine that has native builds keeps them: an offer without a native build that the client can take is
 * passed over while an older active one has such a build.
 *
 * @param index -1 to begin
 * @param takes whether format, system and signature of an artifact suit the client
 */
export function nextWhole(
  machine: MachineOffers,
  index: number,
  takes: (artifact: OfferedArtifact) => boolean,
): number {
  const { offers, mayHave } = machine;
  let next = index + 1;
  for (;;) {
    const at = next;
    const missing = mayHave.find((arch) => leavesBehind(machine, at, arch, takes));
    if (missing === undefined) return next;
    // The native build that was found is also older than every offer up to the next one with any.
    do next++;
    while (next < offers.length && !isBuiltFor(machine, next, missing));
  }
}

function leavesBehind(
  machine: MachineOffers,
  index: number,
  arch: Arch,
  takes: (artifact: OfferedArtifact) => boolean,
): boolean {
  const before = machine.nativesBefore[index]?.get(arch);
  return before?.some(takes) === true && !isBuiltFor(machine, index, arch, takes);
}

function isBuiltFor(
  { platform, offers }: MachineOffers,
  index: number,
  arch: Arch,
  takes: (artifact: OfferedArtifact) => boolean = () => true,
): boolean {
  return (
    offers[index]?.artifacts.some(
      (artifact) => artifact.platform === platform && isNativeOn(arch, artifact) && takes(artifact),
    ) === true
  );
}
