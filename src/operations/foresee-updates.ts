import type { Channels } from '../catalog/change.ts';
import { channelEntries } from '../catalog/revision-document.ts';
import { viewsOf } from '../catalog/snapshot.ts';
import type { ChannelView } from '../domain/channel.ts';
import { type Decision, decideUpdate } from '../domain/decide-update.ts';
import type { OfferedArtifact } from '../domain/offer.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { compareVersions, parseVersion, type Version, versionText } from '../domain/version.ts';

/** What clients are told from a state of the channels on, by the decision that will answer them. */

/** The clients of one channel and target on neighbouring versions that all get the same answer. */
export interface ForeseenUpdate {
  readonly channel: string;
  /** `linux-x64 appimage`. */
  readonly target: string;
  /** What they run: from the newest of these versions to the oldest. */
  readonly newest: string;
  readonly oldest: string;
  /** The version they are offered; null for none. */
  readonly offered: string | null;
  readonly reason: Decision['reason'];
  /** Of the newest offer above theirs, when they may not have it. */
  readonly withheld: string | null;
}

/**
 * What the clients get that have a version or an older one, on every channel that shows its offer.
 *
 * Asks once for each target of the version and each version that the channel lists or listed, up to this
 * one. A client's system version is taken to be new enough.
 *
 * @param before the state that still lists the version: it says what its targets are
 * @param after the state to ask
 * @param changed the channels whose offer of the version differs between the two
 */
export function foreseeUpdates(
  { before, after }: { readonly before: Channels; readonly after: Channels },
  version: string,
  changed: readonly string[],
): readonly ForeseenUpdate[] {
  const artifacts = artifactsOf(before, version);
  const installed = parseVersion(version);
  return [...viewsOf(after)]
    .filter(([name, view]) => changed.includes(name) || seesChange(view, changed))
    .flatMap(([name, view]) => {
      const versions = versionsUpTo(after, view, installed);
      return targetsOf(artifacts).flatMap((artifact) =>
        groupAnswers(name, artifact, versions, view),
      );
    });
}

/** A pre-release channel shows the stable one's offers. */
function seesChange(view: ChannelView, changed: readonly string[]): boolean {
  return view.inheritsFrom !== null && changed.includes(view.inheritsFrom);
}

/** Newest first. */
function versionsUpTo(channels: Channels, view: ChannelView, newest: Version): readonly Version[] {
  const names = [view.name, ...(view.inheritsFrom === null ? [] : [view.inheritsFrom])];
  const texts = new Set([versionText(newest)]);
  for (const name of names) {
    const channel = channels[name];
    for (const text of channel?.retired ?? []) texts.add(text);
    for (const offer of channel?.offers ?? []) texts.add(offer.version);
  }
  return [...texts]
    .map((text) => parseVersion(text))
    .filter((version) => compareVersions(version, newest) <= 0)
    .sort((a, b) => compareVersions(b, a));
}

/** As the offers state them, wherever the version is listed. */
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

/** One artifact for each target, by its name. */
function targetsOf(artifacts: readonly OfferedArtifact[]): readonly OfferedArtifact[] {
  const targets = new Map(artifacts.map((artifact) => [targetName(artifact), artifact]));
  return [...targets.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, artifact]) => artifact);
}

const targetName = ({ platform, arch, format }: OfferedArtifact): string =>
  `${platform}-${arch} ${format}`;

/** The question of an updater that installs this artifact's kind. */
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
    purpose: 'update',
    signatureScheme: null,
  };
}

function groupAnswers(
  channel: string,
  artifact: OfferedArtifact,
  versions: readonly Version[],
  view: ChannelView,
): readonly ForeseenUpdate[] {
  const groups: ForeseenUpdate[] = [];
  for (const version of versions) {
    const decision = decideUpdate(updateQuestion(channel, artifact, version), view);
    const answer = {
      offered: decision.reason === 'offer' ? versionText(decision.offer.version) : null,
      reason: decision.reason,
      withheld: decision.reason === 'offer' ? null : (decision.path[0]?.version ?? null),
    };
    const text = versionText(version);
    const last = groups.at(-1);
    // The version itself has a line of its own: it is what was asked about.
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
