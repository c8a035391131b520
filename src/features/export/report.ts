import { firstLines, formatBytes, printableText } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { counted, listed } from '../../core/counted.ts';
import type { ExportResult } from './export-static.ts';
import type { LeftOut } from './plan.ts';

/** What `slipway export` prints. */

interface ExportReport extends ExportResult {
  readonly publicUrl: string;
  /** The target. */
  readonly location: string;
  /** The store. */
  readonly place: string;
}

export function printExport(terminal: Terminal, report: ExportReport): void {
  const { applications, location, place, publicUrl, addresses, removed } = report;
  const { documents, files, bytes, unchanged, leftOut } = report;
  const total = `${counted(addresses.documents, 'document')} and ${counted(addresses.files, 'file address', 'file addresses')}`;
  print(terminal, `${applications.join(', ')} from ${place} in ${location}: ${total}.`);
  print(
    terminal,
    `Written: ${counted(documents, 'document')}, ${counted(files, 'file address', 'file addresses')} (${formatBytes(bytes)}). Unchanged: ${unchanged}.`,
  );
  if (removed.length > 0) {
    print(terminal, `Removed, because they no longer belong to the export: ${removed.length}.`);
    for (const line of firstLines(removed)) print(terminal, printableText(`  ${line}`));
  }
  if (leftOut.length > 0) {
    print(terminal);
    print(terminal, 'Left out of the export:');
    const lines = leftOut.map((each) => printableText(`  ${lineOf(each)}`));
    for (const line of firstLines(lines)) print(terminal, line);
  }
  print(terminal);
  print(terminal, `Serve ${location} at ${publicUrl}/. The server must:`);
  for (const rule of SERVER_RULES) print(terminal, `  - ${rule}`);
  print(
    terminal,
    "docs/operations/export.md in Slipway's repository has an example for nginx, and what clients notice.",
  );
}

/** What a static server is told; the page in the documentation has the reasons. */
const SERVER_RULES: readonly string[] = [
  'answer paths as they are, without adding or removing .html, and ignore queries',
  'answer a missing file with 404, and never with a page for all addresses or with the list of a folder',
  'let caches keep documents for at most a minute, and files for ever',
  'answer requests for ranges of files; when it answers one range at a time only, set useMultipleRangeRequest to false in electron-updater, which otherwise downloads whole files',
  'not compress files or change them in any other way',
];

const VERSIONS_MAX = 5;

function lineOf({ application, channel, dialect, versions, detail }: LeftOut): string {
  const place = [application, channel, dialect].filter((part) => part !== null).join('/');
  const list = listed(versions, VERSIONS_MAX);
  return `${place}${list === '' ? '' : ` ${list}`}: ${detail}`;
}

export function exportJson(report: ExportReport): object {
  const { applications, location, publicUrl, addresses, removed } = report;
  const { documents, files, bytes, unchanged, leftOut } = report;
  return {
    target: location,
    public_url: publicUrl,
    apps: applications,
    addresses,
    written: { documents, files, bytes },
    unchanged,
    removed,
    left_out: leftOut.map(({ reason, application, channel, dialect, versions, detail }) => ({
      ...{ reason, app: application, channel, dialect, versions, detail },
    })),
    server_rules: SERVER_RULES,
  };
}
