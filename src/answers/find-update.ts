import type { LoadedRelease } from '../catalog/live/catalog.ts';
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
import { type SeenChannel, type ServiceDeps, seeChannel } from './open-channel.ts';

/** The answer to the question for an update, in every protocol. */
export interface FoundUpdate extends SeenChannel {
  readonly decision: Decision;
  /** The verified release and the artifact for this client; undefined unless the decision is an offer. */
  readonly offered: { readonly release: LoadedRelease; readonly artifact: Artifact } | undefined;
  /** The progress of the channel's rollouts. */
  readonly stage: RolloutStage;
}

/**
 * Finds the update that a client gets, from memory.
 *
 * The function is synchronous unless the offered release has not been read yet. A process reads each release once. A
 * release that does not match its digest is not offered: the function decides again without this release.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `catalog_unavailable`; `store_*` when the store fails
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
  return whenKnown(application.release(decision.offer), (release) => {
    if (release === undefined) return findUpdate(deps, query, tier);
    const artifact = storedArtifact(release, decision.artifact);
    return join(seen, decision, { release, artifact }, stage);
  });
}

/** Copies field by field, because object spread costs more than the decision. */
function join(
  { channel, isRestricted, revision }: SeenChannel,
  decision: Decision,
  offered: FoundUpdate['offered'],
  stage: RolloutStage,
): FoundUpdate {
  return { channel, isRestricted, revision, decision, offered, stage };
}

/**
 * The caller chose an artifact of an offer. Finds the artifact of the release with the same identity.
 *
 * @throws AppError `document_corrupt` when the manifest lacks the artifact. Valid documents cannot cause this, because
 *   an offer copies its artifacts from its manifest and names the manifest's digest.
 */
export function storedArtifact(release: Release, chosen: ArtifactIdentity): Artifact {
  const artifact = findArtifact(release, chosen);
  if (artifact !== undefined) return artifact;
  throw new AppError(
    'document_corrupt',
    `The manifest of ${release.version} has no ${identityName(chosen)}.`,
  );
}
