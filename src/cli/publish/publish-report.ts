import { basename } from 'node:path';
import type { BuildOutput, SkippedFile } from '../../builds/build-output.ts';
import { NOT_KNOWN } from '../../builds/identify.ts';
import { waitsFor } from '../../catalog/reading/draft-text.ts';
import { FULLNESS_REMEDY, fullnessSentence } from '../../catalog/reading/fullness-text.ts';
import { targetNames } from '../../catalog/reading/list-drafts.ts';
import { counted, listed } from '../../core/counted.ts';
import { deltaBases, isDifferential, ZSYNC } from '../../domain/companion.ts';
import { findNativeBuild } from '../../domain/compatible-arches.ts';
import type { Artifact } from '../../domain/release.ts';
import type { Target } from '../../domain/target.ts';
import type { PublishResult } from '../../releases/publish/publish-request.ts';
import { appOption } from '../arguments.ts';
import { droppedSentence, mistypedChannel } from '../channels/channel-report.ts';
import type { Context } from '../context.ts';
import type { CommandConfig } from '../facts.ts';
import { printDifference } from '../forecast/difference-report.ts';
import { alignColumns, formatBytes, formatTime, printWhenLive, staysPaused } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';
import { draftJson, nextForDraft } from './draft-report.ts';
import {
  blockmapWarnings,
  bundleVersionWarnings,
  feedWarnings,
  latestJsonWarnings,
  platformsOf,
  repairSentences,
  repairWarnings,
  rezipNotes,
} from './file-warnings.ts';
import { leftBehindSentences } from './left-behind.ts';
import { shareSentences } from './rollout-report.ts';
import {
  edSignatureSentences,
  edSignaturesJson,
  signatureSentences,
  signaturesJson,
  signedJson,
  signedSentences,
  signedWarnings,
} from './signature-report.ts';

/** The output of `slipway publish`. */

const SKIPPED_NAMED_MAX = 4;

/** @param ignored sentences about options that had no effect */
export function reportJson(
  result: PublishResult,
  build: BuildOutput,
  ignored: readonly string[],
): object {
  return {
    app: result.application,
    version: result.version,
    channel: result.channel,
    status: result.status,
    rollout: result.rollout ?? null,
    draft: result.held === null ? null : draftJson(result.held),
    catalog_revision: result.revision,
    manifest: result.manifest,
    changed: result.changed,
    newer_version: result.newerVersion,
    ...(result.leftOut === null ? {} : { left_out: result.leftOut }),
    left_behind: result.leftBehind.map(({ platform, arch }) => ({ os: platform, arch })),
    warnings: [...ignored, ...warningsOf(result, build)],
    signatures: signaturesJson(result),
    sparkle_signatures: edSignaturesJson(result),
    repairs: result.repairs,
    deltas_not_made: result.deltaRemarks,
    rezip: result.rezipRemarks,
    dropped: result.dropped,
    created_channel: result.createdChannel && result.changed,
    display_name: result.displayName?.text ?? null,
    artifacts: result.artifacts.map(({ artifact, uploaded }) => ({
      os: artifact.platform,
      arch: artifact.arch,
      format: artifact.format,
      filename: artifact.filename,
      size: artifact.size,
      differential: isDifferential(artifact),
      deltas: deltaBases(artifact),
      sha256: artifact.sha256,
      sha512: artifact.sha512,
      uploaded,
    })),
    signed: signedJson(build),
    skipped: build.skipped.map(({ path, reason }) => ({ path, reason })),
  };
}

interface Printed extends PublishResult {
  readonly place: string;
  readonly isNewStore: boolean;
  /** The time by the store's clock. */
  readonly now: number;
  readonly config: Pick<CommandConfig, 'catalogPollMs' | 'defaultApplication'>;
  /** The targets that the command expects. */
  readonly expected: readonly Target[];
  /** Sentences about options that had no effect. */
  readonly ignored: readonly string[];
}

/** Prints the result of a publish. Warnings come last and apart, so that the publisher sees them. */
export async function printPublished(
  terminal: Terminal,
  context: Context,
  result: Printed,
  build: BuildOutput,
): Promise<void> {
  const { channel, place } = result;
  print(terminal, headline(result));
  for (const line of alignColumns(fileRows(result))) print(terminal, `  ${line}`);
  for (const sentence of [
    ...repairSentences(result),
    ...result.rezipRemarks,
    ...result.deltaRemarks,
  ]) {
    print(terminal, sentence);
  }
  for (const sentence of signedSentences(build)) print(terminal, sentence);
  const skipped = build.skipped.filter(({ isLoss }) => !isLoss);
  if (skipped.length > 0) print(terminal, skippedSentence(skipped));
  if (result.isNewStore) print(terminal, `Created the store in ${place}.`);
  if (result.displayName !== null) {
    const { text, source } = result.displayName;
    const app = appOption(result.application, result.config.defaultApplication);
    print(
      terminal,
      `Its display name is ${JSON.stringify(text)}, by ${source}. To change it: slipway apps set${app} --display-name NAME.`,
    );
  }
  if (result.createdChannel && result.changed) {
    print(
      terminal,
      result.inherits !== null
        ? `Created the channel ${channel} for pre-releases: its clients also get the releases of ${result.inherits}.`
        : `Created the channel ${channel}.`,
    );
    print(
      terminal,
      result.held === null
        ? `For its addresses, and the lines to configure updaters: slipway feeds${appOption(result.application, result.config.defaultApplication)} --channel ${channel}`
        : 'Clients see it when it offers its first release.',
    );
  }
  if (build.staged !== null) {
    print(
      terminal,
      `${build.staged.statedIn} states the stagingPercentage ${build.staged.percentage}. Slipway uses it only for a new release, and only when you do not give --rollout.`,
    );
  }
  for (const sentence of result.held === null ? offerSentences(result) : heldSentences(result)) {
    print(terminal, sentence);
  }
  const remarks = [...result.ignored, ...warningsOf(result, build)];
  for (const note of remarks.filter((each) => !isWarning(each))) print(terminal, note);
  const { defaultApplication } = result.config;
  for (const sentence of [
    ...signatureSentences(result, defaultApplication),
    ...edSignatureSentences(result, defaultApplication),
  ]) {
    print(terminal, sentence);
  }
  if (result.changed && result.held === null) printWhenLive(terminal, result, result.announced);
  await printDifference(terminal, context, result.application, result);
  const warnings = remarks.filter(isWarning);
  if (warnings.length > 0) print(terminal);
  for (const warning of warnings) print(terminal, warning);
}

const isWarning = (remark: string): boolean => remark.startsWith('Warning: ');

/** Names the files that may be packages first, because the publisher may have expected them in the release. */
function skippedSentence(skipped: readonly SkippedFile[]): string {
  const isUnknown = ({ reason }: SkippedFile) => reason.startsWith(NOT_KNOWN);
  const ordered = [...skipped.filter(isUnknown), ...skipped.filter((each) => !isUnknown(each))];
  const names = listed(
    ordered.map(({ path }) => basename(path)),
    SKIPPED_NAMED_MAX,
  );
  return `Skipped ${counted(skipped.length, 'path')} of the build: ${names}. The same command with --dry-run --json lists each with the reason.`;
}

function headline(result: Printed): string {
  const { application, version, channel, place, held, changed, artifacts } = result;
  const where = `in ${place} (catalog revision ${result.revision})`;
  if (held !== null) {
    const did = changed
      ? `Added ${counted(artifacts.length, 'file')} to`
      : 'Nothing to do: these files are in';
    return `${did} the draft ${version} of ${channel} ${where}; it ${waitsFor(held)}. Clients see nothing of it yet.`;
  }
  if (changed) return `Published ${application} ${version} to ${channel} ${where}.`;
  const files = artifacts.length === 0 ? '' : ' with these files';
  return `Nothing to do: ${application} ${version} is ${result.status} on ${channel} in ${place}${files} (catalog revision ${result.revision}).`;
}

/** The ways in which clients can download less than the whole file. */
function differencesOf(artifact: Artifact): readonly string[] {
  const bases = deltaBases(artifact);
  return [
    ...(isDifferential(artifact) ? ['differential'] : []),
    ...(bases.length === 0 ? [] : [`delta from ${bases.join(' and ')}`]),
    ...(artifact.companions.some(({ kind }) => kind === ZSYNC) ? ['zsync'] : []),
  ];
}

/** The files of this command; when the command opened a draft, all files that clients now get. */
function fileRows({ artifacts, release, changed }: Printed): readonly (readonly string[])[] {
  const row = (artifact: Artifact, state: string) => [
    artifact.platform,
    artifact.arch,
    artifact.format,
    artifact.filename,
    formatBytes(artifact.size),
    [state, ...differencesOf(artifact)].join(', '),
  ];
  if (artifacts.length === 0 && changed)
    return release.artifacts.map((each) => row(each, 'offered'));
  return artifacts.map(({ artifact, uploaded }) =>
    row(artifact, uploaded ? 'uploaded' : 'already stored'),
  );
}

function heldSentences(result: Printed): readonly string[] {
  return result.held === null ? [] : [nextForDraft(result.held)];
}

function offerSentences(result: Printed): readonly string[] {
  const { version, channel, release, expected } = result;
  const draft = result.before[channel]?.drafts?.find((each) => each.version === version);
  const missing = expected.filter((target) => !findNativeBuild(release.artifacts, target));
  return [
    ...(draft !== undefined && result.changed
      ? [
          `It was a draft since ${formatTime(draft.since)}, and has builds for ${platformsOf(release.artifacts)}.`,
        ]
      : []),
    ...(missing.length > 0
      ? [
          `It has no build for ${targetNames(missing)}. --expect holds back only a release that is not offered yet.`,
        ]
      : []),
    ...(result.changed && result.status === 'paused' ? [staysPaused(version, channel)] : []),
    ...shareSentences(result, result.now),
    ...(result.newerVersion === null
      ? []
      : [
          `${channel} also offers ${result.newerVersion}, which is newer. Clients that get ${result.newerVersion} are not offered ${version}.`,
        ]),
    ...leftBehindSentences({ ...result, builds: release.artifacts }),
    ...(result.dropped.length === 0 ? [] : [droppedSentence(channel, result.dropped)]),
  ];
}

/** The remarks about the files of this command only: each job prints the remarks about the files that it publishes. */
function warningsOf(result: PublishResult, build: BuildOutput): readonly string[] {
  const platforms = result.artifacts.map(({ artifact }) => artifact.platform);
  const { artifacts } = result.release;
  const own = artifacts.filter(({ platform }) => platforms.includes(platform));
  const release = { ...result.release, artifacts: platforms.length === 0 ? artifacts : own };
  const lost = build.skipped.filter(({ isLoss }) => isLoss);
  return [
    ...channelWarnings(result),
    ...leftOutWarnings(result),
    ...lost.map(({ path, reason }) => `Warning: ${basename(path)} is not published: ${reason}.`),
    ...(build.withoutFeed === undefined
      ? []
      : [
          `Warning: there is no latest*.yml beside ${basename(build.withoutFeed)}. electron-builder writes it when its configuration has "publish", and an application that was built without "publish" does not find its updates. "slipway feeds --updater electron" prints the lines; then build again.`,
        ]),
    ...feedWarnings(release),
    ...signedWarnings({ ...result, release }, build, result.earlier),
    ...bundleVersionWarnings(release, result.earlier),
    ...result.findings.map(({ text }) => `Warning: ${text}`),
    ...repairWarnings(result),
    ...blockmapWarnings(release, result.earlier),
    ...latestJsonWarnings(result),
    ...rezipNotes(result, build, result.earlier),
    ...result.earlier.problems.map((problem) => `Warning: ${problem}`),
    ...fullnessWarnings(result),
  ];
}

function channelWarnings({ channel, version, changed, held, before }: PublishResult) {
  const mistyped = changed ? mistypedChannel(channel, version, before) : undefined;
  if (mistyped === undefined) return [];
  const undo =
    held === null
      ? `slipway promote ${version} --to CHANNEL, and then slipway channels remove ${channel} --force`
      : `slipway retire ${version} --channel ${channel}, and publish again`;
  return [`Warning: ${mistyped} If that is wrong, run ${undo}.`];
}

/** An operator may have put files and statements into the draft, and no key must sign them unseen. */
function leftOutWarnings({ channel, version, leftOut }: PublishResult): readonly string[] {
  if (leftOut === null) return [];
  const { manifest, filenames } = leftOut;
  const files = filenames.length === 0 ? 'nothing' : filenames.join(', ');
  return [
    `Warning: no key of ${channel} made manifest ${manifest}, which the draft ${version} named. Its files and notes play no part here. Left out: ${files}. If they belong to the release, publish them with a key of ${channel}.`,
  ];
}

function fullnessWarnings({
  application,
  after,
  removedVersions,
}: PublishResult): readonly string[] {
  const sentence = fullnessSentence(application, after, removedVersions);
  return sentence === undefined ? [] : [`Warning: ${sentence} ${FULLNESS_REMEDY}`];
}
