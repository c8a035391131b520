import { readFile } from 'node:fs/promises';
import type { BuildOutput } from '../../../src/build-output/build-output.ts';
import { readBuildOutput } from '../../../src/build-output/read-build-output.ts';
import { DEFAULT_CHANNEL } from '../../../src/domain/channel.ts';
import { AppError } from '../../../src/errors.ts';
import { type PublishResult, publishRelease } from '../../../src/operations/publish-release.ts';
import type { ChangeOptions } from '../arguments.ts';
import { openContext } from '../context.ts';
import { alignColumns, formatBytes, printJson, printWhenLive, staysPaused } from '../output.ts';
import { createProgress } from '../progress.ts';
import { print, type Terminal } from '../terminal.ts';

/** Of one language; a manifest holds at most 1 MiB of everything. */
const NOTES_BYTES_MAX = 64 * 1024;

interface PublishOptions extends ChangeOptions {
  readonly app?: string;
  readonly channel: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  readonly notesFile?: readonly string[];
  readonly requires?: string;
  readonly mandatoryFor?: string;
}

export async function publish(
  terminal: Terminal,
  version: string,
  paths: string[],
  options: PublishOptions,
): Promise<void> {
  const context = await openContext(terminal, { mayBeNew: true });
  const isNew = !(await context.hasStore());
  const build = await readBuildOutput({ paths, version });
  const progress = createProgress(terminal, options.json);
  const notes = options.notesFile === undefined ? undefined : await readNotes(options.notesFile);
  try {
    const result = await publishRelease(
      {
        ...context,
        onProgress: ({ phase, filename, bytesDone, bytesTotal }) =>
          progress.show(
            `${phase === 'hash' ? 'hashing' : 'uploading'} ${filename}`,
            bytesDone,
            bytesTotal,
            'bytes',
          ),
      },
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
        provenance: context.provenance,
      },
    );
    progress.stop();
    if (options.json) printJson(terminal, jsonOf(result, build));
    else
      printPublished(terminal, { ...result, place: context.place.text, isNewStore: isNew }, build);
  } finally {
    progress.stop();
  }
}

/** `notes.md`, or `de=notes.de.md` for one language. */
async function readNotes(files: readonly string[]): Promise<Record<string, string>> {
  const notes: Record<string, string> = {};
  for (const argument of files) {
    const match = /^([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)=(.+)$/s.exec(argument);
    const [locale, file] = match ? [match[1] ?? 'und', match[2] ?? ''] : ['und', argument];
    notes[locale] = await readText(file);
  }
  return notes;
}

async function readText(file: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new AppError('invalid_request', `The notes file ${file} ${why}.`, { cause });
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw refuse(`cannot be read: ${(error as Error).message}`, error);
  }
  if (bytes.length > NOTES_BYTES_MAX) {
    throw refuse(
      `has ${bytes.length} bytes; every client is sent them, so ${NOTES_BYTES_MAX} must do`,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse('is not UTF-8 text', error);
  }
}

function jsonOf(result: PublishResult, build: BuildOutput): object {
  return {
    app: result.application,
    version: result.version,
    channel: result.channel,
    status: result.status,
    catalog_revision: result.revision,
    manifest: result.manifest,
    changed: result.changed,
    created_channel: result.createdChannel && result.changed,
    artifacts: result.artifacts.map(({ artifact, uploaded }) => ({
      os: artifact.platform,
      arch: artifact.arch,
      format: artifact.format,
      filename: artifact.filename,
      size: artifact.size,
      sha256: artifact.sha256,
      sha512: artifact.sha512,
      uploaded,
    })),
    skipped: build.skipped,
  };
}

function printPublished(
  terminal: Terminal,
  result: PublishResult & { readonly place: string; readonly isNewStore: boolean },
  build: BuildOutput,
): void {
  const { application, version, channel, revision, place } = result;
  print(
    terminal,
    result.changed
      ? `Published ${application} ${version} to ${channel} in ${place} (catalog revision ${revision}).`
      : `Nothing to do: ${application} ${version} is ${result.status} on ${channel} in ${place} with these files (catalog revision ${revision}).`,
  );
  const rows = result.artifacts.map(({ artifact, uploaded }) => [
    artifact.platform,
    artifact.arch,
    artifact.format,
    artifact.filename,
    formatBytes(artifact.size),
    uploaded ? 'uploaded' : 'was there already',
  ]);
  for (const line of alignColumns(rows)) print(terminal, `  ${line}`);
  if (build.skipped.length > 0) {
    print(terminal, 'Skipped:');
    for (const line of alignColumns(build.skipped.map(({ path, reason }) => [path, reason]))) {
      print(terminal, `  ${line}`);
    }
  }
  if (result.isNewStore) print(terminal, `Created the store in ${place}.`);
  if (result.createdChannel && result.changed) {
    print(
      terminal,
      result.prereleaseChannel
        ? `Created the channel ${channel}, for pre-releases: its clients also get newer releases of ${DEFAULT_CHANNEL}.`
        : `Created the channel ${channel}.`,
    );
  }
  if (result.changed && result.status === 'paused') print(terminal, staysPaused(version, channel));
  if (result.changed) {
    printWhenLive(terminal, result);
  }
}
