import { readFile } from 'node:fs/promises';
import { readBuildOutput } from '../../../src/build-output/read-build-output.ts';
import type { Target } from '../../../src/domain/target.ts';
import { AppError } from '../../../src/errors.ts';
import { publishRelease } from '../../../src/operations/publish-release.ts';
import type { PublishProgress } from '../../../src/operations/upload-artifacts.ts';
import type { ChangeOptions } from '../arguments.ts';
import { runWithConsent } from '../consent.ts';
import { openContext } from '../context.ts';
import { printJson } from '../output.ts';
import { createProgress, type Progress } from '../progress.ts';
import { printPublished, reportJson } from '../publish-report.ts';
import { requestedRollout, statedRollout } from '../rollout-report.ts';
import type { Terminal } from '../terminal.ts';

/** For one locale. A whole manifest has at most 1 MiB. */
const NOTES_BYTES_MAX = 64 * 1024;

interface PublishOptions extends ChangeOptions {
  readonly app?: string;
  readonly channel: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  readonly allowStranded: boolean;
  readonly notesFile?: readonly string[];
  readonly requires?: string;
  readonly mandatoryFor?: string;
  readonly endNative?: readonly Target[];
  readonly rollout?: string;
  readonly freezeWindow?: readonly string[];
}

export async function publish(
  terminal: Terminal,
  version: string,
  paths: string[],
  options: PublishOptions,
): Promise<void> {
  for (const argument of paths) refuseMistyped(argument);
  const context = await openContext(terminal, { mayBeNew: true });
  const isNew = !(await context.hasStore());
  if (terminal.session !== undefined) terminal.session.lacksStore = isNew && !options.create;
  const build = await readBuildOutput({ paths, version });
  const progress = createProgress(terminal, options.json);
  const notes = options.notesFile === undefined ? undefined : await readNotes(options.notesFile);
  try {
    const result = await runWithConsent(
      terminal,
      { allowStranded: options.allowStranded },
      (overruled) =>
        publishRelease(
          { ...context, onProgress: (step) => showStep(progress, step) },
          {
            application: options.app ?? context.config.defaultApplication,
            version,
            channel: options.channel,
            create: options.create,
            allowPrerelease: options.allowPrerelease,
            artifacts: build.artifacts,
            notes,
            requires: options.requires,
            mandatoryFor: options.mandatoryFor,
            endsNative: options.endNative ?? [],
            provenance: context.provenance,
            rollout: requestedRollout(options) ?? statedRollout(build.staged),
            ...overruled,
          },
        ).finally(progress.stop),
    );
    progress.stop();
    if (options.json) printJson(terminal, reportJson(result, build));
    else
      printPublished(
        terminal,
        {
          ...result,
          place: context.place.text,
          isNewStore: isNew,
          config: context.config,
          now: context.clock.now(),
        },
        build,
      );
  } finally {
    progress.stop();
  }
}

/** @throws AppError `invalid_request` for an argument that the shell split, or that is not valid UTF-8 */
function refuseMistyped(argument: string): void {
  if (/^(os|arch|format|name|minimum_os_version)=/.test(argument)) {
    const why = `${JSON.stringify(argument)} belongs to the file before it. Write FILE,os=…,arch=… without spaces.`;
    throw new AppError('invalid_request', why);
  }
  // Node decodes arguments as UTF-8 and replaces invalid bytes by U+FFFD.
  if (argument.includes('\ufffd')) {
    const why = `The name ${JSON.stringify(argument)} is not valid UTF-8, so the file cannot be opened. Rename it.`;
    throw new AppError('invalid_request', why);
  }
}

function showStep(progress: Progress, { phase, filename, bytesDone, bytesTotal }: PublishProgress) {
  const label = `${phase === 'hash' ? 'hashing' : 'uploading'} ${filename}`;
  progress.show(label, bytesDone, bytesTotal, 'bytes');
}

/** Reads `notes.md`, and `de=notes.de.md` for one locale. */
async function readNotes(files: readonly string[]): Promise<Record<string, string>> {
  const notes: Record<string, string> = {};
  for (const argument of files) {
    const match = /^([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)=(.+)$/s.exec(argument);
    if (match === null) refuseUnderscore(argument);
    const [locale, file] = match ? [match[1] ?? 'und', match[2] ?? ''] : ['und', argument];
    // Language tags are case-insensitive (RFC 5646 section 2.1.1).
    if (Object.keys(notes).some((other) => other.toLowerCase() === locale.toLowerCase())) {
      const what = locale === 'und' ? 'without a locale' : `for ${locale}`;
      throw new AppError('invalid_request', `--notes-file ${what} is given twice; give it once.`);
    }
    notes[locale] = await readText(file);
  }
  return notes;
}

/** @throws AppError `invalid_request` for `de_DE=notes.md`, which would be read as a file name */
function refuseUnderscore(argument: string): void {
  const [, locale, file] = /^([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})+)=(.+)$/s.exec(argument) ?? [];
  if (locale === undefined) return;
  const right = locale.replaceAll('_', '-');
  const why = `--notes-file ${argument}: write the locale with a hyphen, ${right}=${file}.`;
  throw new AppError('invalid_request', why);
}

async function readText(file: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new AppError('invalid_request', `The notes file ${file} ${why}.`, { cause });
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw refuse('cannot be read', error);
  }
  if (bytes.length > NOTES_BYTES_MAX) {
    throw refuse(
      `has ${bytes.length} bytes; at most ${NOTES_BYTES_MAX} are allowed, because every client downloads them`,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse('is not UTF-8 text', error);
  }
}
