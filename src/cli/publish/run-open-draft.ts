import type { BuildOutput } from '../../builds/build-output.ts';
import { AppError } from '../../core/errors.ts';
import { offersReleases } from '../../releases/channels/channel-rules.ts';
import { openDraft as open } from '../../releases/drafts/open-draft.ts';
import { readEarlier } from '../../releases/publish/read-earlier.ts';
import { requireConsent, runWithConsent } from '../consent.ts';
import { openContext } from '../context.ts';
import { differenceJson } from '../forecast/difference-report.ts';
import { wideQuestion } from '../forecast/wide-change.ts';
import { printJson } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import type { PublishOptions } from './publish-options.ts';
import { printPublished, reportJson } from './publish-report.ts';
import { EVERY_CLIENT, presentShare, requestedRollout } from './rollout-report.ts';

const NO_BUILD: BuildOutput = {
  artifacts: [],
  skipped: [],
  signed: [],
  staged: null,
  described: { name: null, notes: null },
};

/** `slipway publish VERSION` without paths: offers the draft of the version. */
export async function openDraft(
  terminal: Terminal,
  version: string,
  options: PublishOptions,
): Promise<void> {
  refuseWithoutFiles(version, options);
  const context = await openContext(terminal);
  const { channel, allowPrerelease, allowStranded, releasePartial } = options;
  const application = options.app ?? context.config.defaultApplication;
  const expect = options.expect?.flat();
  const allowed = { allowStranded, releasePartial };
  const result = await runWithConsent(terminal, allowed, async (given) => {
    const rollout = requestedRollout(options);
    const asked = { application, version, channel, allowPrerelease, rollout, expect, ...given };
    await requireConsent(terminal, async () => {
      const would = await open({ ...context, ...context.rehearse() }, asked);
      const isWide =
        would.changed && presentShare(would.rollout, context.clock.now()) === EVERY_CLIENT;
      if (!isWide || !offersReleases(would.before, would.channel)) return undefined;
      const about = { version, channels: [would.channel] };
      return wideQuestion(context, application, `Opening the draft ${version}`, would, about);
    });
    return open(context, asked);
  });
  const earlier = await readEarlier(context, result);
  const now = context.clock.now();
  if (options.json) {
    return printJson(terminal, {
      ...reportJson({ ...result, earlier }, NO_BUILD),
      ...(await differenceJson(terminal, context, application, result)),
    });
  }
  const facts = { place: context.place.text, isNewStore: false, config: context.config, now };
  await printPublished(
    terminal,
    context,
    { ...result, ...facts, earlier, expected: expect ?? [] },
    NO_BUILD,
  );
}

/** @throws AppError `invalid_request` for an option that says something about files */
function refuseWithoutFiles(version: string, options: PublishOptions): void {
  const given = [
    options.draft && '--draft',
    options.create && '--create',
    options.notesFile !== undefined && '--notes-file',
    options.requires !== undefined && '--requires',
    options.mandatoryFor !== undefined && '--mandatory-for',
    options.endNative !== undefined && '--end-native',
  ].find((option) => option !== false);
  if (given === undefined) return;
  throw new AppError(
    'invalid_request',
    `${given} needs files to publish. Name the files before it: slipway publish ${version} dist ${given} …. Without files and without this option, slipway publish ${version} opens the draft.`,
  );
}
