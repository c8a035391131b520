import type { ChannelView } from './channel.ts';
import { chooseArtifact } from './choose-artifact.ts';
import { admittedArches, isNativeOn, machineName } from './compatible-arches.ts';
import { hasEarlyAccess, meetsRequirement, type reachedBy, takesOf } from './decide-update.ts';
import { bucketOf, installationHash } from './installation-bucket.ts';
import { mayBeOffered } from './native-builds.ts';
import type { Offer, OfferedArtifact, OfferStatus } from './offer.ts';
import { findMissingArch, type MachineOffers } from './offers-by-machine.ts';
import type { Arch, Format } from './platform.ts';
import { ALL_CLIENTS, type Ramp, reachedAt, type Share, shareAt } from './rollout.ts';
import type { UpdateQuery } from './update-query.ts';
import { versionText } from './version.ts';

/** Finds the values that each rule of a decision compared. It uses the same predicates as the decision. */

/** `not_checked`: an earlier rule left no build that this rule could check. */
type RuleResult = 'passed' | 'failed' | 'not_checked';

/**
 * A rule with the values that it compared. The rules of a release are in the order in which the decision applies them.
 */
export type ExplainedRule = { readonly result: RuleResult } & RuleFacts;

export type RuleFacts =
  | {
      readonly rule: 'platform';
      /** The builds of the release for the client's platform: `windows-x64`. */
      readonly builds: readonly string[];
      /** The builds that run on the client's machine, best first. */
      readonly runs: readonly string[];
    }
  | {
      readonly rule: 'native_build';
      /** The architecture for which the release lacks a native build; null when it lacks none. */
      readonly missing: Arch | null;
      /** The newest older release with such a build; null when none is missing. */
      readonly builtIn: string | null;
    }
  | {
      readonly rule: 'format';
      /** The formats of the builds that run on the machine. */
      readonly available: readonly Format[];
      /** The formats that the client can install, best first; null: the usual ones of the platform. */
      readonly wanted: readonly Format[] | null;
      /** The signature that the client requires; null: none. */
      readonly signatureScheme: string | null;
    }
  | {
      readonly rule: 'os_version';
      /**
       * The system versions that the builds in the client's formats need; empty when one of these builds needs none.
       */
      readonly minimums: readonly string[];
      /** The system version that the client states. */
      readonly stated: string | null;
      /** The side that compares the versions. */
      readonly checkedBy: UpdateQuery['osGate'];
    }
  | {
      readonly rule: 'requires';
      /** The versions that may update straight to the release; null: all. */
      readonly range: string | null;
    }
  | { readonly rule: 'status'; readonly status: OfferStatus }
  | ({ readonly rule: 'rollout' } & RolloutFacts);

interface RolloutFacts {
  /** The share of the installations that is offered the release, in 1/100 %. */
  readonly share: Share;
  /** The bucket of the installation; null without an id, and for a release without a rollout. */
  readonly bucket: number | null;
  /** The smallest share at which this client is offered the release; 0 for a release without a rollout. */
  readonly needed: Share;
  /**
   * The time when the share reaches `needed`; milliseconds since the epoch. Null when the share has reached `needed`
   * already, or when the plan never reaches it.
   */
  readonly reachesAt: number | null;
}

/** The situation in which the rules are applied to an offer. */
export interface Situation {
  readonly query: UpdateQuery;
  readonly channel: ChannelView;
  readonly machine: MachineOffers;
  readonly isReached: ReturnType<typeof reachedBy>;
  readonly isShown: (offer: Offer) => boolean;
  readonly now: number;
}

/** Applies every rule to an offer. */
export function explainRules(offer: Offer, situation: Situation): readonly ExplainedRule[] {
  const { query } = situation;
  const choice = chooseArtifact(offer.artifacts, query);
  const refused = 'refused' in choice ? choice.refused : undefined;
  const isForMachine = refused !== 'unsupported_platform';
  const hasFormat = isForMachine && refused !== 'unsupported_format';
  const builds = offer.artifacts.filter(({ platform }) => platform === query.platform);
  const admitted = admittedArches(query.platform, query.arch);
  const running = builds.filter(({ arch }) => admitted.includes(arch));
  return [
    {
      rule: 'platform',
      result: resultOf(isForMachine),
      builds: namesOf(builds),
      runs: admitted.map((arch) => machineName(query.platform, arch)),
    },
    isForMachine ? explainNative(offer, situation) : { ...NO_NATIVE, result: 'not_checked' },
    {
      rule: 'format',
      result: isForMachine ? resultOf(hasFormat) : 'not_checked',
      available: [...new Set(running.map(({ format }) => format))],
      wanted: query.formats,
      signatureScheme: query.signatureScheme,
    },
    {
      rule: 'os_version',
      result: hasFormat ? resultOf(refused !== 'unsupported_os_version') : 'not_checked',
      minimums: minimumsOf(running, query),
      stated: query.osVersion,
      checkedBy: query.osGate,
    },
    {
      rule: 'requires',
      result: resultOf(meetsRequirement(offer, query)),
      range: query.purpose === 'update' ? (offer.requires?.raw ?? null) : null,
    },
    { rule: 'status', result: resultOf(offer.status === 'active'), status: offer.status },
    explainRollout(offer, situation),
  ];
}

function resultOf(isAdmitted: boolean): RuleResult {
  return isAdmitted ? 'passed' : 'failed';
}

function namesOf(builds: readonly OfferedArtifact[]): readonly string[] {
  return [...new Set(builds.map(({ platform, arch }) => machineName(platform, arch)))];
}

/** The system versions that the builds in the client's formats need. Empty when one of these builds needs none. */
function minimumsOf(builds: readonly OfferedArtifact[], query: UpdateQuery): readonly string[] {
  // With this `osGate`, the decision does not compare system versions, so only the other rules decide here.
  const anySystem: UpdateQuery = { ...query, osGate: 'client' };
  const taken = builds.filter((build) => 'artifact' in chooseArtifact([build], anySystem));
  const minimums = taken.map(({ minimumOsVersion }) => minimumOsVersion);
  return minimums.includes(null) ? [] : [...new Set(minimums.filter((text) => text !== null))];
}

const NO_NATIVE = { rule: 'native_build', missing: null, builtIn: null } as const;

function explainNative(
  offer: Offer,
  { query, channel, machine, isShown }: Situation,
): ExplainedRule {
  const takes = takesOf(query);
  const missing = findMissingArch(machine, machine.offers.indexOf(offer), takes);
  if (missing === undefined) return { ...NO_NATIVE, result: 'passed' };
  const isNative = (build: OfferedArtifact): boolean =>
    build.platform === query.platform && isNativeOn(missing, build) && takes(build);
  // This searches all offers, because the machine's own list may lack the build. For example, the list for a Linux
  // client that does not state its architecture has no arm64 builds.
  const built = channel.offers
    .slice(channel.offers.indexOf(offer) + 1)
    .find((older) => isShown(older) && mayBeOffered(older) && older.artifacts.some(isNative));
  const builtIn = built === undefined ? null : versionText(built.version);
  return { rule: 'native_build', result: 'failed', missing, builtIn };
}

function explainRollout(
  { rollout }: Offer,
  { query, channel, isReached, now }: Situation,
): ExplainedRule {
  if (rollout === null) {
    const everyone = { share: ALL_CLIENTS, bucket: null, needed: 0, reachesAt: null };
    return { rule: 'rollout', result: 'passed', ...everyone };
  }
  const { application, installationId } = query;
  const bucket =
    installationId === null
      ? null
      : bucketOf(rollout.seed, installationHash(application, installationId));
  const own = bucket === null ? ALL_CLIENTS : bucket + 1;
  const needed = hasEarlyAccess(query, channel) ? 1 : own;
  const isPassed = isReached(rollout);
  return {
    rule: 'rollout',
    result: resultOf(isPassed),
    share: shareAt(rollout.ramp, now),
    bucket,
    needed,
    reachesAt: isPassed ? null : timeOf(rollout.ramp, needed),
  };
}

/** The first millisecond at which the share is at least this one; null when the ramp never reaches this share. */
function timeOf(ramp: Ramp, share: Share): number | null {
  const at = reachedAt(ramp, share);
  if (!Number.isFinite(at)) return null;
  // Between two points, the share is rounded down, and the time may be a fraction of a millisecond.
  const whole = Math.ceil(at);
  return shareAt(ramp, whole) >= share ? whole : whole + 1;
}
