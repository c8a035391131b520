import { whenKnown } from '../../core/when-known.ts';
import {
  findCommonRelease,
  type NamedBuild,
  type NamedMachine,
} from '../../domain/common-release.ts';
import type { Decision } from '../../domain/decide-update.ts';
import type { OfferedArtifact } from '../../domain/offer.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { storedArtifact } from '../find-update.ts';
import { notEntitled, type ServiceDeps, seeChannel } from '../open-channel.ts';
import { type ChannelListing, NO_RELEASES } from './list-channel.ts';

/**
 * Lists a channel for a document that states one release for several machines.
 *
 * The function is synchronous unless the release has not been read yet. A release that does not match its digest is not
 * offered: the function decides again without this release.
 *
 * @param query the client, except for its machine
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `not_entitled`, `unknown_application`, `unknown_channel`, `catalog_unavailable`, `store_unavailable`
 */
export function listCommonRelease(
  deps: ServiceDeps,
  query: UpdateQuery,
  machines: readonly NamedMachine[],
  tier: string | null,
): ChannelListing | Promise<ChannelListing> {
  const application = deps.catalog.application(query.application);
  const { channel, isRestricted, revision } = seeChannel(deps, application, query.channel, tier);
  if (!channel.isOpen) throw notEntitled(query.application, channel.name);
  const now = deps.clock.now();
  const common = findCommonRelease(query, machines, channel, now);
  const [first] = common?.builds ?? [];
  const stage = channel.rolloutStage(now);
  const none = { olderReleases: NO_RELEASES, own: undefined };
  const seen = { channel, isRestricted, revision, stage, ...none };
  if (common === undefined || first === undefined) {
    const decision: Decision = { reason: 'no_release', path: [] };
    return { ...seen, decision, offered: undefined, builds: [] };
  }
  const { offer } = common;
  return whenKnown(application.release(offer), (release) => {
    if (release === undefined) return listCommonRelease(deps, query, machines, tier);
    const builds = common.builds.map((build) => storedBuild(release, build));
    const { artifact } = storedBuild(release, first);
    const decision: Decision = {
      reason: 'offer',
      offer,
      artifact: first.artifact,
      mandatory: false,
      path: [],
    };
    return { ...seen, decision, offered: { release, artifact }, builds };
  });
}

function storedBuild(
  release: Release,
  { name, artifact: chosen }: NamedBuild<OfferedArtifact>,
): NamedBuild<Artifact> {
  return { name, artifact: storedArtifact(release, chosen) };
}
