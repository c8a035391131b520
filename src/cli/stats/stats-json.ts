import { describeRollout } from '../../catalog/describe-rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import type { Group, UsageSummary } from '../../usage/adoption.ts';
import type { Counts } from '../../usage/counts.ts';
import type { StatsReport, VersionReport } from './stats-report.ts';

/** What `slipway stats --json` prints. */

export function factsJsonOf({ query, days, usage, revision }: StatsReport): object {
  return {
    app: query.application,
    channel: query.channel ?? null,
    catalog_revision: revision,
    days,
    from: query.from,
    to: query.to,
    counted_since: timeOf(usage.countedSince),
    newest_counts_stored_at: timeOf(usage.newestAt),
    unreadable: usage.unreadable,
  };
}

export function summaryJsonOf(summary: UsageSummary): object {
  return {
    ...countsOf(summary.whole),
    without_detail: { days: summary.withoutDetail.days, ...countsOf(summary.withoutDetail) },
    versions: summary.versions.map((group) => groupJsonOf('version', group)),
    platforms: summary.platforms.map((group) => groupJsonOf('platform', group)),
    channels: summary.channels.map((group) => groupJsonOf('channel', group)),
  };
}

export function adoptionJsonOf({ version, release, adoption }: VersionReport, now: number): object {
  return {
    version,
    offered: release.listed.map(({ channel, offer }) => ({
      channel,
      status: offer.status,
      reason: offer.reason,
      released_at: offer.released_at,
      offered_to:
        offer.status === 'active' ? shareText(describeRollout(offer.rollout, now).share) : null,
      rollout: offer.rollout ?? null,
    })),
    retired_from: release.retiredFrom,
    ...countsOf(adoption.own),
    percent: percentOf(adoption.own.share),
    all_versions: countsOf(adoption.whole),
    without_detail: { days: adoption.withoutDetail.days, ...countsOf(adoption.withoutDetail) },
    by_day: adoption.days.map((day) => ({
      ...groupJsonOf('day', day),
      all_checks: day.allChecks,
      detailed: day.isDetailed,
    })),
    platforms: adoption.platforms.map((group) => groupJsonOf('platform', group)),
    channels: adoption.channels.map((group) => groupJsonOf('channel', group)),
  };
}

function groupJsonOf(noun: string, group: Group): object {
  return { [noun]: group.name, ...countsOf(group), percent: percentOf(group.share) };
}

function countsOf({ checks, offers, links }: Counts): Counts {
  return { checks, offers, links };
}

function percentOf(share: number | null): number | null {
  return share === null ? null : Math.round(share * 10_000) / 100;
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
