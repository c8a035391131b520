import { channelEntries, type RevisionJson } from '../../../catalog/documents/revision-document.ts';
import { type RolloutJson, wholeRamp } from '../../../catalog/documents/rollout-document.ts';
import type { ReaderDeps } from '../../../catalog/reading/read.ts';
import { isoOf } from '../../../core/time-text.ts';
import type { Artifact, Release } from '../../../domain/release.ts';
import { type Ramp, reachedAt } from '../../../domain/rollout.ts';
import { targetName } from '../../../domain/target.ts';
import { newestTextFirst, versionText } from '../../../domain/version.ts';
import { showRelease } from '../../../releases/list/list-releases.ts';
import { describeAdoption, periodOf, summarizeUsage } from '../../../usage/adoption.ts';
import { findMostlyWhole, outcomesOf } from '../../../usage/download-shares.ts';
import { renderMarkdown } from '../../../web/markdown.ts';
import type { ArtifactDetail, ReleaseDetail, RolloutCounts, RolloutDetail } from '../answers.ts';
import { type SeenCatalog, seenOf } from '../catalog-source.ts';
import type { SeenUsage } from '../usage-source.ts';
import { describeOffer, releasesOnChannels } from './release-on-channel.ts';
import { isOfferedNow, offersForAll } from './shown-offers.ts';

/** @throws AppError `unknown_version`, `document_corrupt`; an error of the store */
export async function releaseOf(
  deps: ReaderDeps,
  application: string,
  version: string,
  seen: SeenCatalog,
  usage: SeenUsage,
): Promise<ReleaseDetail> {
  const { release, manifest } = await showRelease(deps, application, version, seen.revision);
  const { signed } = seen.revision;
  return {
    ...seenOf(seen),
    application,
    version,
    name: release.name,
    releasedAt: release.releasedAt,
    manifest,
    requires: release.requires,
    mandatoryFor: release.mandatoryFor,
    endsNative: release.endsNative.map(targetName),
    provenance: release.provenance,
    notes: notesOf(release.notes),
    artifacts: release.artifacts.map(artifactOf),
    signedDocuments: release.carried.map(({ name }) => name),
    isOfferedNow: isOfferedNow(signed.channels, version, seen.now),
    cells: releasesOnChannels(signed, seen.now).get(version) ?? [],
    rollouts: rolloutsOf(application, release, signed, seen.now, usage),
    rollbackTargets: rollbackTargetsOf(version, signed, seen.now),
  };
}

/** The notes in English first, as on the pages for visitors. */
function notesOf(notes: Release['notes']): ReleaseDetail['notes'] {
  const rank = (locale: string): number => {
    if (/^en\b/i.test(locale)) return 0;
    return locale === 'und' ? 1 : 2;
  };
  return Object.entries(notes)
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([locale, markdown]) => ({ locale, markdown, html: renderMarkdown(markdown) }));
}

function artifactOf(artifact: Artifact): ArtifactDetail {
  return {
    platform: artifact.platform,
    arch: artifact.arch,
    format: artifact.format,
    filename: artifact.filename,
    size: artifact.size,
    sha256: artifact.sha256,
    sha512: artifact.sha512,
    minimumOsVersion: artifact.minimumOsVersion,
    signatures: artifact.signatures.map(({ scheme, keyId, value }) => ({
      scheme,
      value,
      keyId: keyId === '' ? null : keyId,
    })),
    companions: artifact.companions.map(({ kind, filename, size }) => ({ kind, filename, size })),
  };
}

function rolloutsOf(
  application: string,
  release: Release,
  { channels }: RevisionJson,
  now: number,
  usage: SeenUsage,
): readonly RolloutDetail[] {
  const { version } = release;
  return channelEntries(channels).flatMap(([channel, { offers }]) => {
    const offer = offers.find((each) => each.version === version);
    if (offer === undefined) return [];
    const { rollout, status } = offer;
    const { share, isFrozen } = describeOffer(offer, now);
    const ramp: Ramp =
      rollout === undefined
        ? { points: [], isLinear: false }
        : wholeRamp(rollout, status === 'paused');
    return [
      {
        channel,
        status,
        share,
        isFrozen,
        isLinear: ramp.isLinear,
        plan: rollout?.plan ?? null,
        freezeWindows: rollout?.freeze_windows ?? [],
        points: ramp.points.map((point) => ({ at: isoOf(point.at), share: point.share })),
        stages: stagesOf(rollout, ramp),
        interruptedAt: rollout && rollout.clock.elapsed_ms > 0 ? rollout.clock.at : null,
        counts: countsOf({ application, channel, version }, release, now, usage),
      },
    ];
  });
}

function stagesOf(rollout: RolloutJson | undefined, ramp: Ramp): RolloutDetail['stages'] {
  const shares = new Set(rollout?.steps.map(({ share }) => share));
  return [...shares].map((share) => {
    const at = Math.max(reachedAt(ramp, share), ramp.points[0]?.at ?? 0);
    return { share, at: Number.isFinite(at) ? isoOf(at) : null };
  });
}

/** The counts are of one week, so that every weekday counts. */
const COUNTED_DAYS = 7;
/** The recent counts are of today and yesterday, because today has no counts just after midnight. */
export const RECENT_DAYS = 2;

function countsOf(
  query: { readonly application: string; readonly channel: string; readonly version: string },
  release: Release,
  now: number,
  { rows, newestAt }: SeenUsage,
): RolloutCounts | null {
  const { application, channel, version } = query;
  const inLast = (days: number) => {
    const period = periodOf(now, days);
    const { whole, versions } = summarizeUsage(rows, { application, channel, ...period });
    return { whole, own: versions.find(({ name }) => name === version) };
  };
  const { whole, own } = inLast(COUNTED_DAYS);
  const recent = inLast(RECENT_DAYS);
  const period = periodOf(now, COUNTED_DAYS);
  const { platforms } = describeAdoption(rows, { ...query, ...period });
  if (whole.checks === 0 && own === undefined) return null;
  return {
    days: COUNTED_DAYS,
    checks: whole.checks,
    checksOnVersion: own?.checks ?? 0,
    recentChecks: recent.whole.checks,
    recentChecksOnVersion: recent.own?.checks ?? 0,
    offers: own?.offers ?? 0,
    links: own?.links ?? 0,
    downloads: own?.downloads === undefined ? null : outcomesOf(own.downloads),
    mostlyWhole: findMostlyWhole(release, platforms),
    countedUntil: newestAt === undefined ? null : isoOf(newestAt),
  };
}

/** The maximum number of versions to choose from: a longer list does not help an operator. */
const TARGETS_MAX = 20;

function rollbackTargetsOf(
  version: string,
  { channels }: RevisionJson,
  now: number,
): ReleaseDetail['rollbackTargets'] {
  return channelEntries(channels)
    .filter(([, { offers }]) => offers.some((offer) => offer.version === version))
    .map(([channel]) => ({
      channel,
      // A rollback may also go back to a release that the channel inherits.
      versions: offersForAll(channels, channel, now)
        .map((offer) => versionText(offer.version))
        .filter((older) => newestTextFirst(version, older) < 0)
        .slice(0, TARGETS_MAX),
    }));
}
