import type { ChannelJson, OfferJson } from '../documents/revision-document.ts';

/** The builds that a change is about, for the history. */

type ComparedChannels = Readonly<Record<string, Pick<ChannelJson, 'offers' | 'drafts'>>>;
type OfferedBuild = OfferJson['artifacts'][number];
/** An offer or a draft. */
type Listed = Pick<OfferJson, 'version' | 'artifacts'>;

/**
 * The targets of the builds that a change is about, such as `windows-x64`, sorted. When an offer or a draft gets more
 * builds, only the added builds count. For every other change of an offer or a draft, all of its builds count.
 */
export function changedTargets(before: ComparedChannels, after: ComparedChannels): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const builds = [...names].flatMap((name) => {
    const old = before[name];
    const next = after[name];
    return [
      ...changedBuilds(old?.offers ?? [], next?.offers ?? []),
      ...changedBuilds(old?.drafts ?? [], next?.drafts ?? []),
    ];
  });
  return [...new Set(builds.map(({ os, arch }) => `${os}-${arch}`))].sort();
}

function changedBuilds(
  before: readonly Listed[],
  after: readonly Listed[],
): readonly OfferedBuild[] {
  const old = new Map(before.map((offer) => [offer.version, offer]));
  const builds: OfferedBuild[] = [];
  for (const offer of after) {
    const previous = old.get(offer.version);
    old.delete(offer.version);
    if (previous === undefined) builds.push(...offer.artifacts);
    // An edit copies only the offers that it changes, so an offer that is the same object has not changed.
    else if (previous !== offer) builds.push(...changedIn(previous, offer));
  }
  for (const removed of old.values()) builds.push(...removed.artifacts);
  return builds;
}

function changedIn(before: Listed, after: Listed): readonly OfferedBuild[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const known = new Set(before.artifacts.map(textOf));
  const added = after.artifacts.filter((build) => !known.has(textOf(build)));
  return added.length > 0 ? added : after.artifacts;
}

const textOf = (build: OfferedBuild): string => JSON.stringify(build);
