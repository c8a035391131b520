import type { Channels } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { decideUpdate } from '../../domain/decide-update.ts';
import type { OfferedArtifact } from '../../domain/offer.ts';
import { compareVersions, type Version, versionText } from '../../domain/version.ts';
import type { ChannelStates } from './compare-channels.ts';
import { targetsOf, updateQuestion } from './foresee-updates.ts';
import { withInherited } from './view-channels.ts';

/**
 * Foresees the effect of a change on AppImages that update with zsync. These AppImages compare no versions, and install
 * every release that they get. So the service offers them nothing while they may run a newer release than the one to
 * offer, and the tables of clients are wrong for them.
 */

export interface ForeseenZsync {
  readonly channels: readonly string[];
  /** The release that these AppImages are offered before the change. */
  readonly before: string;
  /**
   * The older release that these AppImages are offered after the change, and install; null: they are offered nothing.
   */
  readonly after: string | null;
  /** True when the service can offer them the release of `before` again. */
  readonly mayReturn: boolean;
}

/**
 * Finds the channels where these AppImages are offered nothing any more, or an older release than before.
 *
 * @param now by the store's clock
 */
export function foreseeZsync(
  { before, after }: ChannelStates,
  now: number,
): readonly ForeseenZsync[] {
  if (before === after) return [];
  const appImages = targetsOf([...offersOf(before), ...offersOf(after)]).filter(
    ({ format }) => format === 'appimage',
  );
  if (appImages.length === 0) return [];
  // An edit copies only the channels that it changes, so the other channels are the same objects.
  const changed = Object.keys(after).filter((name) =>
    Object.keys(withInherited(after, [name])).some((each) => before[each] !== after[each]),
  );
  const old = viewsOf(withInherited(before, changed));
  const found = new Map<string, ForeseenZsync>();
  for (const [channel, view] of viewsOf(withInherited(after, changed))) {
    for (const artifact of appImages) {
      const was = offered(old.get(channel), artifact, now);
      const is = offered(view, artifact, now);
      if (was === undefined || (is !== undefined && compareVersions(is, was) >= 0)) continue;
      const version = versionText(was);
      const mayReturn = view.offerOf(version)?.status === 'paused';
      const facts = {
        before: version,
        after: is === undefined ? null : versionText(is),
        mayReturn,
      };
      const key = JSON.stringify(facts);
      const channels = new Set(found.get(key)?.channels).add(channel);
      found.set(key, { ...facts, channels: [...channels] });
    }
  }
  return [...found.values()];
}

function offersOf(channels: Channels) {
  return Object.values(channels).flatMap(({ offers }) => offers);
}

function offered(
  view: ChannelView | undefined,
  artifact: OfferedArtifact,
  now: number,
): Version | undefined {
  if (view === undefined) return undefined;
  const question = updateQuestion(view.name, artifact, null);
  const decision = decideUpdate({ ...question, osGate: 'server', installsOlder: true }, view, now);
  return decision.reason === 'offer' ? decision.offer.version : undefined;
}
