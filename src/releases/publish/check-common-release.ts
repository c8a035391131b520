import type { Channels } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import { divideMachines, type NamedMachine } from '../../domain/common-release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { withInherited } from '../forecast/view-channels.ts';

/** The conditions under which a document for several machines states a release to a client. */
export interface CommonReleaseNeeds {
  /** The machines for which the release has no build, so that the document does not state the release. */
  readonly missing: readonly string[];
  /** True when clients have to state their version, because the release requires certain versions. */
  readonly needsVersion: boolean;
  /** The machines whose clients have to state the version of their system, because their builds have a minimum. */
  readonly needsOsVersion: readonly string[];
  /** True when the document states the release to no client that leaves out the version of its system. */
  readonly isHeldByOsVersion: boolean;
}

/** A time at which every rollout has ended. */
const AT_THE_END = Number.POSITIVE_INFINITY;

/**
 * Finds the reasons why a document for several machines does not state a release. The result names machines as the
 * document names them. Rollouts count as ended, because the publisher asks about the release, not about its rollout.
 *
 * @param query the query of a client that asks for the document and states nothing, with the channel's own name
 * @returns undefined when the document never states the release, because the release is not active or has no build for
 *   the machines
 */
export function checkCommonRelease(
  channels: Channels,
  version: string,
  query: UpdateQuery,
  machines: readonly NamedMachine[],
): CommonReleaseNeeds | undefined {
  const required = channels[query.channel]?.offers.find((offer) => offer.version === version);
  const shown = withInherited(channels, [query.channel]);
  const view = viewsOf(withoutRequirements(shown)).get(query.channel);
  const offer = view?.offerOf(version);
  if (view === undefined || offer === undefined || offer.status !== 'active') return undefined;
  // A build is not missing when a client gets the build after it states its system.
  const divide = (osGate: UpdateQuery['osGate']) =>
    divideMachines({ ...query, osGate }, machines, view, offer, AT_THE_END);
  const all = divide('client');
  const withoutOsVersion = divide('server');
  if (all.getting.length === 0) return undefined;
  const gated = all.getting.filter((name) => !withoutOsVersion.getting.includes(name));
  return {
    missing: all.holding,
    needsVersion: required?.requires != null,
    needsOsVersion: gated,
    isHeldByOsVersion:
      withoutOsVersion.getting.length === 0 ||
      withoutOsVersion.holding.some((name) => gated.includes(name)),
  };
}

function withoutRequirements(channels: Channels): Channels {
  return Object.fromEntries(
    Object.entries(channels).map(([name, channel]) => [
      name,
      { ...channel, offers: channel.offers.map((offer) => ({ ...offer, requires: null })) },
    ]),
  );
}
