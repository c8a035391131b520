import { openContext } from '../../cli/context.ts';
import { firstLines, formatBytes, printJson } from '../../cli/output.ts';
import { shown } from '../../cli/place.ts';
import { createProgress } from '../../cli/progress.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { counted, listed } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import type { OpenService } from '../../server/opened-service.ts';
import { type PlaceName, parsePlaceName } from '../../store/open/place-name.ts';
import { type ExportResult, exportStatic } from './export-static.ts';
import { openTarget } from './open-target.ts';
import type { LeftOut } from './plan.ts';

interface ExportOptions {
  readonly app?: string;
  readonly publicUrl?: string;
  readonly aliases: boolean;
  readonly also?: readonly string[];
  readonly dryRun: boolean;
  readonly json: boolean;
}

export const exportFeedsWith =
  (loadService: () => Promise<OpenService>) =>
  (terminal: Terminal, target: string, options: ExportOptions): Promise<void> =>
    exportFeeds(withPublicUrl(terminal, options.publicUrl), target, options, loadService);

async function exportFeeds(
  terminal: Terminal,
  targetText: string,
  options: ExportOptions,
  loadService: () => Promise<OpenService>,
): Promise<void> {
  const name = parsePlaceName(targetText, 'target');
  const location = locationOf(name);
  // The service in this process must not write anything to the store, not even a count.
  const context = await openContext(terminal, {
    onlyReads: true,
    writesTo: location,
  });
  const { publicUrl } = context.config;
  if (publicUrl === undefined) {
    throw new AppError(
      'invalid_configuration',
      'PUBLIC_URL is not set, and documents contain absolute addresses. Set it, or add --public-url, to the address at which clients will find the export, such as https://updates.example.com.',
    );
  }
  const target = await openTarget(context, name, location);
  const progress = createProgress(terminal, options.json);
  const result = await exportStatic(
    {
      ...context,
      loadService,
      environment: terminal.environment(),
      target,
      onProgress: progress.show,
    },
    {
      publicUrl,
      application: options.app,
      isDryRun: options.dryRun,
      withAliases: options.aliases,
      also: options.also ?? [],
    },
  ).finally(progress.stop);
  const report = { ...result, publicUrl, location, place: context.place.text };
  if (options.json) printJson(terminal, exportJson(report));
  else printExport(terminal, report);
}

/**
 * Returns the terminal with this PUBLIC_URL in its environment, so the same checks apply to the option and to the
 * variable.
 */
function withPublicUrl(terminal: Terminal, url: string | undefined): Terminal {
  if (url === undefined) return terminal;
  return { ...terminal, environment: () => ({ ...terminal.environment(), PUBLIC_URL: url }) };
}

function locationOf(target: PlaceName): string {
  if (target.kind === 'directory') return shown(target.directory);
  return `s3://${target.bucket}${target.prefix === '' ? '' : `/${target.prefix}`}`;
}

interface ExportReport extends ExportResult {
  readonly publicUrl: string;
  /** The target. */
  readonly location: string;
  /** The store. */
  readonly place: string;
}

function printExport(terminal: Terminal, report: ExportReport): void {
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
    for (const line of firstLines(removed)) print(terminal, `  ${line}`);
  }
  if (leftOut.length > 0) {
    print(terminal);
    print(terminal, 'Left out of the export:');
    const lines = leftOut.map((each) => `  ${lineOf(each)}`);
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

/** The rules for a static server; the page in the documentation has the reasons. */
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

function exportJson(report: ExportReport): object {
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
      reason,
      app: application,
      channel,
      dialect,
      versions,
      detail,
    })),
    server_rules: SERVER_RULES,
  };
}
