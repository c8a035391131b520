import type { Channels } from '../catalog/change.ts';
import { channelEntries } from '../catalog/revision-document.ts';
import { viewsOf } from '../catalog/snapshot.ts';
import type { ChannelView } from '../domain/channel.ts';
import { type Decision, decideUpdate } from '../domain/decide-update.ts';
import type { OfferedArtifact } from '../domain/offer.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { compareVersions, parseVersion, type Version, versionText } from '../domain/version.ts';

/** Foresees which updates clients are offered after a change, with the decision that the service makes. */

/** Clients of a channel and target, on neighboring versions, that get the same answer. */
export interface ForeseenUpdate {
  readonly channel: string;
  /** `linux-x64 appimage`. */
  readonly target: string;
  /** The versions that they run: from `newest` down to `oldest`. */
  readonly newest: string;
  readonly oldest: string;
  /** The version that they are offered; null for none. */
  readonly offered: string | null;
  readonly reason: Decision['reason'];
  /** The newest version above theirs that they are not offered; null otherwise. */
  readonly withheld: string | null;
}

/**
 * The updates that clients with a version or an older one get, on every channel that shows its offer.
 *
 * Makes a decision for each target of the version and each version up to it that the channel lists or listed. It
 * assumes that the systems of the clients are new enough.
 *
 * @param before the state that still lists the version, and so its targets
 * @param after the state that the clients are answered from @param changed the channels on which the offer of the
 *   version differs between the two @param now by the store's clock
 */
export function foreseeUpdates(
  { before, after }: { readonly before: Channels; readonly after: Channels },
  version: string,
  changed: readonly string[],
  now: number,
): readonly ForeseenUpdate[] {
  const artifacts = artifactsOf(before, version);
  const installed = parseVersion(version);
  return [...viewsOf(after)]
    .filter(([name, view]) => changed.includes(name) || seesChange(view, changed))
    .flatMap(([name, view]) => {
      const versions = versionsUpTo(after, view, installed);
      return targetsOf(artifacts).flatMap((artifact) =>
        groupAnswers(name, artifact, versions, view, now),
      );
    });
}

/** Whether a channel inherits offers of a changed one. */
function seesChange({ inherits }: ChannelView, changed: readonly string[]): boolean {
  return inherits.some((name) => changed.includes(name));
}

/** Newest first. */
function versionsUpTo(channels: Channels, view: ChannelView, newest: Version): readonly Version[] {
  const texts = new Set([versionText(newest)]);
  for (const name of [view.name, ...view.inherits]) {
    const channel = channels[name];
    for (const text of channel?.retired ?? []) texts.add(text);
    for (const offer of channel?.offers ?? []) texts.add(offer.version);
  }
  return [...texts]
    .map((text) => parseVersion(text))
    .filter((version) => compareVersions(version, newest) <= 0)
    .sort((a, b) => compareVersions(b, a));
}

/** The artifacts of a version, from its offers on all channels. */
function artifactsOf(channels: Channels, version: string): readonly OfferedArtifact[] {
  return channelEntries(channels)
    .flatMap(([, { offers }]) => offers)
    .filter((offer) => offer.version === version)
    .flatMap(({ artifacts }) => artifacts)
    .map((artifact) => ({
      platform: artifact.os,
      arch: artifact.arch,
      format: artifact.format,
      minimumOsVersion: null,
      signatureSchemes: artifact.signature_schemes ?? [],
    }));
}

/** One artifact for each target, in the order of their names. */
function targetsOf(artifacts: readonly OfferedArtifact[]): readonly OfferedArtifact[] {
  const targets = new Map(artifacts.map((artifact) => [targetName(artifact), artifact]));
  return [...targets.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, artifact]) => artifact);
}

const targetName = ({ platform, arch, format }: OfferedArtifact): string =>
  `${platform}-${arch} ${format}`;

/** The query of an updater that installs artifacts like this one. */
export function updateQuestion(
  channel: string,
  { platform, arch, format }: OfferedArtifact,
  currentVersion: Version,
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

function groupAnswers(
  channel: string,
  artifact: OfferedArtifact,
  versions: readonly Version[],
  view: ChannelView,
  now: number,
): readonly ForeseenUpdate[] {
  const groups: ForeseenUpdate[] = [];
  for (const version of versions) {
    const decision = decideUpdate(updateQuestion(channel, artifact, version), view, now);
    const answer = {
      offered: decision.reason === 'offer' ? versionText(decision.offer.version) : null,
      reason: decision.reason,
      withheld: decision.reason === 'offer' ? null : (decision.path[0]?.version ?? null),
    };
    const text = versionText(version);
    const last = groups.at(-1);
    // The version itself has a separate group, because the command was about it.
    if (groups.length > 1 && last !== undefined && isSame(last, answer)) {
      groups[groups.length - 1] = { ...last, oldest: text };
    } else {
      const target = targetName(artifact);
      groups.push({ channel, target, newest: text, oldest: text, ...answer });
    }
  }
  return groups;
}

function isSame(
  a: Pick<ForeseenUpdate, 'offered' | 'reason' | 'withheld'>,
  b: Pick<ForeseenUpdate, 'offered' | 'reason' | 'withheld'>,
): boolean {
  return a.offered === b.offered && a.reason === b.reason && a.withheld === b.withheld;
}
