import { openContext } from '../../cli/context.ts';
import { printJson } from '../../cli/output.ts';
import { shown } from '../../cli/place.ts';
import { createProgress } from '../../cli/progress.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import type { OpenService } from '../../server/opened-service.ts';
import { type PlaceName, parsePlaceName } from '../../store/open/place-name.ts';
import { exportStatic } from './export-static.ts';
import { openTarget } from './open-target.ts';
import { exportJson, printExport } from './report.ts';

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
  // The service in this process must not write into the store, not even a count.
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

/** The terminal with another PUBLIC_URL in its environment, so that the same checks apply to it. */
function withPublicUrl(terminal: Terminal, url: string | undefined): Terminal {
  if (url === undefined) return terminal;
  return { ...terminal, environment: () => ({ ...terminal.environment(), PUBLIC_URL: url }) };
}

function locationOf(target: PlaceName): string {
  if (target.kind === 'directory') return shown(target.directory);
  return `s3://${target.bucket}${target.prefix === '' ? '' : `/${target.prefix}`}`;
}
