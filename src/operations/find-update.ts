import { type Decision, decideUpdate } from '../domain/decide-update.ts';
import { type Artifact, findArtifact, identityName, type Release } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { AppError } from '../errors.ts';
import { whenKnown } from '../when-known.ts';
import { type SeenChannel, type ServiceDeps, seeChannel } from './open-channel.ts';

/** A decision, with the verified release and artifact when it is an offer. */
export interface FoundUpdate extends SeenChannel {
  readonly decision: Decision;
  /** Undefined unless the decision is an offer. */
  readonly offered: OfferedUpdate | undefined;
  /** Whether a rollout may have given another client another answer. */
  readonly isPartial: boolean;
}

export interface OfferedUpdate {
  readonly release: Release;
  readonly artifact: Artifact;
  /** Whether the publisher wants every client of this version to update. */
  readonly mandatory: boolean;
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
  const { isPartial } = seen.channel.rolloutStage(now);
  if (decision.reason !== 'offer') return join(seen, decision, undefined, isPartial);
  return whenKnown(application.release(decision.offer), (release) =>
    release === undefined
      ? findUpdate(deps, query, tier)
      : join(seen, decision, offeredIn(release, decision), isPartial),
  );
}

/** Field by field: object spread costs more than the decision. */
function join(
  { channel, isRestricted, revision }: SeenChannel,
  decision: Decision,
  offered: OfferedUpdate | undefined,
  isPartial: boolean,
): FoundUpdate {
  return { channel, isRestricted, revision, decision, offered, isPartial };
}

function offeredIn(release: Release, decision: OfferDecision): OfferedUpdate {
  const artifact = findArtifact(release, decision.artifact);
  if (artifact !== undefined) return { release, artifact, mandatory: decision.mandatory };
  // An offer names the digest of its manifest and copies the artifacts from it, so the two cannot differ.
  throw new AppError(
    'document_corrupt',
    `The manifest of ${release.version} has no ${identityName(decision.artifact)}.`,
  );
}
