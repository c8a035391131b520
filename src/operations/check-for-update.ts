import type { Catalog, ReadyApplication } from '../catalog/catalog.ts';
import { type ChannelView, channelNamed } from '../domain/channel.ts';
import { type Decision, decideUpdate } from '../domain/decide-update.ts';
import type { Artifact, Release } from '../domain/release.ts';
import { findArtifact, identityName } from '../domain/release.ts';
import { type TierTable, viewFor } from '../domain/tier.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { AppError } from '../errors.ts';

/** A decision with the release it names, verified. */
export type UpdateAnswer = SeenChannel &
  (
    | {
        readonly decision: Extract<Decision, { reason: 'offer' }>;
        readonly release: Release;
        readonly artifact: Artifact;
      }
    | { readonly decision: Exclude<Decision, { reason: 'offer' }> }
  );

export interface ServiceDeps {
  readonly catalog: Catalog;
  readonly tiers: TierTable;
}

/**
 * Answers "is there something newer for me?" from memory.
 *
 * Synchronous unless the winning release has not been read yet, which happens once per release and
 * process. A release that turns out not to be what the catalog says is not offered: the decision is
 * made again without it.
 *
 * @param tier of the account that asks; null: the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `catalog_unavailable`, and the store's
 */
export function checkForUpdate(
  deps: ServiceDeps,
  query: UpdateQuery,
  tier: string | null,
): UpdateAnswer | Promise<UpdateAnswer> {
  const application = deps.catalog.application(query.application);
  const seen = seeChannel(deps, application, query.channel, tier);
  const { channel, isRestricted, revision } = seen;
  const decision = decideUpdate(query, channel);
  if (decision.reason !== 'offer') return { channel, isRestricted, revision, decision };
  const release = application.release(decision.offer);
  if (release instanceof Promise) {
    return release.then((loaded) =>
      loaded === undefined
        ? checkForUpdate(deps, query, tier)
        : { ...seen, decision, release: loaded, artifact: artifactOf(loaded, decision) },
    );
  }
  const artifact = artifactOf(release, decision);
  return { channel, isRestricted, revision, decision, release, artifact };
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

export interface SeenChannel {
  readonly channel: ChannelView;
  /** Whether another account may get another answer: see {@link viewFor}. */
  readonly isRestricted: boolean;
  readonly revision: number;
}

/** The channel as a tier sees it, which may be closed. @throws AppError `unknown_channel` */
function seeChannel(
  deps: ServiceDeps,
  application: ReadyApplication,
  name: string,
  tier: string | null,
): SeenChannel {
  const snapshot = application.snapshot();
  const known = snapshot.channels.get(channelNamed(name));
  if (known === undefined) {
    const detail = `${application.application} has no channel ${JSON.stringify(name.slice(0, 80))}.`;
    throw new AppError('unknown_channel', detail, { issues: [{ pointer: '/channel', detail }] });
  }
  const { channel, isRestricted } = viewFor(deps.tiers, tier, application.application, known);
  return { channel, isRestricted, revision: snapshot.revision.signed.revision };
}

/**
 * The channel as a tier sees it, for questions that have no other answer to those it is closed to.
 *
 * @throws AppError `unknown_channel`, `not_entitled`
 */
export function openChannel(
  deps: ServiceDeps,
  application: ReadyApplication,
  name: string,
  tier: string | null,
): SeenChannel {
  const seen = seeChannel(deps, application, name, tier);
  if (!seen.channel.isOpen) throw notEntitled(application.application, seen.channel.name);
  return seen;
}

/** What is said where "not for you" is no answer but an error. */
export function notEntitled(application: string, channel: string): AppError {
  return new AppError(
    'not_entitled',
    `Channel ${channel} of ${application} is for some accounts only. Send the access token of one that it is open to.`,
  );
}
