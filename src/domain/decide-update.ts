import type { ChannelView } from './channel.ts';
import { chooseArtifact, suits } from './choose-artifact.ts';
import type { Offer, OfferedArtifact } from './offer.ts';
import { nextWhole } from './offers-by-machine.ts';
import type { MachineQuery, UpdateQuery } from './update-query.ts';
import { compareVersions, inRange, versionText } from './version.ts';

/** Why one offer is not for this client. */
export type Obstacle =
  | 'unsupported_platform'
  | 'unsupported_format'
  | 'unsupported_os_version'
  | 'must_step_through'
  | 'paused';

export type Reason = 'offer' | 'up_to_date' | 'no_release' | 'not_entitled' | Obstacle;

/** `no_native_build`: the machine keeps its native builds, and the release has none for it (so far). */
export type Outcome = 'offer' | 'no_native_build' | Obstacle;

/** One rule that was applied, in order: which version, and what came of it. */
export interface Step {
  readonly version: string;
  readonly outcome: Outcome;
}

/** A "no update" is a decision like any other, never an error. */
export type Decision =
  | {
      readonly reason: 'offer';
      readonly offer: Offer;
      readonly artifact: OfferedArtifact;
      /** The client's version is one the publisher wants nobody to stay on. */
      readonly mandatory: boolean;
      readonly path: readonly Step[];
    }
  | { readonly reason: Exclude<Reason, 'offer'>; readonly path: readonly Step[] };

const NO_STEPS: readonly Step[] = [];
const NOT_ENTITLED: Decision = { reason: 'not_entitled', path: NO_STEPS };
/** Enough to explain an answer; a client behind a thousand gated releases needs no thousand lines. */
const STEPS_MAX = 20;

/**
 * Whether there is something newer for this client, and what.
 *
 * Pure, total and deterministic. Newest offer first; the first that every rule admits wins. When none
 * does, the reason is that of the newest offer above the client's version. A channel that is not open
 * to who asks comes before all of that, empty or not: even how old the client is would say something.
 */
export function decideUpdate(query: UpdateQuery, channel: ChannelView): Decision {
  if (!channel.isOpen) return NOT_ENTITLED;
  const newest = channel.offers[0];
  if (newest === undefined) return { reason: 'no_release', path: NO_STEPS };
  if (!isNewer(newest, query)) return { reason: 'up_to_date', path: NO_STEPS };
  const machine = channel.offersFor(query.platform, query.arch);
  const { offers, formats } = machine;
  // In a format that never was, the newest says why, and none of the others could do better.
  const end = query.formats?.some((format) => formats.has(format)) === false ? 1 : offers.length;
  const takes = takesOf(query);
  const path: Step[] = [];
  let index = nextWhole(machine, -1, takes);
  // Other offers are not even looked at, but the newest gives the reason.
  if (offers[index] !== newest) {
    const outcome = offers[0] === newest ? 'no_native_build' : 'unsupported_platform';
    path.push({ version: versionText(newest.version), outcome });
  }
  for (; index < end; index = nextWhole(machine, index, takes)) {
    const offer = offers[index];
    if (offer === undefined || !isNewer(offer, query)) break;
    const judgement = judgeOffer(offer, query);
    const outcome = typeof judgement === 'string' ? judgement : 'offer';
    if (path.length < STEPS_MAX) path.push({ version: versionText(offer.version), outcome });
    if (typeof judgement !== 'string') {
      return {
        reason: 'offer',
        offer,
        artifact: judgement,
        mandatory: isMandatory(offer, query),
        path,
      };
    }
  }
  return { reason: reasonOf(path), path };
}

/** That of the newest; a release without a native build for the machine is not newer for it. */
function reasonOf(path: readonly Step[]): Exclude<Reason, 'offer'> {
  for (const { outcome } of path) {
    if (outcome !== 'no_native_build' && outcome !== 'offer') return outcome;
  }
  return 'up_to_date';
}

/** Which builds would do for the client, when it comes to what its machine had natively before. */
function takesOf(query: MachineQuery): (artifact: OfferedArtifact) => boolean {
  // A download button that does not know the machine hands out the usual architecture.
  if (query.arch === null && query.purpose === 'download') return () => false;
  return (artifact) => suits(artifact, query);
}

/** The artifact to offer, or what stands in the way. */
function judgeOffer(offer: Offer, query: UpdateQuery): OfferedArtifact | Obstacle {
  const choice = chooseArtifact(offer.artifacts, query);
  if ('refused' in choice) return choice.refused;
  if (offer.requires !== null && query.purpose === 'update') {
    // A client that does not say where it comes from cannot be shown to meet the requirement.
    const admitted = query.currentVersion !== null && inRange(query.currentVersion, offer.requires);
    if (!admitted) return 'must_step_through';
  }
  return offer.status === 'active' ? choice.artifact : 'paused';
}

function isNewer(offer: Offer, query: UpdateQuery): boolean {
  return query.currentVersion === null || compareVersions(offer.version, query.currentVersion) > 0;
}

function isMandatory(offer: Offer, query: UpdateQuery): boolean {
  return (
    offer.mandatoryFor !== null &&
    query.currentVersion !== null &&
    inRange(query.currentVersion, offer.mandatoryFor)
  );
}

/**
 * The newest release for this kind of machine, whatever its format and system: what a website calls the
 * latest version. Undefined when there is none.
 */
export function newestFor(channel: ChannelView, query: MachineQuery): Offer | undefined {
  const machine = channel.offersFor(query.platform, query.arch);
  const takes = takesOf(query);
  const { offers } = machine;
  for (let index = -1; index < offers.length; ) {
    index = nextWhole(machine, index, takes);
    if (offers[index]?.status === 'active') return offers[index];
  }
  return undefined;
}
