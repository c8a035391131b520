import type { RevisionJson } from '../../catalog/documents/revision-document.ts';
import { readCatalog } from '../../catalog/reading/find-revision.ts';
import { offeredShare } from '../../catalog/reading/rollout-text.ts';
import { unknownVersion } from '../../catalog/reading/unknown-release.ts';
import { listedVersions, listVersion, requireChannel } from '../../releases/list/list-version.ts';
import {
  describeAdoption,
  type Group,
  periodOf,
  summarizeUsage,
  type UsageSummary,
} from '../../usage/adoption.ts';
import { type Counts, NO_DOWNLOADS, type Row } from '../../usage/counts.ts';
import { knownDifferential } from '../../usage/download-shares.ts';
import { type ReadUsage, readUsage } from '../../usage/read-usage.ts';
import { type Context, openContext } from '../context.ts';
import { printJson } from '../output.ts';
import { createProgress } from '../progress.ts';
import type { Terminal } from '../terminal.ts';
import { readListedFiles } from './downloads-report.ts';
import {
  printAdoption,
  printNoCounts,
  printSources,
  printSummary,
  type StatsReport,
  type VersionReport,
} from './stats-report.ts';

interface StatsOptions {
  readonly app?: string;
  readonly days: number;
  readonly channel?: string;
  readonly json: boolean;
}

export async function stats(
  terminal: Terminal,
  version: string | undefined,
  options: StatsOptions,
): Promise<void> {
  // The service stores its counts beside accounts and messages.
  const context = await openContext(terminal, { subject: 'private data' });
  const { channel, days } = options;
  const application = options.app ?? context.config.defaultApplication;
  const { signed } = await readCatalog(context, application);
  const usage = await readCounts(terminal, context, options);
  const query = { application, channel, ...periodOf(context.clock.now(), days) };
  const counted = usage.rows.filter((row) => row.application === application);
  // A channel that was removed can still have counts.
  if (channel !== undefined && !counted.some((row) => row.channel === channel)) {
    requireChannel(application, signed, channel);
  }
  const report = { context, query, days, usage, revision: signed.revision };
  const answer =
    version === undefined
      ? ofAllVersions(report, counted, signed)
      : await ofVersion(report, counted, signed, version);
  if (options.json) {
    printJson(terminal, { ...factsJsonOf(report), ...answer.json });
    return;
  }
  if (counted.length === 0) printNoCounts(terminal, report);
  else answer.print(terminal);
  printSources(terminal, report);
}

interface Answer {
  readonly json: object;
  readonly print: (terminal: Terminal) => void;
}

function ofAllVersions(report: StatsReport, rows: readonly Row[], revision: RevisionJson): Answer {
  const { query } = report;
  const summary = summarizeUsage(rows, query, listedVersions(revision, query.channel));
  return {
    json: summaryJsonOf(summary),
    print: (terminal) => printSummary(terminal, report, summary),
  };
}

/** @throws AppError `unknown_version` */
async function ofVersion(
  report: StatsReport,
  rows: readonly Row[],
  revision: RevisionJson,
  version: string,
): Promise<Answer> {
  const { query, context } = report;
  const release = listVersion(revision, version);
  const isListed = release.listed.length + release.retiredFrom.length > 0;
  // A version that only a removed channel listed can still have counts.
  if (!isListed && !rows.some((row) => row.version === version)) {
    throw unknownVersion(query.application, version, revision.channels);
  }
  const adoption = describeAdoption(rows, { ...query, version });
  const files = await readListedFiles(context, query.application, release);
  const shown = { version, release, adoption, files };
  return {
    json: adoptionJsonOf(shown, context.clock.now()),
    print: (terminal) => printAdoption(terminal, report, shown),
  };
}

async function readCounts(
  terminal: Terminal,
  { privateStore: store, clock }: Context,
  { json }: StatsOptions,
): Promise<ReadUsage> {
  const progress = createProgress(terminal, json);
  try {
    return await readUsage({
      store,
      clock,
      // No log is needed: the command itself prints the documents that were left out.
      log: { info: () => {}, warn: () => {}, error: () => {} },
      onProgress: (done, of) => progress.show('counters read', done, of),
    });
  } finally {
    progress.stop();
  }
}

function factsJsonOf({ query, days, usage, revision }: StatsReport): object {
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

function summaryJsonOf(summary: UsageSummary): object {
  return {
    ...countsOf(summary.whole),
    without_detail: { days: summary.withoutDetail.days, ...countsOf(summary.withoutDetail) },
    versions: summary.versions.map((group) => groupJsonOf('version', group)),
    platforms: summary.platforms.map((group) => groupJsonOf('platform', group)),
    channels: summary.channels.map((group) => groupJsonOf('channel', group)),
  };
}

function adoptionJsonOf({ version, release, adoption }: VersionReport, now: number): object {
  return {
    version,
    offered: release.listed.map(({ channel, offer }) => ({
      channel,
      status: offer.status,
      reason: offer.reason,
      released_at: offer.released_at,
      offered_to: offeredShare(offer, now),
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

function countsOf({ checks, offers, links, downloads = NO_DOWNLOADS }: Counts): Counts {
  const { whole, resumed, fallback, not_known = 0 } = downloads;
  const differential = knownDifferential(downloads);
  const stated = { whole, differential, resumed, fallback, not_known };
  return { checks, offers, links, downloads: stated };
}

function percentOf(share: number | null): number | null {
  return share === null ? null : Math.round(share * 10_000) / 100;
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
