import type { ChannelView } from './channel.ts';
import { type Choice, chooseArtifact, suits } from './choose-artifact.ts';
import { installationHash } from './installation-bucket.ts';
import { indexUpTo, type Offer, type OfferedArtifact } from './offer.ts';
import { nextWhole } from './offers-by-machine.ts';
import { ALL_CLIENTS, admits, NO_CLIENTS, type Rollout, shareAt } from './rollout.ts';
import type { MachineQuery, UpdateQuery } from './update-query.ts';
import { compareVersions, inRange, versionText } from './version.ts';

/** The reasons of decisions. A reason says why a client is offered a release, or why it is offered none. */
export const REASONS = [
  'offer',
  'up_to_date',
  'no_release',
  'paused',
  'unsupported_platform',
  'unsupported_format',
  'unsupported_os_version',
  'must_step_through',
  'held_by_rollout',
  'not_entitled',
] as const;
export type Reason = (typeof REASONS)[number];

/** `no_native_build`: the machine keeps its native builds, and the release has no native build for it yet. */
export const OUTCOMES = [
  'offer',
  'unsupported_platform',
  'no_native_build',
  'unsupported_format',
  'unsupported_os_version',
  'must_step_through',
  'paused',
  'held_by_rollout',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The reason for which a client cannot have an offer. */
type Obstacle = Exclude<Outcome, 'offer' | 'no_native_build'>;

/** An offer that the decision considered, and the result. */
interface Step {
  readonly version: string;
  readonly outcome: Outcome;
}

/** "No update" is a decision, never an error. */
export type Decision =
  | {
      readonly reason: 'offer';
      readonly offer: Offer;
      readonly artifact: OfferedArtifact;
      /** True when the publisher wants no client to stay on this client's version. */
      readonly mandatory: boolean;
      readonly path: readonly Step[];
    }
  | { readonly reason: Exclude<Reason, 'offer'>; readonly path: readonly Step[] };

const NO_STEPS: readonly Step[] = [];
const NOT_ENTITLED: Decision = { reason: 'not_entitled', path: NO_STEPS };
/** Bounds the path of a decision, because a thousand releases may be newer than the client's version. */
const STEPS_MAX = 20;

/**
 * Decides which newer release a client is offered, if any.
 *
 * The function is pure, total and deterministic: equal questions get equal answers. It goes through the offers, newest
 * first, and chooses the first offer that every rule admits. When the rules admit no offer, the decision has the reason
 * of the newest offer above the client's version. A closed channel is checked first: any other answer would reveal
 * something about it.
 *
 * @param now by the store's clock; milliseconds since the epoch
 * @param admitted returns the index of the first offer that every rule admits; absent when the caller cannot find it,
 *   see `decide-updates.ts`
 */
export function decideUpdate(
  query: UpdateQuery,
  channel: ChannelView,
  now: number,
  admitted?: () => number,
): Decision {
  if (!channel.isOpen) return NOT_ENTITLED;
  const newest = channel.offers[0];
  if (newest === undefined) return { reason: 'no_release', path: NO_STEPS };
  const goesBack = mayGoBack(query, channel);
  if (!goesBack && !isNewer(newest, query)) return { reason: 'up_to_date', path: NO_STEPS };
  const machine = channel.offersFor(query.platform, query.arch);
  const { offers, formats } = machine;
  // When no offer has one of the client's formats, the search examines only the newest offer, which gives the reason.
  const end = query.formats?.some((format) => formats.has(format)) === false ? 1 : offers.length;
  const takes = takesOf(query);
  const isReached = reachedBy(query, channel, now);
  const choose = chooserFor(query);
  const path: Step[] = [];
  let index = nextWhole(machine, -1, takes);
  // The newest offer gives the reason even when the index skips it.
  if (offers[index] !== newest) {
    const outcome = offers[0] === newest ? 'no_native_build' : 'unsupported_platform';
    path.push({ version: versionText(newest.version), outcome });
  }
  for (; index < end; index = nextWhole(machine, index, takes)) {
    const offer = offers[index];
    if (offer === undefined || !(goesBack || isNewer(offer, query))) break;
    const judgement = judgeOffer(offer, query, choose(offer), isReached);
    const outcome = typeof judgement === 'string' ? judgement : 'offer';
    if (path.length < STEPS_MAX) path.push({ version: versionText(offer.version), outcome });
    // The path has all its steps, so the search jumps to the offer that gives the result.
    else if (outcome !== 'offer' && admitted !== undefined) index = admitted() - 1;
    if (typeof judgement !== 'string') {
      const ahead = query.installsOlder === true && mayBeAhead(offer, query, channel, isReached);
      if (ahead !== false) return { reason: ahead, path };
      return {
        reason: 'offer',
        offer,
        artifact: judgement,
        mandatory: isMandatory(offer, query),
        path,
      };
    }
  }
  return { reason: isNewer(newest, query) ? reasonOf(path) : 'up_to_date', path };
}

/**
 * Reports whether the client may get a version older than its own. A client that asks for a downgrade gets the release
 * that a new installation of the channel gets. But a client keeps a release that the channel lists, even when the
 * release is paused or its rollout does not reach the client.
 */
export function mayGoBack(
  { allowDowngrade, currentVersion }: UpdateQuery,
  channel: ChannelView,
): boolean {
  if (!allowDowngrade || !channel.allowsDowngrade || currentVersion === null) return false;
  const version = versionText(currentVersion);
  const offer = channel.offerOf(version);
  return offer === undefined ? !channel.isRetired(version) : offer.status === 'yanked';
}

/**
 * Says why the service must not offer a release to a client that installs every offer, even an older version; false
 * when the service may offer the release. The client may already run a newer release: the service offered it before a
 * publisher paused or yanked it, or a person installed it by hand. So each newer release counts when it has a build for
 * the machine and its rollout has reached the client. The plan of a yanked rollout goes on, so a yanked release counts
 * for more clients than the service offered it to.
 */
function mayBeAhead(
  { version }: Offer,
  query: UpdateQuery,
  channel: ChannelView,
  isReached: (rollout: Rollout) => boolean,
): Exclude<Reason, 'offer'> | false {
  const choose = chooserFor({ ...query, osGate: 'client' });
  const mayHave = (newer: Offer): boolean =>
    (newer.rollout === null || isReached(newer.rollout)) && 'artifact' in choose(newer);
  const { offers } = channel.offersFor(query.platform, query.arch);
  const kept = offers.slice(0, indexUpTo(offers, version)).find(mayHave);
  if (kept !== undefined) return obstacleFor(kept, query, isReached) ?? 'unsupported_os_version';
  const { yanked } = channel;
  return yanked.slice(0, indexUpTo(yanked, version)).some(mayHave) ? 'no_release' : false;
}

/** The reason of the newest offer. A release without a native build for the machine does not count as newer. */
function reasonOf(path: readonly Step[]): Exclude<Reason, 'offer'> {
  for (const { outcome } of path) {
    if (outcome !== 'no_native_build' && outcome !== 'offer') return outcome;
  }
  return 'up_to_date';
}

/** Returns a test of native builds: true when the client could have installed the build before. */
export function takesOf(query: MachineQuery): (artifact: OfferedArtifact) => boolean {
  // When the architecture is unknown, a download button gives the build for the usual architecture. On Windows, a
  // release with only a 32-bit build does not replace a release with an x64 build.
  if (query.arch === null && query.purpose === 'download') {
    return ({ platform, arch }) => platform === 'windows' && arch === 'x64';
  }
  return (artifact) => suits(artifact, query);
}

/**
 * The artifact that the client would get if there were no newer offer; undefined when a rule refuses the offer to the
 * client.
 *
 * @param now as for {@link decideUpdate}
 */
export function artifactFrom(
  offer: Offer,
  query: UpdateQuery,
  channel: ChannelView,
  now: number,
): OfferedArtifact | undefined {
  const machine = channel.offersFor(query.platform, query.arch);
  const index = indexUpTo(machine.offers, offer.version);
  if (machine.offers[index] !== offer || nextWhole(machine, index - 1, takesOf(query)) !== index)
    return undefined;
  const choice = chooseArtifact(offer.artifacts, query);
  const judgement = judgeOffer(offer, query, choice, reachedBy(query, channel, now));
  return typeof judgement === 'string' ? undefined : judgement;
}

/** The artifact to offer, or the obstacle. */
function judgeOffer(
  offer: Offer,
  query: UpdateQuery,
  choice: Choice,
  isReached: (rollout: Rollout) => boolean,
): OfferedArtifact | Obstacle {
  if ('refused' in choice) return choice.refused;
  return obstacleFor(offer, query, isReached) ?? choice.artifact;
}

/** Finds the rule that refuses the release to the client, apart from the rules about the machine. */
export function obstacleFor(
  offer: Offer,
  query: UpdateQuery,
  isReached: (rollout: Rollout) => boolean,
): Obstacle | undefined {
  if (!meetsRequirement(offer, query)) return 'must_step_through';
  if (offer.status !== 'active') return 'paused';
  return offer.rollout === null || isReached(offer.rollout) ? undefined : 'held_by_rollout';
}

/**
 * Returns a function that chooses the artifact of an offer. Most offers of a channel share one list of artifacts, see
 * `createOfferParser`, so the function does not search the same list again.
 */
export function chooserFor(query: UpdateQuery): (offer: Offer) => Choice {
  let searched: Offer['artifacts'] | undefined;
  let choice: Choice;
  return ({ artifacts }) => {
    if (artifacts !== searched) choice = chooseArtifact(artifacts, query);
    searched = artifacts;
    return choice;
  };
}

/** Reports whether the client may update straight to the release. */
export function meetsRequirement({ requires }: Offer, query: UpdateQuery): boolean {
  if (requires === null || query.purpose !== 'update') return true;
  // It is unknown whether a client that does not state its version meets the requirement.
  return query.currentVersion !== null && inRange(query.currentVersion, requires);
}

/**
 * Returns a test of rollouts: true when a rollout has reached the client. It hashes the client's id once, for all
 * releases.
 */
export function reachedBy(
  query: UpdateQuery,
  channel: ChannelView,
  now: number,
): (rollout: Rollout) => boolean {
  const { application, installationId } = query;
  let installation: number | null = null;
  const isEarly = hasEarlyAccess(query, channel);
  return (rollout) => {
    if (isEarly && shareAt(rollout.ramp, now) > NO_CLIENTS) return true;
    if (installationId !== null) installation ??= installationHash(application, installationId);
    return admits(rollout, installation, now);
  };
}

/** True when the client gets releases before their rollouts reach the installation, except at a share of 0 %. */
export function hasEarlyAccess(
  { isManual }: UpdateQuery,
  { givesEarlyAccess }: ChannelView,
): boolean {
  return isManual && givesEarlyAccess;
}

export function isNewer(offer: Offer, query: UpdateQuery): boolean {
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
 * The newest release that every client on this kind of machine is offered, whatever its format and its required system
 * version. Undefined when there is none. Websites show this release as the latest version.
 *
 * @param now as for {@link decideUpdate}
 */
export function newestFor(
  channel: ChannelView,
  query: MachineQuery,
  now: number,
): Offer | undefined {
  const machine = channel.offersFor(query.platform, query.arch);
  const takes = takesOf(query);
  const { offers } = machine;
  for (let index = -1; index < offers.length; ) {
    index = nextWhole(machine, index, takes);
    const offer = offers[index];
    if (offer !== undefined && isForAllClients(offer, now)) return offer;
  }
  return undefined;
}

/** Reports whether no client has to wait for the release. */
export function isForAllClients({ status, rollout }: Offer, now: number): boolean {
  return status === 'active' && (rollout === null || shareAt(rollout.ramp, now) === ALL_CLIENTS);
}
