import type { Channels } from '../catalog/change.ts';
import { viewsOf } from '../catalog/snapshot.ts';
import { findHolding, type NamedMachine } from '../domain/common-release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';

/** When every rollout has ended. */
const AT_THE_END = Number.POSITIVE_INFINITY;

/**
 * The machines without which a document for several machines does not state a release, by their names in the document.
 * Rollouts count as ended, because the publisher asks about builds.
 *
 * @param query the question for the document, with the channel's own name
 */
export function findHoldingMachines(
  channels: Channels,
  version: string,
  query: UpdateQuery,
  machines: readonly NamedMachine[],
): readonly string[] {
  const view = viewsOf(channels).get(query.channel);
  const offer = view?.offerOf(version);
  if (view === undefined || offer === undefined || offer.status !== 'active') return [];
  return findHolding(query, machines, view, offer, AT_THE_END);
}
