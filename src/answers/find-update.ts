import type { LoadedRelease } from '../catalog/memory/catalog.ts';
import { AppError } from '../core/errors.ts';
import { whenKnown } from '../core/when-known.ts';
import { type Decision, decideUpdate } from '../domain/decide-update.ts';
import {
  type Artifact,
  type ArtifactIdentity,
  findArtifact,
  identityName,
  type Release,
} from '../domain/release.ts';
import type { RolloutStage } from '../domain/rollout.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { compareVersions } from '../domain/version.ts';
import { type SeenChannel, type ServiceDeps, seeChannel } from './open-channel.ts';

/** A decision, with the verified release and artifact when it is an offer. */
export interface FoundUpdate extends SeenChannel {
  readonly decision: Decision;
  /** Undefined unless the decision is an offer. */
  readonly offered: OfferedUpdate | undefined;
  /** How far the rollouts of the channel are. */
  readonly stage: RolloutStage;
}

export interface OfferedUpdate {
  readonly release: LoadedRelease;
  readonly artifact: Artifact;
  /** Whether the publisher wants every client of this version to update. */
  readonly mandatory: boolean;
  /** Whether the release is older than the client's version: see `Channel.allowsDowngrade`. */
  readonly isDowngrade: boolean;
}

type OfferDecision = Extract<Decision, { reason: 'offer' }>;

/**
 * Decides which update a client gets, from memory.
 *
 * Synchronous unless the offered release has not been read yet, which happens once per release and
 * process. A release that does not match its digest is not offered: the decision is made again without it.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `catalog_unavailable`, and the store's
 */
export function findUpdate(
  deps: ServiceDeps,
  query: UpdateQuery,
  tier: string | null,
): FoundUpdate | Promise<FoundUpdate> {
  const application = deps.catalog.application(query.application);
  const seen = seeChannel(deps, application, query.channel, tier);
  const now = deps.clock.now();
  const decision = decideUpdate(query, seen.channel, now);
  const stage = seen.channel.rolloutStage(now);
  if (decision.reason !== 'offer') return join(seen, decision, undefined, stage);
  return whenKnown(application.release(decision.offer), (release) =>
    release === undefined
      ? findUpdate(deps, query, tier)
      : join(seen, decision, offeredIn(release, decision, query), stage),
  );
}

/** Field by field: object spread costs more than the decision. */
function join(
  { channel, isRestricted, revision }: SeenChannel,
  decision: Decision,
  offered: OfferedUpdate | undefined,
  stage: RolloutStage,
): FoundUpdate {
  return { channel, isRestricted, revision, decision, offered, stage };
}

function offeredIn(
  release: LoadedRelease,
  { offer, artifact: chosen, mandatory }: OfferDecision,
  { currentVersion }: UpdateQuery,
): OfferedUpdate {
  const artifact = storedArtifact(release, chosen);
  const isDowngrade = currentVersion !== null && compareVersions(offer.version, currentVersion) < 0;
  return { release, artifact, mandatory, isDowngrade };
}

/**
 * The artifact of a release that was chosen among those of its offer.
 *
 * @throws AppError `document_corrupt`: an offer names the digest of its manifest and copies the artifacts from it, so
 *   the two cannot differ
 */
export function storedArtifact(release: Release, chosen: ArtifactIdentity): Artifact {
  const artifact = findArtifact(release, chosen);
  if (artifact !== undefined) return artifact;
  throw new AppError(
    'document_corrupt',
    `The manifest of ${release.version} has no ${identityName(chosen)}.`,
  );
}
