import type { ChangeOptions } from '../../cli/arguments.ts';
import { requireConsent } from '../../cli/consent.ts';
import { type Context, openContext } from '../../cli/context.ts';
import { EXIT } from '../../cli/exit-code.ts';
import { differenceJson, printDifference } from '../../cli/forecast/difference-report.ts';
import { printJson } from '../../cli/output.ts';
import { createProgress, type Progress } from '../../cli/progress.ts';
import { statedRollout } from '../../cli/publish/rollout-report.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { counted } from '../../core/counted.ts';
import type { Arch } from '../../domain/platform.ts';
import type { PublishProgress } from '../../releases/files/hash-artifacts.ts';
import {
  foreseeUnserved,
  UNSERVED_REMEDY,
  unservedSentence,
} from '../../releases/forecast/foresee-unserved.ts';
import { offersReleases } from '../../releases/offer/channel-rules.ts';
import { type ImportDeps, importReleases } from './import-releases.ts';
import { hasRefused, importJson, importQuestion, printImported } from './report.ts';
import { readImportSource } from './sources/read-source.ts';
import { readSourceRelease } from './sources/read-source-release.ts';
import type { ImportSource, SourceKind } from './sources/source.ts';

interface ImportOptions extends ChangeOptions {
  readonly app?: string;
  readonly from?: SourceKind;
  readonly channel: string;
  readonly prereleaseChannel?: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  readonly arch?: Arch;
  readonly flavor?: string;
  readonly tagPrefix?: string;
}

export async function importHistory(
  terminal: Terminal,
  path: string,
  options: ImportOptions,
): Promise<number> {
  const context = await openContext(terminal, { mayBeNew: true });
  const isNewStore = !(await context.hasStore());
  if (terminal.session !== undefined) terminal.session.lacksStore = isNewStore && !options.create;
  const { from: kind, flavor, tagPrefix } = options;
  const source = await readImportSource({ path, kind, flavor, tagPrefix });
  const result = await runImport(terminal, context, source, options);
  if (options.json) {
    printJson(terminal, {
      ...importJson(source, result),
      ...(await differenceJson(terminal, context, result.application, result)),
    });
  } else {
    printImported(terminal, source, { ...result, isNewStore, context });
    await printDifference(terminal, context, result.application, result);
    if (terminal.session?.isDryRun !== true) {
      for (const each of foreseeUnserved(result, context.clock.now())) {
        print(terminal, `Warning: ${unservedSentence(each)} ${UNSERVED_REMEDY}`);
      }
    }
  }
  const hasFailed = hasRefused(source, result) || result.releases.length === 0;
  return hasFailed ? EXIT.failed : EXIT.done;
}

async function runImport(
  terminal: Terminal,
  context: Context,
  { releases }: ImportSource,
  options: ImportOptions,
) {
  const { channel, prereleaseChannel, create, allowPrerelease } = options;
  const application = options.app ?? context.config.defaultApplication;
  const { provenance } = context;
  const progress = createProgress(terminal, options.json);
  let finished = 0;
  const deps: ImportDeps = {
    ...context,
    ...context.rememberNewest(),
    // An import may make thousands of commits, and a check before each commit takes long. So the report warns once, at
    // the end.
    beforeCommit: undefined,
    onProgress: (step) => showLarge(progress, step),
    readRelease: (release) => readSourceRelease(release, options.arch),
    rolloutOf: ({ staged }) => statedRollout(staged),
    beforeImport: async (before, added) => {
      const reached = added.filter((each) => offersReleases(before, each.channel));
      if (reached.length > 0) await requireConsent(terminal, importQuestion(before, reached));
    },
    onImported: (_, done, total) => {
      finished = done;
      progress.show('importing releases', done, total);
    },
  };
  try {
    return await importReleases(deps, {
      application,
      releases,
      channel,
      prereleaseChannel,
      create,
      allowPrerelease,
      provenance,
    });
  } catch (error) {
    progress.stop();
    if (finished > 0 && !options.json) {
      const done = `${finished} of ${counted(releases.length, 'release')} ${finished === 1 ? 'was' : 'were'} done before the failure.`;
      print(terminal, `${done} Run the same command again: it continues.`);
    }
    throw error;
  } finally {
    progress.stop();
  }
}

/** In bytes. Only larger files get a progress bar, because an import may have thousands of small files. */
const LARGE_BYTES = 32 * 1024 * 1024;

function showLarge(progress: Progress, step: PublishProgress): void {
  const { phase, filename, bytesDone, bytesTotal } = step;
  if (bytesTotal < LARGE_BYTES) return;
  const label = `${phase === 'hash' ? 'hashing' : 'uploading'} ${filename}`;
  progress.show(label, bytesDone, bytesTotal, 'bytes');
}
