import { parseVersion, versionText } from '../../domain/version.ts';
import { answers, newestFirst, targetsOf, versionsOf } from '../../operations/foresee-updates.ts';
import type { ChangedChannels } from '../../operations/view-channels.ts';
import { channelViews, offersForAll } from './shown-offers.ts';

/** Older than any release: a client that has never updated. */
const OLDEST = versionText(parseVersion('0.0.0-0'));

/** Screens ask every few seconds, and rollouts advance slowly. */
const FRESH_MS = 5_000;
const known = new WeakMap<ChangedChannels, { at: number; versions: ReadonlySet<string> }>();

/**
 * The versions that some client or visitor is offered now, by the decision of the service. The others are listed, but a
 * newer release is offered in their place.
 *
 * @param now by the store's clock; milliseconds since the epoch
 */
export function offeredNow(channels: ChangedChannels, now: number): ReadonlySet<string> {
  const last = known.get(channels);
  if (last !== undefined && Math.abs(now - last.at) < FRESH_MS) return last.versions;
  const versions = new Set<string>();
  for (const [name, view] of channelViews(channels)) {
    const [newest] = offersForAll(channels, name, now);
    if (newest !== undefined) versions.add(versionText(newest.version));
    const installed = newestFirst([...versionsOf(channels, view), OLDEST]);
    const listed = [name, ...view.inherits].flatMap((each) => channels[each]?.offers ?? []);
    for (const artifact of targetsOf(listed)) {
      for (const { of } of answers(view, artifact, installed, now)) {
        if (of.offered !== null) versions.add(of.offered);
        for (const { version } of of.reached) versions.add(version);
      }
    }
  }
  known.set(channels, { at: now, versions });
  return versions;
}
