import type {
  ChannelJson,
  Channels,
  OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import type { ChannelView } from '../../domain/channel.ts';
import type { Platform } from '../../domain/platform.ts';
import type { ChannelStates } from './compare-channels.ts';
import {
  answers,
  buildName,
  type ClientGroup,
  type ForeseenAnswer,
  groupVersions,
  haveSameOffer,
  NOTHING,
  runnableVersions,
  seesChange,
  targetsOf,
  versionsOf,
  visitorAnswer,
} from './foresee-updates.ts';
import { countsOf, type SeenChecks, type SeenCounts } from './seen-checks.ts';

/** Clients that are offered something else after a change. */
export interface ForeseenChange extends ClientGroup {
  readonly before: ForeseenAnswer;
  readonly after: ForeseenAnswer;
}

/**
 * Finds the clients that are offered something else after a change, on every channel that the change affects. It
 * considers every target of the channel's offers. For each target, it considers clients on any version, and new
 * visitors. See {@link runnableVersions}.
 *
 * @param now by the store's clock
 * @param seen counted checks of the application
 */
export function foreseeChanges(
  { before, after }: ChannelStates,
  now: number,
  seen: readonly SeenChecks[] = [],
): readonly ForeseenChange[] {
  const changed = changedNames(before, after);
  if (changed.length === 0) return [];
  const old = viewsOf(before);
  const next = viewsOf(after);
  const names = [...new Set([...next.keys(), ...old.keys()])];
  const counts = countsOf(seen);
  return names.flatMap((name) => {
    const views = [old.get(name), next.get(name)] as const;
    const isAffected =
      changed.includes(name) ||
      views.some((view) => view !== undefined && seesChange(view, changed));
    return isAffected ? changesOn(name, { before, after }, views, { now, counts }) : [];
  });
}

function changedNames(before: Channels, after: Channels): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  // An edit copies only the channels that it changes, so a channel that is the same object has not changed. Two
  // separate revisions share no objects: every channel counts as changed, and the forecast takes longer.
  return [...names].filter((name) => before[name] !== after[name]);
}

function changesOn(
  name: string,
  { before, after }: ChannelStates,
  [old, next]: readonly [ChannelView | undefined, ChannelView | undefined],
  { now, counts }: { readonly now: number; readonly counts: SeenCounts },
): readonly ForeseenChange[] {
  const states = [
    ...(old === undefined ? [] : [{ channels: before, view: old }]),
    ...(next === undefined ? [] : [{ channels: after, view: next }]),
  ];
  const { versions, listed } = runnableVersions(
    states.map(({ view }) => view),
    states.flatMap(({ channels, view }) => versionsOf(channels, view)),
    counts,
  );
  const shown = states.flatMap(({ channels, view }) => shownOn(channels, view));
  const platforms = changedPlatforms(before, after);
  const targets = targetsOf(shown.flatMap(({ offers }) => offers)).filter(
    ({ platform }) => platforms === 'all' || platforms.has(platform),
  );
  return targets.flatMap((artifact) => {
    const [was = [], is = []] = [old, next].map((view) =>
      view === undefined ? [] : answers(view, artifact, versions, now),
    );
    const groups = groupVersions(
      versions.map((version, index) => ({
        version,
        of: { before: was[index]?.of ?? NOTHING, after: is[index]?.of ?? NOTHING },
      })),
      (a, b) => haveSameOffer(a.before, b.before) && haveSameOffer(a.after, b.after),
      { listed, above: undefined },
    );
    const before = visitorAnswer(old, artifact, now);
    const after = visitorAnswer(next, artifact, now);
    return [...groups, { installed: null, of: { before, after } }]
      .filter(({ of }) => !haveSameOffer(of.before, of.after))
      .map(({ installed, of }) => ({
        channel: name,
        target: buildName(artifact),
        installed,
        seen: installed === null ? null : counts.shareOf(name, artifact.platform, installed),
        ...of,
      }));
  });
}

function shownOn(channels: Channels, { name, inherits }: ChannelView): readonly ChannelJson[] {
  return [name, ...inherits]
    .map((each) => channels[each])
    .filter((channel) => channel !== undefined);
}

/**
 * The platforms whose clients a change can affect. The forecast leaves out other platforms, because a channel may list
 * thousands of versions for many targets.
 */
function changedPlatforms(before: Channels, after: Channels): ReadonlySet<Platform> | 'all' {
  const platforms = new Set<Platform>();
  for (const name of changedNames(before, after)) {
    const old = before[name];
    const next = after[name];
    if (old === undefined || next === undefined) return 'all';
    if (settingsText(old) !== settingsText(next)) return 'all';
    for (const offer of changedOffers(old, next)) {
      for (const { os } of [...offer.artifacts, ...(offer.ends_native ?? [])]) platforms.add(os);
    }
  }
  return platforms;
}

function changedOffers(before: ChannelJson, after: ChannelJson): readonly OfferJson[] {
  const old = new Set(before.offers);
  const next = new Set(after.offers);
  return [
    ...after.offers.filter((offer) => !old.has(offer)),
    ...before.offers.filter((offer) => !next.has(offer)),
  ];
}

const settingsText = ({ offers: _offers, retired: _retired, ...settings }: ChannelJson): string =>
  JSON.stringify(settings);
