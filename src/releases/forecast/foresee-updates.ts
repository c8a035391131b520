import { isDeepStrictEqual } from 'node:util';
import {
  type Channels,
  channelEntries,
  type OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { type Decision, decideUpdate } from '../../domain/decide-update.ts';
import { decideUpdates } from '../../domain/decide-updates.ts';
import type { OfferedArtifact } from '../../domain/offer.ts';
import { NO_CLIENTS, type Share, shareAt } from '../../domain/rollout.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import {
  boundariesOf,
  compareVersions,
  OLDEST_VERSION,
  parseVersion,
  type Version,
  versionText,
} from '../../domain/version.ts';
import { countsOf, type SeenChecks, type SeenCounts } from './seen-checks.ts';

/** Foresees which updates clients are offered after a change, with the decision that the service makes. */

/** The offer for clients of one kind. */
export interface ForeseenAnswer {
  /** The version that every client is offered; null for none. */
  readonly offered: string | null;
  readonly reason: Decision['reason'];
  /** The newest version that is newer than the clients' own version and that they are not offered; null for none. */
  readonly withheld: string | null;
  /**
   * The versions that rollouts offer to a share of the clients instead, newest first. Each share is a share of the
   * clients that no newer rollout has reached. Empty when all clients get the same.
   */
  readonly reached: readonly { readonly version: string; readonly share: Share }[];
}

/**
 * Neighboring versions: all versions from `oldest` on and below `below`, also versions that the channel never listed. A
 * client may run any version, because it may come from another update server.
 */
export interface InstalledVersions {
  /**
   * The newest of these versions that the channel lists or listed, or on which clients were counted; null: there is
   * none.
   */
  readonly newest: string | null;
  /** The oldest of these versions; null: every older version belongs to them, too. */
  readonly oldest: string | null;
  /** The next newer version that does not belong to them; null: every newer version belongs to them, too. */
  readonly below: string | null;
}

/** Clients of a channel and target. */
export interface ClientGroup {
  readonly channel: string;
  /** `linux-x64 appimage`. */
  readonly target: string;
  /** The versions that the clients run. Null: new visitors, who get only a release that every client is offered. */
  readonly installed: InstalledVersions | null;
  /** The share of these clients in the counted checks on the channel from this platform; null: no counts. */
  readonly seen: number | null;
}

/** Clients that get the same answer. */
export type ForeseenUpdate = ClientGroup & ForeseenAnswer;

/**
 * Finds the updates for clients that run one of the versions, or an older version. It considers every channel that
 * shows an offer of these versions.
 *
 * For each target of the versions, it makes decisions for new visitors and for installed versions. It considers the
 * installed versions at which the answer can change, up to the newest of `versions`: see {@link runnableVersions}. It
 * assumes that the systems of the clients are new enough.
 *
 * @param before the state that still lists the versions, and so has their targets
 * @param after the state from which the service answers the clients
 * @param versions at least one version; a group of clients has only these versions, or none of them
 * @param changed the channels on which the offers of the versions differ between the two states
 * @param now by the store's clock
 * @param seen counted checks of the application
 */
export function foreseeUpdates(
  { before, after }: { readonly before: Channels; readonly after: Channels },
  versions: readonly string[],
  changed: readonly string[],
  now: number,
  seen: readonly SeenChecks[] = [],
): readonly ForeseenUpdate[] {
  const about = new Set(versions);
  const offers = channelEntries(before).flatMap(([, channel]) => channel.offers);
  const targets = targetsOf(offers.filter(({ version }) => about.has(version)));
  const newest = newestFirst(versions)[0];
  const counts = countsOf(seen);
  return [...viewsOf(after)]
    .filter(([name, view]) => changed.includes(name) || seesChange(view, changed))
    .flatMap(([name, view]) => {
      const runnable = runnableVersions([view], [...versions, ...versionsOf(after, view)], counts);
      const first = runnable.versions.findIndex(
        (version) => newest === undefined || compareVersions(version, newest) <= 0,
      );
      const isAbout = nearestNamed(runnable, about);
      return targets.flatMap((artifact) => {
        const answered = answers(view, artifact, runnable.versions.slice(first), now);
        const groups = groupVersions(
          answered.map(({ version, of }) => ({
            version,
            of: { isNamed: isAbout.has(version), ...of },
          })),
          isSameGroup,
          { listed: runnable.listed, above: runnable.versions[first - 1] },
        );
        const place = { channel: name, target: buildName(artifact) };
        return [
          ...groups.map(({ installed, of: { isNamed: _isNamed, ...foreseen } }) => ({
            ...place,
            installed,
            seen: counts.shareOf(name, artifact.platform, installed),
            ...foreseen,
          })),
          { ...place, installed: null, seen: null, ...visitorAnswer(view, artifact, now) },
        ];
      });
    });
}

/** The given versions, and the unlisted versions between each of them and the next newer listed version. */
function nearestNamed(
  { versions, listed }: RunnableVersions,
  about: ReadonlySet<string>,
): ReadonlySet<Version> {
  const found = new Set<Version>();
  let isAbout = false;
  for (const version of versions.toReversed()) {
    const text = versionText(version);
    if (listed.has(text)) isAbout = about.has(text);
    if (isAbout) found.add(version);
  }
  return found;
}

type NamedAnswer = ForeseenAnswer & { readonly isNamed: boolean };

function isSameGroup(a: NamedAnswer, b: NamedAnswer): boolean {
  return (
    a.isNamed === b.isNamed &&
    a.reason === b.reason &&
    a.withheld === b.withheld &&
    haveSameOffer(a, b)
  );
}

/** True when clients are offered the same. The reasons for no offer may differ. */
export function haveSameOffer(a: ForeseenAnswer, b: ForeseenAnswer): boolean {
  return a.offered === b.offered && isDeepStrictEqual(a.reached, b.reached);
}

/** True when a channel inherits offers of a changed channel. */
export function seesChange({ inherits }: ChannelView, changed: readonly string[]): boolean {
  return inherits.some((name) => changed.includes(name));
}

/** The versions that a channel shows or showed, as texts. */
export function versionsOf(channels: Channels, view: ChannelView): readonly string[] {
  return [view.name, ...view.inherits].flatMap((name) => [
    ...(channels[name]?.offers.map(({ version }) => version) ?? []),
    ...(channels[name]?.retired ?? []),
  ]);
}

/** The versions at which the answers to clients can change. */
export interface RunnableVersions {
  /**
   * Newest first. A client on any other version gets the same answer as a client on the next older version of this
   * list.
   */
  readonly versions: readonly Version[];
  /** The versions that the channel lists or listed, or on which clients were counted. */
  readonly listed: ReadonlySet<string>;
}

/**
 * The versions for which to make a decision, so that every client is considered, whatever version it runs.
 *
 * A client between two listed versions sees the same newer releases as a client on the older one. Only a rule that
 * names another version can give them different answers, so the list also has the bounds of these rules. The oldest
 * possible version stands for clients that are older than all listed versions.
 *
 * @param views the views of the channel before and after a change
 * @param listed the versions that the channel lists or listed
 */
export function runnableVersions(
  views: readonly ChannelView[],
  listed: readonly string[],
  { versionsOn }: Pick<SeenCounts, 'versionsOn'>,
): RunnableVersions {
  const names = new Set([...listed, ...views.flatMap(({ name }) => versionsOn(name))]);
  const ranges = new Set(views.flatMap(({ offers }) => offers.map(({ requires }) => requires)));
  const known = newestFirst(names);
  const isKnown = new Set(known.map(({ version }) => version));
  const others = [OLDEST_VERSION, ...boundariesOf([...ranges].filter((range) => range !== null))];
  const added = new Map(others.map((version) => [version.version, version]));
  const versions = [...known, ...[...added.values()].filter((each) => !isKnown.has(each.version))];
  return { versions: versions.sort((a, b) => compareVersions(b, a)), listed: names };
}

/** Each version once, newest first. */
export function newestFirst(texts: Iterable<string>): readonly Version[] {
  return [...new Set(texts)]
    .map((text) => parseVersion(text))
    .sort((a, b) => compareVersions(b, a));
}

/** One artifact for each target of the offers, in the order of their names. */
export function targetsOf(
  offers: readonly Pick<OfferJson, 'artifacts'>[],
): readonly OfferedArtifact[] {
  const targets = new Map<string, OfferedArtifact>();
  for (const { artifacts } of offers) {
    for (const { os, arch, format, signature_schemes: signatureSchemes = [] } of artifacts) {
      const artifact = { platform: os, arch, format, minimumOsVersion: null, signatureSchemes };
      targets.set(buildName(artifact), artifact);
    }
  }
  return [...targets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, artifact]) => artifact);
}

/** `linux-x64 appimage` */
export const buildName = ({
  platform,
  arch,
  format,
}: Pick<OfferedArtifact, 'platform' | 'arch' | 'format'>): string =>
  `${platform}-${arch} ${format}`;

/** The query of an updater that installs artifacts like this one. */
export function updateQuestion(
  channel: string,
  { platform, arch, format }: OfferedArtifact,
  currentVersion: Version | null,
): UpdateQuery {
  return {
    application: '',
    channel,
    currentVersion,
    platform,
    arch,
    formats: [format],
    osVersion: null,
    osGate: 'client',
    installationId: null,
    isManual: false,
    allowDowngrade: false,
    purpose: 'update',
    signatureScheme: null,
  };
}

/** A version that clients run, with a result for it. */
interface OfVersion<T> {
  readonly version: Version;
  readonly of: T;
}

/**
 * The answers to clients of a channel that install artifacts like this one.
 * @param versions newest first
 */
export function answers(
  view: ChannelView,
  artifact: OfferedArtifact,
  versions: readonly Version[],
  now: number,
): readonly OfVersion<ForeseenAnswer>[] {
  // The question states no id, so the decision holds back each release whose rollout is under way.
  const question = updateQuestion(view.name, artifact, null);
  return decideUpdates(question, view, versions, now).map(({ version, decision }) => ({
    version,
    of: {
      offered: decision.reason === 'offer' ? versionText(decision.offer.version) : null,
      reason: decision.reason,
      withheld: decision.reason === 'offer' ? null : (decision.path[0]?.version ?? null),
      reached: decision.path.flatMap(({ version, outcome }) => {
        const rollout = outcome === 'held_by_rollout' ? view.offerOf(version)?.rollout : null;
        const share = rollout == null ? NO_CLIENTS : shareAt(rollout.ramp, now);
        return share === NO_CLIENTS ? [] : [{ version, share }];
      }),
    },
  }));
}

/**
 * The answer to a new visitor of a channel who downloads an artifact like this one. A visitor states neither a version
 * nor an installation id, so a rollout below 100 % never reaches a visitor.
 */
export function visitorAnswer(
  view: ChannelView | undefined,
  artifact: OfferedArtifact,
  now: number,
): ForeseenAnswer {
  if (view === undefined) return NOTHING;
  const question = { ...updateQuestion(view.name, artifact, null), purpose: 'download' as const };
  const decision = decideUpdate(question, view, now);
  if (decision.reason !== 'offer') return NOTHING;
  return { ...NOTHING, offered: versionText(decision.offer.version), reason: 'offer' };
}

/** The answer when there is no release to offer. */
export const NOTHING: ForeseenAnswer = {
  offered: null,
  reason: 'no_release',
  withheld: null,
  reached: [],
};

/**
 * Groups neighboring versions that have the same result.
 *
 * @param versions newest first
 * @param above the next version that is newer than all of them
 */
export function groupVersions<T>(
  versions: readonly OfVersion<T>[],
  isSame: (a: T, b: T) => boolean,
  { listed, above }: Pick<RunnableVersions, 'listed'> & { readonly above: Version | undefined },
): readonly { readonly installed: InstalledVersions; readonly of: T }[] {
  const groups: { installed: InstalledVersions; of: T }[] = [];
  let below = above === undefined ? null : versionText(above);
  for (const { version, of } of versions) {
    const text = versionText(version);
    const newest = listed.has(text) ? text : null;
    const oldest = version === OLDEST_VERSION ? null : text;
    const last = groups.at(-1);
    if (last !== undefined && isSame(last.of, of)) {
      last.installed = { ...last.installed, newest: last.installed.newest ?? newest, oldest };
    } else groups.push({ installed: { newest, oldest, below }, of });
    below = text;
  }
  return groups;
}
