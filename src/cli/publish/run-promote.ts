import { optionOf } from '../../catalog/reading/draft-text.ts';
import { readManifest } from '../../catalog/reading/read.ts';
import { offersReleases } from '../../releases/offer/channel-rules.ts';
import { promoteRelease } from '../../releases/publish/promote-release.ts';
import { otherKeyLines, otherKeysJson } from '../apps/other-keys-report.ts';
import type { ChangeOptions } from '../arguments.ts';
import { droppedSentence } from '../channels/channel-report.ts';
import { isInteractive, requireConsent, runWithConsent } from '../consent.ts';
import { type Context, openContext } from '../context.ts';
import { differenceJson, printDifference } from '../forecast/difference-report.ts';
import { wideQuestion } from '../forecast/wide-change.ts';
import { keptRollout } from '../ignored-options.ts';
import { alignColumns, indented, printJson, printWhenLive, staysPaused } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';
import { leftBehindSentences } from './left-behind.ts';
import { requestedRollout, shareSentences } from './rollout-report.ts';

interface PromoteOptions extends ChangeOptions {
  readonly app?: string;
  readonly to: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  readonly allowOlder: boolean;
  readonly allowStranded: boolean;
  readonly releasePartial: boolean;
  readonly rollout?: string;
  readonly freezeWindow?: readonly string[];
}

export async function promote(
  terminal: Terminal,
  version: string,
  options: PromoteOptions,
): Promise<void> {
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  const { to, create, allowPrerelease, allowOlder, allowStranded, releasePartial } = options;
  const rollout = await requestedRollout(options, context);
  const allowed = { allowOlder, allowStranded, releasePartial };
  const promoted = await runWithConsent(terminal, allowed, async (given) => {
    const asked = { application, version, to, create, allowPrerelease, rollout };
    const request = { ...asked, isUnseen: true, ...given };
    await requireConsent(terminal, async () => {
      const would = await promoteRelease({ ...context, ...context.rehearse() }, request);
      const isWide =
        would.changed && would.status === 'active' && offersReleases(would.before, would.channel);
      if (!isWide) return undefined;
      const about = { version, channels: [would.channel] };
      return wideQuestion(context, application, `Promoting ${version}`, would, about);
    });
    return promoteRelease(context, request);
  });
  const { channel, revision, changed, announced, status, manifest } = promoted;
  const now = context.clock.now();
  const { defaultApplication } = context.config;
  const facts = { application, version, ...promoted };
  const ignored = keptRollout(options, facts, { now, defaultApplication });
  const signedFiles = await readSigned(context, application, version, promoted);
  if (options.json) {
    printJson(terminal, {
      app: application,
      version,
      channel,
      status,
      catalog_revision: revision,
      changed,
      manifest,
      ...(signedFiles === undefined ? {} : { files: signedFiles }),
      dropped: promoted.dropped,
      warnings: ignored,
      ...otherKeysJson(promoted),
      left_behind: promoted.leftBehind.map(({ platform, arch }) => ({ os: platform, arch })),
      ...(await differenceJson(terminal, context, application, promoted)),
    });
    return;
  }
  if (changed && status === 'draft') {
    print(
      terminal,
      `Made a draft of ${application} ${version} on ${channel} in ${context.place.text} (catalog revision ${revision}). To offer it, people with keys of ${channel} sign it: slipway sign ${version}${optionOf(channel)} --key FILE.`,
    );
  } else if (changed) {
    print(
      terminal,
      `Promoted ${application} ${version} to ${channel} in ${context.place.text} (catalog revision ${revision}).`,
    );
    if (status === 'paused') print(terminal, staysPaused(version, channel));
    if (signedFiles !== undefined) {
      print(
        terminal,
        `The keys signed manifest ${manifest.number}, SHA-256 ${manifest.digest}, with:`,
      );
      const rows = signedFiles.map(({ filename, sha256 }) => [filename, sha256]);
      for (const line of indented(2, alignColumns(rows))) print(terminal, line);
    }
    for (const sentence of leftBehindSentences({ version, ...promoted })) print(terminal, sentence);
    if (promoted.dropped.length > 0) print(terminal, droppedSentence(channel, promoted.dropped));
    printWhenLive(terminal, context, announced);
  } else {
    print(
      terminal,
      `Nothing to do: ${application} ${version} is ${status} on ${channel} in ${context.place.text} (catalog revision ${revision}).`,
    );
  }
  const own = promoted.after[channel]?.offers.find((offer) => offer.version === version);
  for (const sentence of shareSentences({ ...facts, rollout: own?.rollout }, now)) {
    print(terminal, sentence);
  }
  for (const sentence of ignored) print(terminal, sentence);
  if (promoted.otherKeys.length > 0) {
    print(
      terminal,
      `Note: ${version} has signatures of another key than that of ${application}. A client whose pubkey is ${promoted.tauriKeyId} refuses them:`,
    );
  }
  for (const line of otherKeyLines(promoted)) print(terminal, line);
  await printDifference(terminal, context, application, promoted);
  const isAsked = isInteractive(terminal) && terminal.session?.isDryRun !== true;
  if (!changed || !promoted.hasKeys || !isAsked) return;
  // A person can look at the release now, so the same command goes on as `slipway sign` does.
  const sign = await terminal.signDraft?.();
  await sign?.(terminal, { app: application, channel, version });
}

/** The files that the keys of the command signed with a promotion; undefined when they signed none. */
async function readSigned(
  context: Context,
  application: string,
  version: string,
  { changed, status, manifest }: Awaited<ReturnType<typeof promoteRelease>>,
) {
  const trust = context.trust.of(application);
  if (trust === undefined || !changed || status === 'draft') return undefined;
  const { release } = await readManifest(context, application, version, manifest);
  return release.artifacts.map(({ filename, sha256 }) => ({ filename, sha256 }));
}
