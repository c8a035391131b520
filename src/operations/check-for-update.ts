import type { Catalog, ReadyApplication } from '../catalog/catalog.ts';
import { type ChannelView, channelNamed } from '../domain/channel.ts';
import { type Decision, decideUpdate } from '../domain/decide-update.ts';
import type { Artifact, Release } from '../domain/release.ts';
import { findArtifact, identityName } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { AppError } from '../errors.ts';

/** A decision with the release it names, verified. */
export type UpdateAnswer = {
  readonly revision: number;
  readonly channel: ChannelView;
} & (
  | {
      readonly decision: Extract<Decision, { reason: 'offer' }>;
      readonly release: Release;
      readonly artifact: Artifact;
    }
  | { readonly decision: Exclude<Decision, { reason: 'offer' }> }
);

export interface ServiceDeps {
  readonly catalog: Catalog;
}

/**
 * Answers "is there something newer for me?" from memory.
 *
 * Synchronous unless the winning release has not been read yet, which happens once per release and
 * process. A release that turns out not to be what the catalog says is not offered: the decision is
 * made again without it.
 *
 * @throws AppError `unknown_application`, `unknown_channel`, `catalog_unavailable`, and the store's
 */
export function checkForUpdate(
  deps: ServiceDeps,
  query: UpdateQuery,
): UpdateAnswer | Promise<UpdateAnswer> {
  const application = deps.catalog.application(query.application);
  const { channel, revision } = openChannel(application, query.channel);
  const decision = decideUpdate(query, channel);
  if (decision.reason !== 'offer') return { revision, channel, decision };
  const release = application.release(decision.offer);
  if (release instanceof Promise) {
    return release.then((loaded) =>
      loaded === undefined
        ? checkForUpdate(deps, query)
        : { revision, channel, decision, release: loaded, artifact: artifactOf(loaded, decision) },
    );
  }
  return { revision, channel, decision, release, artifact: artifactOf(release, decision) };
}

function artifactOf(release: Release, decision: Extract<Decision, { reason: 'offer' }>): Artifact {
  const artifact = findArtifact(release, decision.artifact);
  if (artifact !== undefined) return artifact;
  // The offer copies its artifacts from the manifest whose digest it names: they cannot differ.
  throw new AppError(
    'document_corrupt',
    `The manifest of ${release.version} has no ${identityName(decision.artifact)}.`,
  );
}

export interface OpenChannel {
  readonly channel: ChannelView;
  readonly revision: number;
}

/** @throws AppError `unknown_channel` */
export function openChannel(application: ReadyApplication, name: string): OpenChannel {
  const snapshot = application.snapshot();
  const channel = snapshot.channels.get(channelNamed(name));
  if (channel === undefined) {
    const detail = `${application.application} has no channel ${JSON.stringify(name.slice(0, 80))}.`;
    throw new AppError('unknown_channel', detail, { issues: [{ pointer: '/channel', detail }] });
  }
  return { channel, revision: snapshot.revision.signed.revision };
}
