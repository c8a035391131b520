import type { Channels } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import { buildName, visitorAnswer } from './foresee-updates.ts';

/** The newest release for new clients of a channel and target, before a change and after it. */
export interface ForeseenNewest {
  readonly channel: string;
  /** `linux-x64 appimage`. */
  readonly target: string;
  /** Null: none. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Finds the targets for which a change of a channel gives new clients another newest release: on that channel, and on
 * channels that inherit from it. It assumes that the systems of the clients are new enough.
 *
 * @param now by the store's clock
 */
export function foreseeNewest(
  before: Channels,
  after: Channels,
  changed: string,
  now: number,
): readonly ForeseenNewest[] {
  if (before[changed]?.inherits === after[changed]?.inherits) return [];
  const old = viewsOf(before);
  const next = viewsOf(after);
  const names = [...new Set([...old.keys(), ...next.keys()])];
  return names.flatMap((channel) => {
    const views = [old.get(channel), next.get(channel)];
    const shows = views.some((view) => view?.name === changed || view?.inherits.includes(changed));
    if (!shows) return [];
    const targets = new Map(
      views
        .flatMap((view) => view?.offers ?? [])
        .flatMap(({ artifacts }) => artifacts)
        .map((artifact) => [buildName(artifact), artifact]),
    );
    return [...targets]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([target, artifact]) => {
        const [first, second] = views.map((view) => visitorAnswer(view, artifact, now).offered);
        return { channel, target, before: first ?? null, after: second ?? null };
      })
      .filter((newest) => newest.before !== newest.after);
  });
}
