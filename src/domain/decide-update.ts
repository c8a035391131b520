import type { ChannelView } from './channel.ts';
import { chooseArtifact } from './choose-artifact.ts';
import type { Offer, OfferedArtifact } from './offer.ts';
import type { UpdateQuery } from './update-query.ts';
import { compareVersions, inRange, versionText } from './version.ts';

/** Why one offer is not for this client. */
export type Obstacle =
  | 'unsupported_platform'
  | 'unsupported_format'
  | 'unsupported_os_version'
  | 'must_step_through'
  | 'paused';

export type Reason = 'offer' | 'up_to_date' | 'no_release' | 'not_entitled' | Obstacle;

/** One rule that was applied, in order: which version, and what came of it. */
export interface Step {
  readonly version: string;
  readonly outcome: 'offer' | Obstacle;
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
  const { platform, arch, formats } = query;
  const all = channel.offersFor(platform, arch);
  // In a format that never was, the newest says why, and none of the others could do better.
  const fitting =
    formats === null || channel.hasFormat(platform, arch, formats) ? all : all.slice(0, 1);
  const path: Step[] = [];
  // Offers without an artifact for this machine are not even looked at, but the newest gives the reason.
  if (fitting[0] !== newest) {
    path.push({ version: versionText(newest.version), outcome: 'unsupported_platform' });
  }
  for (const offer of fitting) {
    if (!isNewer(offer, query)) break;
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
  const first = path[0]?.outcome ?? 'unsupported_platform';
  return { reason: first === 'offer' ? 'up_to_date' : first, path };
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
 * The newest release that anybody with this machine can have: what a website calls the latest version.
 * Undefined when there is none.
 */
export function newestFor(
  channel: ChannelView,
  platform: UpdateQuery['platform'],
  arch: UpdateQuery['arch'],
): Offer | undefined {
  return channel.offersFor(platform, arch).find((offer) => offer.status === 'active');
}
