import { isDeepStrictEqual } from 'node:util';
import type { Channels } from '../catalog/change.ts';
import { channelEntries, type OfferJson } from '../catalog/revision-document.ts';
import { viewsOf } from '../catalog/snapshot.ts';
import type { ChannelView } from '../domain/channel.ts';
import type { Decision } from '../domain/decide-update.ts';
import { decideUpdates } from '../domain/decide-updates.ts';
import type { OfferedArtifact } from '../domain/offer.ts';
import { NO_CLIENTS, type Share, shareAt } from '../domain/rollout.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { compareVersions, parseVersion, type Version, versionText } from '../domain/version.ts';

/** Foresees which updates clients are offered after a change, with the decision that the service makes. */

/** What clients of one kind are offered. */
export interface ForeseenAnswer {
  /** The version that every client is offered; null for none. */
  readonly offered: string | null;
  readonly reason: Decision['reason'];
  /** The newest version above theirs that they are not offered; null otherwise. */
  readonly withheld: string | null;
  /**
   * The versions that rollouts offer to a share of them instead, newest first. Each share is one of those that no newer
   * rollout has reached. Empty when all get the same.
   */
  readonly reached: readonly { readonly version: string; readonly share: Share }[];
}

/** Clients of a channel and target, on neighboring versions. */
export interface ClientGroup {
  readonly channel: string;
  /** `linux-x64 appimage`. */
  readonly target: string;
  /** The versions that they run: from `newest` down to `oldest`. */
  readonly newest: string;
  readonly oldest: string;
}

/** Clients that get the same answer. */
export type ForeseenUpdate = ClientGroup & ForeseenAnswer;

/**
 * The updates that clients with one of the versions or an older one get, on every channel that shows an offer of them.
 *
 * Makes a decision for each target of the versions and each version up to them that the channel lists or listed. It
 * assumes that the systems of the clients are new enough.
 *
 * @param before the state that still lists the versions, and so their targets
 * @param after the state that the clients are answered from @param versions at least one; a group of clients has only
 *   these versions, or none of them @param changed the channels on which the offers of the versions differ between the
 *   two states @param now by the store's clock
 */
export function foreseeUpdates(
  { before, after }: { readonly before: Channels; readonly after: Channels },
  versions: readonly string[],
  changed: readonly string[],
  now: number,
): readonly ForeseenUpdate[] {
  const about = new Set(versions);
  const offers = channelEntries(before).flatMap(([, channel]) => channel.offers);
  const targets = targetsOf(offers.filter(({ version }) => about.has(version)));
  const newest = newestFirst(versions)[0];
  return [...viewsOf(after)]
    .filter(([name, view]) => changed.includes(name) || seesChange(view, changed))
    .flatMap(([name, view]) => {
      const installed = newestFirst([...versions, ...versionsOf(after, view)]).filter(
        (version) => newest === undefined || compareVersions(version, newest) <= 0,
      );
      return targets.flatMap((artifact) => {
        const answered = answers(view, artifact, installed, now);
        return groupVersions(
          answered.map(({ version, of }) => ({
            version,
            of: { isNamed: about.has(versionText(version)), ...of },
          })),
          isSameGroup,
        ).map(({ of: { isNamed: _isNamed, ...foreseen }, ...range }) => ({
          ...{ channel: name, target: buildName(artifact) },
          ...range,
          ...foreseen,
        }));
      });
    });
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

/** Whether clients are offered the same. The reasons for no offer may differ. */
export function haveSameOffer(a: ForeseenAnswer, b: ForeseenAnswer): boolean {
  return a.offered === b.offered && isDeepStrictEqual(a.reached, b.reached);
}

/** Whether a channel inherits offers of a changed one. */
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

/** Each version once. */
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

/** The answers to clients of a channel that install artifacts like this one. @param versions newest first */
export function answers(
  view: ChannelView,
  artifact: OfferedArtifact,
  versions: readonly Version[],
  now: number,
): readonly OfVersion<ForeseenAnswer>[] {
  // The question states no id, so each release whose rollout is under way is held back.
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

/** Groups neighboring versions of which the same is true. @param versions newest first */
export function groupVersions<T>(
  versions: readonly OfVersion<T>[],
  isSame: (a: T, b: T) => boolean,
): readonly { readonly newest: string; readonly oldest: string; readonly of: T }[] {
  const groups: { newest: string; oldest: string; of: T }[] = [];
  for (const { version, of } of versions) {
    const text = versionText(version);
    const last = groups.at(-1);
    if (last !== undefined && isSame(last.of, of)) last.oldest = text;
    else groups.push({ newest: text, oldest: text, of });
  }
  return groups;
}
