import type { LoadedRelease } from '../catalog/catalog.ts';
import { type Decision, decideUpdate } from '../domain/decide-update.ts';
import { type Artifact, findArtifact, identityName } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { compareVersions } from '../domain/version.ts';
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
  const { isPartial } = seen.channel.rolloutStage(now);
  if (decision.reason !== 'offer') return join(seen, decision, undefined, isPartial);
  return whenKnown(application.release(decision.offer), (release) =>
    release === undefined
      ? findUpdate(deps, query, tier)
      : join(seen, decision, offeredIn(release, decision, query), isPartial),
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

function offeredIn(
  release: LoadedRelease,
  { offer, artifact: chosen, mandatory }: OfferDecision,
  { currentVersion }: UpdateQuery,
): OfferedUpdate {
  const artifact = findArtifact(release, chosen);
  if (artifact !== undefined) {
    const isDowngrade =
      currentVersion !== null && compareVersions(offer.version, currentVersion) < 0;
    return { release, artifact, mandatory, isDowngrade };
  }
  // An offer names the digest of its manifest and copies the artifacts from it, so the two cannot differ.
  throw new AppError(
    'document_corrupt',
    `The manifest of ${release.version} has no ${identityName(chosen)}.`,
  );
}
