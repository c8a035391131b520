import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { BuildOutput } from '../../src/build-output/build-output.ts';
import { readBuildOutput } from '../../src/build-output/read-build-output.ts';
import { DEFAULT_CHANNEL, parseApplicationName } from '../../src/domain/channel.ts';
import { parseVersion } from '../../src/domain/version.ts';
import { AppError } from '../../src/errors.ts';
import { changeStatus, type StatusVerb } from '../../src/operations/change-status.ts';
import { promoteRelease } from '../../src/operations/promote-release.ts';
import { type PublishResult, publishRelease } from '../../src/operations/publish-release.ts';
import { openContext } from './context.ts';
import { alignColumns, formatBytes, printJson } from './output.ts';
import { createProgress } from './progress.ts';

/** Of one language; a manifest holds at most 1 MiB of everything. */
const NOTES_BYTES_MAX = 64 * 1024;

interface PublishOptions {
  readonly app?: string;
  readonly channel: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  readonly notesFile?: readonly string[];
  readonly requires?: string;
  readonly mandatoryFor?: string;
  readonly json: boolean;
}

export function addPublishCommands(program: Command): void {
  program
    .command('publish')
    .argument('<version>', 'semantic version, e.g. 1.4.0 or 2.0.0-beta.1')
    .argument('<paths...>', 'build directories, files, or FILE,os=…,arch=…,format=…,name=…')
    .summary('publish build output as a release, or add it to one')
    .description(
      'Publishes the files of a build as a release and offers it on a channel. Several machines may publish different platforms of one version, at once or one after the other. The same files again change nothing.',
    )
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--channel <name>', 'channel', DEFAULT_CHANNEL)
    .option('--create', 'create the application or channel when it is new', false)
    .option('--allow-prerelease', 'allow a pre-release on the stable channel', false)
    .option(
      '--notes-file <[locale=]file>',
      'release notes in Markdown; once for each language',
      (file: string, files: readonly string[] = []) => [...files, file],
    )
    .option('--requires <range>', 'versions that may update straight to this one')
    .option('--mandatory-for <range>', 'versions that must update')
    .option('--json', 'print JSON', false)
    .action(publish);
  program
    .command('promote')
    .argument('<version>')
    .summary('offer a release on another channel')
    .requiredOption('--to <channel>', 'the channel to offer it on')
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--create', 'create the channel when it is new', false)
    .option('--allow-prerelease', 'allow a pre-release on the stable channel', false)
    .option('--json', 'print JSON', false)
    .action(promote);
  addStatusCommand(program, 'pause', 'stop offering a release for now; nobody is moved off it');
  addStatusCommand(program, 'resume', 'offer a paused release again');
  addStatusCommand(program, 'yank', 'withdraw a bad release for good; who runs it moves forward');
  addStatusCommand(program, 'retire', 'list a release no longer');
}

async function publish(version: string, paths: string[], options: PublishOptions): Promise<void> {
  parseVersion(version);
  const context = await openContext();
  const build = await readBuildOutput({ paths, version });
  const progress = createProgress(options.json);
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
    if (options.json) printJson(jsonOf(result, build));
    else printPublished(result, build);
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

function printPublished(result: PublishResult, build: BuildOutput): void {
  const { application, version, channel, revision } = result;
  console.log(
    result.changed
      ? `Published ${application} ${version} to ${channel} (catalog revision ${revision}).`
      : `Nothing to do: ${application} ${version} is on ${channel} with these files (catalog revision ${revision}).`,
  );
  const rows = result.artifacts.map(({ artifact, uploaded }) => [
    artifact.platform,
    artifact.arch,
    artifact.format,
    artifact.filename,
    formatBytes(artifact.size),
    uploaded ? 'uploaded' : 'was there already',
  ]);
  for (const line of alignColumns(rows)) console.log(`  ${line}`);
  if (build.skipped.length > 0) {
    console.log('Skipped:');
    for (const line of alignColumns(build.skipped.map(({ path, reason }) => [path, reason]))) {
      console.log(`  ${line}`);
    }
  }
  if (result.createdChannel && result.changed) {
    console.log(
      result.prereleaseChannel
        ? `Created the channel ${channel}, for pre-releases: its clients also get newer releases of ${DEFAULT_CHANNEL}.`
        : `Created the channel ${channel}.`,
    );
  }
  if (result.changed) {
    console.log(
      'Running services answer with it after two poll intervals (4 s unless configured).',
    );
  }
}

async function promote(
  version: string,
  options: { app?: string; to: string; create: boolean; allowPrerelease: boolean; json: boolean },
): Promise<void> {
  const context = await openContext();
  const application = options.app ?? context.config.defaultApplication;
  const { to, create, allowPrerelease } = options;
  const { channel, revision, changed } = await promoteRelease(context, {
    application,
    version,
    to,
    create,
    allowPrerelease,
  });
  if (options.json) {
    printJson({ app: application, version, channel, catalog_revision: revision, changed });
  } else if (changed) {
    console.log(`Promoted ${application} ${version} to ${channel} (catalog revision ${revision}).`);
  } else {
    console.log(
      `Nothing to do: ${application} ${version} is on ${channel} (catalog revision ${revision}).`,
    );
  }
}

const PARTICIPLES: Readonly<Record<StatusVerb, string>> = {
  pause: 'Paused',
  resume: 'Resumed',
  yank: 'Yanked',
  retire: 'Retired',
};

function addStatusCommand(program: Command, verb: StatusVerb, summary: string): void {
  program
    .command(verb)
    .argument('<version>')
    .summary(summary)
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--channel <name>', 'only on this channel (default: wherever it is listed)')
    .option('--reason <text>', 'for the history')
    .option('--json', 'print JSON', false)
    .action(
      async (
        version: string,
        options: { app?: string; channel?: string; reason?: string; json: boolean },
      ) => {
        const context = await openContext();
        const application = options.app ?? context.config.defaultApplication;
        const { channel, reason = null } = options;
        const result = await changeStatus(context, verb, { application, version, channel, reason });
        const { channels, revision, changed } = result;
        if (options.json) {
          printJson({ app: application, version, channels, catalog_revision: revision, changed });
          return;
        }
        const where = `${application} ${version} on ${channels.join(', ')} (catalog revision ${revision})`;
        console.log(
          changed
            ? `${PARTICIPLES[verb]} ${where}.`
            : `Nothing to do: ${where} is ${PARTICIPLES[verb].toLowerCase()} already.`,
        );
      },
    );
}
