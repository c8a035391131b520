import type { BuildOutput } from '../../builds/build-output.ts';
import { readBuildOutput } from '../../builds/read-build-output.ts';
import { optionOf } from '../../catalog/reading/draft-text.ts';
import { EVERY_CLIENT, presentShare } from '../../catalog/reading/rollout-text.ts';
import { removeLeftDirectories } from '../../core/directory-owner.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { parseChannelName } from '../../domain/channel.ts';
import { parseMinisignKey } from '../../domain/minisign.ts';
import { MINISIGN, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { TrustedKey } from '../../domain/signing-facts.ts';
import { parseSparkleKey } from '../../domain/sparkle-key.ts';
import type { Target } from '../../domain/target.ts';
import type { PublishProgress } from '../../releases/files/hash-artifacts.ts';
import type { ChannelStates } from '../../releases/forecast/compare-channels.ts';
import { offersReleases } from '../../releases/offer/channel-rules.ts';
import type { ProductName } from '../../releases/publish/display-name.ts';
import { openDraft } from '../../releases/publish/open-draft.ts';
import { publishRelease } from '../../releases/publish/publish-release.ts';
import type { PublishRequest, PublishResult } from '../../releases/publish/publish-request.ts';
import { appOption, type ChangeOptions } from '../arguments.ts';
import { mistypedChannel } from '../channels/channel-report.ts';
import { askAboutVisitors, requireConsent, runWithConsent } from '../consent.ts';
import { type Context, openContext } from '../context.ts';
import { differenceJson } from '../forecast/difference-report.ts';
import { readSeenChecks } from '../forecast/seen-checks.ts';
import { wideQuestion } from '../forecast/wide-change.ts';
import { keptRollout } from '../ignored-options.ts';
import { readKey } from '../key-file.ts';
import { printJson } from '../output.ts';
import { createProgress, type Progress } from '../progress.ts';
import type { Terminal } from '../terminal.ts';
import { readNotesFiles } from './notes-files.ts';
import { printPublished, reportJson } from './publish-report.ts';
import { requestedRollout, statedRollout } from './rollout-report.ts';

/** The options of `slipway publish`. */
export interface PublishOptions extends ChangeOptions {
  readonly app?: string;
  readonly channel: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  readonly allowStranded: boolean;
  readonly notesFile?: readonly string[];
  readonly requires?: string;
  readonly mandatoryFor?: string;
  readonly endNative?: readonly Target[];
  readonly rehash?: readonly string[];
  readonly trusts?: readonly string[];
  readonly rezip: boolean;
  readonly deltas?: number;
  readonly draft: boolean;
  readonly expect?: readonly (readonly Target[])[];
  readonly releasePartial: boolean;
  readonly rollout?: string;
  readonly freezeWindow?: readonly string[];
}

export async function publish(
  terminal: Terminal,
  version: string,
  paths: string[],
  options: PublishOptions,
): Promise<void> {
  if (paths.length === 0) return offerDraft(terminal, version, options);
  for (const argument of paths) refuseMistyped(argument);
  if (options.draft && options.releasePartial) {
    const why =
      'Give --draft to hold the release back, or --release-partial to offer it, not both.';
    throw new AppError('invalid_request', why);
  }
  const context = await openContext(terminal, { mayBeNew: true });
  // A publish that was killed has left packages and archives of many megabytes.
  await removeLeftDirectories();
  const isNew = !(await context.hasStore());
  if (terminal.session !== undefined) terminal.session.lacksStore = isNew && !options.create;
  const build = await readBuildOutput({ paths, version, rehash: options.rehash ?? [] });
  const progress = createProgress(terminal, options.json);
  const notes =
    options.notesFile === undefined
      ? undefined
      : await readNotesFiles(options.notesFile, '--notes-file');
  const request = {
    application: options.app ?? context.config.defaultApplication,
    version,
    channel: options.channel,
    create: options.create,
    allowPrerelease: options.allowPrerelease,
    artifacts: build.artifacts,
    notes,
    described: build.described,
    signed: build.signed,
    requires: options.requires,
    mandatoryFor: options.mandatoryFor,
    endsNative: options.endNative ?? [],
    provenance: context.provenance,
    rollout: (await requestedRollout(options, context)) ?? statedRollout(build.staged),
    mode: options.draft ? ('draft' as const) : ('offer' as const),
    expect: options.expect?.flat(),
    releasePartial: options.releasePartial,
    rezip: options.rezip,
    trusts: await trustedKeys(options.trusts ?? []),
    deltas: {
      countMax: options.deltas ?? DELTAS_DEFAULT,
      areOnlyNamed: terminal.session?.isDryRun === true,
    },
  };
  const deps = {
    ...context,
    onProgress: (step: PublishProgress) => showStep(progress, step),
    readProjectName,
    readSeenChecks: (application: string) => readSeenChecks(context, application),
    beforeOffer: (states: ChannelStates) => {
      progress.stop();
      return askToPublish(terminal, context, request, states);
    },
  };
  try {
    const result = await runWithConsent(
      terminal,
      { allowStranded: options.allowStranded },
      (overruled) => publishRelease(deps, { ...request, ...overruled }).finally(progress.stop),
    );
    progress.stop();
    const now = context.clock.now();
    const ignored = ignoredOptions(options, result, build, context);
    if (options.json) {
      printJson(terminal, {
        ...reportJson(result, build, ignored),
        ...(await differenceJson(terminal, context, request.application, result)),
      });
      return;
    }
    const { config, place } = context;
    const expected = request.expect ?? [];
    const report = {
      ...result,
      place: place.text,
      isNewStore: isNew,
      expected,
      ignored,
      config,
      now,
    };
    await printPublished(terminal, context, report, build);
  } finally {
    progress.stop();
  }
}

/**
 * The name in the files of the project in this directory. The project counts only when `slipway init` would give its
 * application this name: a publisher may run the command in any directory.
 */
async function readProjectName(application: string): Promise<ProductName | undefined> {
  const { readProject } = await import('../../builds/project/read-project.ts');
  try {
    const project = await readProject('.');
    return project.application.text === application ? project.productName : undefined;
  } catch (error) {
    // A project that cannot be read has no name; `slipway init` says what is wrong with it.
    if (isAppError(error)) return undefined;
    throw error;
  }
}

/** The earlier releases from which publishing makes deltas; the help of `--deltas` states it. */
const DELTAS_DEFAULT = 3;

/**
 * Asks the operator when the release would reach every client of a channel at once, as a release without a rollout
 * does. For a new channel, which has no clients yet, it asks about a mistyped name instead.
 */
async function askToPublish(
  terminal: Terminal,
  context: Context,
  request: Pick<PublishRequest, 'application' | 'version' | 'channel'>,
  states: ChannelStates,
): Promise<void> {
  const { application, version } = request;
  const now = context.clock.now();
  // The commit asks the same question, but only after the upload.
  await askAboutVisitors(terminal, 'publish', states, now);
  const channel = parseChannelName(request.channel);
  const offer = states.after[channel]?.offers.find((each) => each.version === version);
  const mistyped = mistypedChannel(channel, version, states.before);
  if (mistyped !== undefined) return requireConsent(terminal, mistyped);
  const isForAll = presentShare(offer?.rollout, now) === EVERY_CLIENT;
  if (!isForAll || !offersReleases(states.before, channel)) return;
  await requireConsent(terminal, async () => {
    const about = { version, channels: [channel] };
    const what = `Publishing ${version}`;
    const question = await wideQuestion(context, application, what, states, about);
    return `${question}\nTo offer it to a share of the installations first, answer no and add --rollout 5%.`;
  });
}

/** @throws AppError `invalid_request` for a text that is no public key of Tauri or Sparkle */
async function trustedKeys(given: readonly string[]): Promise<readonly TrustedKey[]> {
  const keys: TrustedKey[] = [];
  for (const each of given) {
    const text = (await readKey(each, '--trusts')).trim();
    // The base64 of 32 bytes, which is a key of Sparkle, has 44 characters. A key of Tauri is longer.
    const scheme = text.length <= 44 ? SPARKLE_ED25519 : MINISIGN;
    const { text: key } = scheme === MINISIGN ? parseMinisignKey(text) : parseSparkleKey(text);
    keys.push({ scheme, key });
  }
  return keys;
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

const DOING = {
  hash: 'hashing',
  rezip: 'repacking',
  delta: 'making',
  upload: 'uploading',
} as const;

function showStep(progress: Progress, { phase, filename, bytesDone, bytesTotal }: PublishProgress) {
  const label = `${DOING[phase]} ${filename}`;
  progress.show(label, bytesDone, bytesTotal, 'bytes');
}

const NO_BUILD: BuildOutput = {
  artifacts: [],
  skipped: [],
  signed: [],
  staged: null,
  described: { name: null, notes: null },
};

/** Offers the draft of the version: `slipway publish VERSION` without paths. */
async function offerDraft(
  terminal: Terminal,
  version: string,
  options: PublishOptions,
): Promise<void> {
  refuseWithoutFiles(version, options);
  const context = await openContext(terminal);
  const { channel, allowPrerelease, allowStranded, releasePartial } = options;
  const application = options.app ?? context.config.defaultApplication;
  const expect = options.expect?.flat();
  const rollout = await requestedRollout(options, context);
  const allowed = { allowStranded, releasePartial };
  const result = await runWithConsent(terminal, allowed, async (given) => {
    const asked = { application, version, channel, allowPrerelease, rollout, expect, ...given };
    await requireConsent(terminal, async () => {
      const would = await openDraft({ ...context, ...context.rehearse() }, asked);
      const isWide =
        would.changed && presentShare(would.rollout, context.clock.now()) === EVERY_CLIENT;
      if (!isWide || !offersReleases(would.before, would.channel)) return undefined;
      const about = { version, channels: [would.channel] };
      return wideQuestion(context, application, `Opening the draft ${version}`, would, about);
    });
    return openDraft(context, asked);
  });
  const now = context.clock.now();
  const ignored = ignoredOptions(options, result, NO_BUILD, context);
  if (options.json) {
    return printJson(terminal, {
      ...reportJson(result, NO_BUILD, ignored),
      ...(await differenceJson(terminal, context, application, result)),
    });
  }
  const facts = { place: context.place.text, isNewStore: false, config: context.config, now };
  await printPublished(
    terminal,
    context,
    { ...result, ...facts, expected: expect ?? [], ignored },
    NO_BUILD,
  );
}

/** Sentences about options that have no effect on the release, because the channel or the build is as it is. */
function ignoredOptions(
  options: PublishOptions,
  result: PublishResult,
  build: BuildOutput,
  { clock, config: { defaultApplication } }: Context,
): readonly string[] {
  const { version, channel, held, changed } = result;
  const now = clock.now();
  const hasPackage = build.artifacts.some(({ format }) => format === 'velopack');
  const why = hasPackage
    ? 'the packages are published already, and a published package gets no further deltas'
    : 'no Velopack package is among the files';
  return [
    ...keptRollout(options, result, { now, defaultApplication }),
    ...(options.draft && held === null
      ? [
          `Warning: --draft has no effect: ${channel} offers ${version} with these files already. It holds back only a release that is not offered yet. To stop offering it, run slipway pause ${version}${optionOf(channel)}${appOption(result.application, defaultApplication)}.`,
        ]
      : []),
    ...(options.deltas !== undefined && options.deltas > 0 && !(hasPackage && changed)
      ? [`Warning: --deltas ${options.deltas} has no effect: ${why}.`]
      : []),
  ];
}

/** @throws AppError `invalid_request` for an option that needs files */
function refuseWithoutFiles(version: string, options: PublishOptions): void {
  const given = [
    options.draft && '--draft',
    options.create && '--create',
    options.notesFile !== undefined && '--notes-file',
    options.requires !== undefined && '--requires',
    options.mandatoryFor !== undefined && '--mandatory-for',
    options.endNative !== undefined && '--end-native',
    options.rehash !== undefined && '--rehash',
    options.trusts !== undefined && '--trusts',
    options.rezip && '--rezip',
    options.deltas !== undefined && '--deltas',
  ].find((option) => option !== false);
  if (given === undefined) return;
  throw new AppError(
    'invalid_request',
    `${given} needs files to publish. Name the files before it: slipway publish ${version} dist ${given} …. Without files and without this option, slipway publish ${version} opens the draft.`,
  );
}
