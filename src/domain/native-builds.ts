import { findNativeBuild, nativeArches } from './compatible-arches.ts';
import type { Offer, OfferedArtifact } from './offer.ts';
import { type Arch, PLATFORMS, type Platform } from './platform.ts';
import { lastShare, NO_CLIENTS } from './rollout.ts';
import { PROCESSOR_ARCHES, type Target, targetName } from './target.ts';
import { compareVersions, type Version } from './version.ts';

/**
 * A machine that has native builds keeps them. For example, an arm64 machine is not moved from an arm64 build to an
 * emulated x64 build, unless the publisher ended its native builds. `offers-by-machine.ts` applies the rule to every
 * decision.
 */

/** Native builds of active offers by architecture, one of each kind (see {@link kindOf}). */
export type Natives = ReadonlyMap<Arch, readonly OfferedArtifact[]>;

/**
 * The machines that have native builds from older active offers and none from this version. They stay on the older
 * offers.
 *
 * @param offers of one channel, in any order
 */
export function findLeftBehind(offers: readonly Offer[], version: Version): readonly Target[] {
  const natives = createNatives();
  const upTo = offersUpTo(offers, version);
  const own = upTo.at(-1);
  if (own === undefined) return [];
  for (const offer of upTo) {
    natives.end(offer);
    if (offer !== own) natives.add(offer);
  }
  return PLATFORMS.flatMap((platform) =>
    PROCESSOR_ARCHES.filter((arch) => natives.of(platform).has(arch)).map((arch) => ({
      platform,
      arch,
    })),
  ).filter((target) => findNativeBuild(own.artifacts, target) === undefined);
}

/**
 * The machines whose native builds an older active offer ended, and for which this version has no native build either.
 * The offer of this version ends their native builds too, so that nothing changes for these machines when the older
 * offer is retired.
 *
 * @param offers of one channel, in any order, including the offer of this version
 */
export function findEnded(offers: readonly Offer[], version: Version): readonly Target[] {
  const ended = new Map<string, Target>();
  const upTo = offersUpTo(offers, version).filter(
    (offer) => offer.status === 'active' || compareVersions(offer.version, version) === 0,
  );
  for (const { endsNative, artifacts } of upTo) {
    for (const target of endsNative) ended.set(targetName(target), target);
    for (const [name, target] of ended) {
      if (findNativeBuild(artifacts, target) !== undefined) ended.delete(name);
    }
  }
  return [...ended.values()];
}

/** Oldest first. */
function offersUpTo(offers: readonly Offer[], version: Version): readonly Offer[] {
  return offers
    .filter((offer) => compareVersions(offer.version, version) <= 0)
    .sort((a, b) => compareVersions(a.version, b.version));
}

/** Collects the native builds while the caller goes through the offers, oldest first. */
export function createNatives() {
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

/** True when some client is offered the release, or will be. */
export function mayBeOffered({ status, rollout }: Offer): boolean {
  return status === 'active' && (rollout === null || lastShare(rollout) > NO_CLIENTS);
}

/**
 * Leaves out the native builds that an active release ends, so that machines of their targets may take other builds.
 */
function withoutEnded(natives: Natives, platform: Platform, offer: Offer): Natives {
  const ended = mayBeOffered(offer) ? offer.endsNative : [];
  const here = ended.filter((target) => target.platform === platform && natives.has(target.arch));
  if (here.length === 0) return natives;
  return new Map([...natives].filter(([arch]) => !here.some((target) => target.arch === arch)));
}

/** Returns the same map when the offer has no build of a new kind, so that thousands of offers share a few maps. */
function withBuildsOf(natives: Natives, platform: Platform, offer: Offer): Natives {
  if (!mayBeOffered(offer)) return natives;
  let grown: Map<Arch, readonly OfferedArtifact[]> | undefined;
  for (const artifact of offer.artifacts) {
    if (artifact.platform !== platform) continue;
    for (const arch of nativeArches(artifact.arch)) {
      const known = (grown ?? natives).get(arch) ?? [];
      if (known.some((other) => kindOf(other) === kindOf(artifact))) continue;
      grown ??= new Map(natives);
      grown.set(arch, [...known, artifact]);
    }
  }
  return grown ?? natives;
}

/** Equal for two builds that the same clients of an architecture can install. */
export function kindOf({ format, minimumOsVersion, signatureSchemes }: OfferedArtifact): string {
  return [format, minimumOsVersion, ...signatureSchemes].join();
}
