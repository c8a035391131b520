import { offeredTo, plannedShares } from '../../catalog/reading/rollout-text.ts';
import { counted } from '../../core/counted.ts';
import type { Release } from '../../domain/release.ts';
import { percentText } from '../../releases/forecast/clients-text.ts';
import type { ListedVersion } from '../../releases/list/list-version.ts';
import type {
  AdoptionDay,
  AdoptionQuery,
  Group,
  UsageSummary,
  VersionAdoption,
} from '../../usage/adoption.ts';
import { DETAIL_DAYS } from '../../usage/condense.ts';
import { type Counts, dayOf, OTHER, UNSTATED } from '../../usage/counts.ts';
import type { ReadUsage } from '../../usage/read-usage.ts';
import { barsFor } from '../bars.ts';
import type { Context } from '../context.ts';
import { formatTime, printTable } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';
import { downloadLines } from './downloads-report.ts';

/** The text that `slipway stats` prints without `--json`. */

export interface StatsReport {
  readonly context: Context;
  readonly query: AdoptionQuery;
  readonly days: number;
  readonly usage: ReadUsage;
  /** The number of the catalog revision. */
  readonly revision: number;
}

export interface VersionReport {
  readonly version: string;
  readonly release: ListedVersion;
  readonly adoption: VersionAdoption;
  readonly files: Pick<Release, 'artifacts'>;
}

const BAR_WIDTH = 20;
/**
 * The number of newest versions that have their own rows. Every version with at least `SHARE_SHOWN_MIN` of the checks
 * also has its own row.
 */
const NEWEST_SHOWN = 10;
const SHARE_SHOWN_MIN = 0.01;
const COLUMNS = ['checks', 'share', 'offers', 'links'];

export function printNoCounts(terminal: Terminal, { context, query, usage }: StatsReport): void {
  const where = `${query.application} in ${context.place.text}`;
  const unreadable = `No counts of ${where} can be read.`;
  const none = `No counts of ${where} yet: a running service stores them every ${flushInterval(context)} (COUNTERS_FLUSH_INTERVAL), and when it stops. Start the service on this store, and let a client check for an update.`;
  print(terminal, usage.unreadable.length > 0 ? unreadable : none);
}

export function printSummary(
  terminal: Terminal,
  report: StatsReport,
  { whole, versions, platforms, channels, withoutDetail }: UsageSummary,
): void {
  const { context, query } = report;
  print(terminal, `Use of ${query.application} in ${context.place.text}, ${periodText(report)}:`);
  print(terminal, `${countsText(whole)}.`);
  printGroups(terminal, 'version', foldVersions(versions));
  print(terminal);
  printGroups(terminal, 'platform', platforms);
  print(terminal);
  printGroups(terminal, 'channel', channels);
  print(terminal);
  print(
    terminal,
    'Checks: requests by clients that run the version; share: of all checks. Offers: answers with the version. Links: links to its files.',
  );
  printWithoutDetail(terminal, withoutDetail);
}

export function printAdoption(
  terminal: Terminal,
  report: StatsReport,
  { version, release, adoption, files }: VersionReport,
): void {
  const { context, query, usage } = report;
  print(
    terminal,
    `Adoption of ${query.application} ${version} in ${context.place.text}, ${periodText(report)}:`,
  );
  const { own, whole } = adoption;
  const share =
    own.share === null ? '' : `: ${percentText(own.share)} of all ${whole.checks} checks`;
  print(terminal, `${countsText(own)}${share}.`);
  printRelease(terminal, release, context.clock.now());
  for (const line of downloadLines(version, adoption, files)) print(terminal, line);
  print(terminal);
  printDays(terminal, adoption.days.filter(hasBegun(usage)));
  print(terminal);
  printGroups(terminal, 'platform', adoption.platforms);
  print(terminal);
  printGroups(terminal, 'channel', adoption.channels);
  print(terminal);
  print(
    terminal,
    'Checks: requests by clients that run this version; share: the fraction of the checks that all versions made on the same day, on the same platform or for the same channel. Offers: answers with it. Links: links to its files.',
  );
  printWithoutDetail(terminal, adoption.withoutDetail);
}

/** Prints the time that the counts cover, and the documents that the command could not read. */
export function printSources(terminal: Terminal, { context, usage }: StatsReport): void {
  const { countedSince, newestAt, unreadable } = usage;
  if (countedSince !== undefined && newestAt !== undefined) {
    print(
      terminal,
      `Counted since ${timeText(countedSince)}; the newest counts were stored at ${timeText(newestAt)}. Services store their counts every ${flushInterval(context)}: those of the last minutes may not be included.`,
    );
  }
  for (const { key, problem, reason } of unreadable) {
    const todo =
      problem === 'newer'
        ? 'A newer Slipway wrote it: use that release of the command.'
        : 'Services go on without it.';
    const why = `${key} is left out, so counts may be missing: ${reason} ${todo}`;
    print(terminal, `\n${why}`);
  }
}

function flushInterval({ config }: Context): string {
  return counted(config.countersFlushMs / 1000, 'second');
}

function countsText({ checks, offers, links }: Counts): string {
  return `${counted(checks, 'check')}, ${counted(offers, 'offer')}, ${counted(links, 'link')}`;
}

function periodText({ query, days }: StatsReport): string {
  const channel = query.channel === undefined ? '' : `channel ${query.channel}, `;
  return days === 1
    ? `${channel}${query.to} (UTC) so far`
    : `${channel}${query.from} to ${query.to} (UTC days; the last one is not over)`;
}

function timeText(ms: number): string {
  return formatTime(new Date(ms).toISOString());
}

/** False for the days before the first count: their rows would all be empty. */
function hasBegun({ countedSince }: ReadUsage): (day: AdoptionDay) => boolean {
  return ({ name }) => countedSince === undefined || name >= dayOf(countedSince);
}

/** Prints the channels that offer the version now. */
function printRelease(
  terminal: Terminal,
  { listed, retiredFrom }: ListedVersion,
  now: number,
): void {
  if (listed.length > 0) {
    printTable(
      terminal,
      ['channel', 'status', 'published', 'offered to', 'planned', 'reason'],
      listed.map(({ channel, offer }) => [
        channel,
        offer.status,
        formatTime(offer.released_at),
        offeredTo(offer, now),
        offer.status === 'active' ? plannedShares(offer.rollout, now) : '',
        offer.reason ?? '',
      ]),
    );
  }
  if (retiredFrom.length > 0) print(terminal, `Retired from ${retiredFrom.join(', ')}.`);
  else if (listed.length === 0) print(terminal, 'No channel lists it now.');
}

function printDays(terminal: Terminal, days: readonly AdoptionDay[]): void {
  const rows = days.map((day) =>
    day.isDetailed
      ? groupCells(terminal, day.name, day)
      : [day.name, '', 'versions not kept', '', ''],
  );
  printCounts(terminal, 'day', rows);
}

function printGroups(terminal: Terminal, noun: string, groups: readonly Group[]): void {
  const rows = groups.map((group) => groupCells(terminal, nameText(noun, group.name), group));
  if (rows.length === 0) rows.push([`no ${noun}`, '0', '', '0', '0']);
  printCounts(terminal, noun, rows);
}

function nameText(noun: string, name: string): string {
  if (name === OTHER) return `other ${noun}s`;
  return name === UNSTATED ? 'not stated' : name;
}

function groupCells(terminal: Terminal, name: string, group: Group): readonly string[] {
  const { share } = group;
  const percent = share === null ? '' : percentText(share).padStart(6);
  const bar = barsFor(terminal)(share ?? 0, BAR_WIDTH);
  const counts = [group.checks, group.offers, group.links].map(String);
  const [checks = '', offers = '', links = ''] = counts;
  return [name, checks, `${percent}  ${bar}`.trimEnd(), offers, links];
}

/** Prints a table whose numbers are aligned on the right. */
function printCounts(terminal: Terminal, noun: string, rows: readonly (readonly string[])[]): void {
  const isNumber = (column: number): boolean => COLUMNS[column - 1] !== 'share' && column > 0;
  const widths = [noun, ...COLUMNS].map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  printTable(
    terminal,
    [noun, ...COLUMNS],
    rows.map((row) =>
      row.map((cell, column) =>
        isNumber(column) ? (cell || '-').padStart(widths[column] ?? 0) : cell,
      ),
    ),
  );
}

/** The newest versions, the versions that many clients run, and one row for all other versions. */
function foldVersions(versions: readonly Group[]): readonly Group[] {
  const isShown = ({ name, share }: Group, index: number): boolean =>
    index < NEWEST_SHOWN || (share ?? 0) >= SHARE_SHOWN_MIN || name === OTHER || name === UNSTATED;
  const rest = versions.filter((group, index) => !isShown(group, index));
  if (rest.length < 2) return versions;
  const folded = rest.reduce((sum, { checks, offers, links, share }) => ({
    name: `${rest.length} older versions below 1% each ("--json" lists them)`,
    checks: sum.checks + checks,
    offers: sum.offers + offers,
    links: sum.links + links,
    share: (sum.share ?? 0) + (share ?? 0),
  }));
  const shown = versions.filter(isShown);
  const named = shown.filter(({ name }) => name !== OTHER && name !== UNSTATED);
  return [...named, folded, ...shown.slice(named.length)];
}

function printWithoutDetail(terminal: Terminal, lost: UsageSummary['withoutDetail']): void {
  if (lost.days === 0) return;
  print(
    terminal,
    `Not included: ${countsText(lost)} of ${counted(lost.days, 'day')} on which versions, platforms and channels were not kept. Services keep them for ${DETAIL_DAYS} days, and for fewer when there are very many.`,
  );
}
