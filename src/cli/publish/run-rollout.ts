import { draftSentence } from '../../catalog/reading/draft-text.ts';
import {
  offeredShare,
  offeredTo,
  plannedShares,
  presentShare,
} from '../../catalog/reading/rollout-text.ts';
import { AppError } from '../../core/errors.ts';
import { parseChannelName } from '../../domain/channel.ts';
import type { Share } from '../../domain/rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import { unservedIn } from '../../releases/forecast/foresee-unserved.ts';
import { showRelease } from '../../releases/list/list-releases.ts';
import {
  changeRollout,
  type RolloutAction,
  type RolloutChanged,
} from '../../releases/rollouts/change-rollout.ts';
import type { ChangeOptions } from '../arguments.ts';
import { requireConsent } from '../consent.ts';
import { type Context, openContext } from '../context.ts';
import { differenceJson, printDifference } from '../forecast/difference-report.ts';
import { wideQuestion } from '../forecast/wide-change.ts';
import { printUnrecorded } from '../ignored-options.ts';
import { printJson, printTable, printWhenLive } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';
import { windowWithoutPlan } from './rollout-report.ts';

interface RolloutOptions extends ChangeOptions {
  readonly app?: string;
  readonly plan?: string;
  readonly freezeWindow?: readonly string[];
  readonly freeze: boolean;
  readonly unfreeze: boolean;
  readonly complete: boolean;
  readonly channel?: string;
  readonly reason?: string;
}

export async function rollout(
  terminal: Terminal,
  version: string,
  share: string | undefined,
  options: RolloutOptions,
): Promise<void> {
  const action = actionOf(share, options);
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  if (action === undefined) return showRollout(terminal, context, application, version, options);
  const { channel, reason = null } = options;
  const request = { application, version, channel, action, reason };
  await askToRaise(terminal, context, request);
  const changed = await changeRollout(context, request);
  if (options.json) {
    const difference = await differenceJson(terminal, context, application, changed);
    printJson(terminal, { app: application, version, ...jsonOf(changed), ...difference });
    return;
  }
  printChanged(terminal, context, request, changed);
  if (!changed.changed) printUnrecorded(terminal, reason);
  await printDifference(terminal, context, application, changed);
}

/** A raise of a rollout by at least this share, in 1/100 %, reaches many clients at once. */
const WIDE_RAISE: Share = 5_000;

async function askToRaise(
  terminal: Terminal,
  context: Context,
  request: Parameters<typeof changeRollout>[1],
): Promise<void> {
  const { action, version } = request;
  if (action.kind !== 'start' && action.kind !== 'complete') return;
  await requireConsent(terminal, async () => {
    const would = await changeRollout({ ...context, ...context.rehearse() }, request);
    const raiseMin = action.kind === 'complete' ? 1 : WIDE_RAISE;
    const raised = would.channels.filter(({ before, after }) => after - before >= raiseMin);
    if (raised.length === 0) return undefined;
    const channels = raised.map(({ channel }) => channel);
    const from = [...new Set(raised.map(({ before }) => shareText(before)))].join(', ');
    const what = `Raising the rollout of ${version} from ${from}`;
    return wideQuestion(context, request.application, what, would, { version, channels });
  });
}

/**
 * The change that the options ask for; undefined to show the rollout.
 *
 * @throws AppError `invalid_request` when the options ask for several changes
 */
function actionOf(
  share: string | undefined,
  { plan, freeze, unfreeze, complete, reason, freezeWindow: freezeWindows = [] }: RolloutOptions,
): RolloutAction | undefined {
  const actions: RolloutAction[] = [];
  for (const text of [share, plan]) {
    if (text !== undefined) actions.push({ kind: 'start', requested: { text, freezeWindows } });
  }
  if (freeze) actions.push({ kind: 'freeze' });
  if (unfreeze) actions.push({ kind: 'unfreeze' });
  if (complete) actions.push({ kind: 'complete' });
  if (actions.length > 1) {
    throw new AppError(
      'invalid_request',
      'Give one of these: a percentage, --plan, --freeze, --unfreeze, --complete.',
    );
  }
  if (freezeWindows.length > 0 && plan?.includes('@') !== true) throw windowWithoutPlan('--plan');
  if (actions.length === 0 && reason !== undefined) {
    throw new AppError(
      'invalid_request',
      '--reason is for a change, and this command only shows the rollout. Give a percentage, --plan, --freeze, --unfreeze or --complete with it.',
    );
  }
  return actions[0];
}

function printChanged(
  terminal: Terminal,
  context: Context,
  { application, version }: { readonly application: string; readonly version: string },
  { channels, changed, announced, revision, after: states }: RolloutChanged,
): void {
  const release = `${application} ${version}`;
  const where = `in ${context.place.text} (catalog revision ${revision})`;
  print(
    terminal,
    changed
      ? `Changed the rollout of ${release} ${where}.`
      : `Nothing to do for ${release} ${where}.`,
  );
  const now = context.clock.now();
  printTable(
    terminal,
    ['channel', 'before', 'now', 'planned'],
    channels.map(({ channel, before, rollout }) => [
      channel,
      shareText(before),
      presentShare(rollout, now),
      plannedShares(rollout, now),
    ]),
  );
  const lowered = channels.filter(({ before, after }) => after < before);
  if (lowered.length > 0) {
    print(
      terminal,
      `Clients that have the release keep it. To withdraw it: slipway yank ${version}.`,
    );
  }
  const unserved = new Set(
    unservedIn(states, now).flatMap((each) => (each.platform === null ? [each.channel] : [])),
  );
  for (const { channel } of lowered) {
    if (!unserved.has(channel)) continue;
    print(
      terminal,
      `No release is offered to every client of ${channel} now: visitors of a website and clients without an installation id get none. To change that: slipway rollout ${version} --complete.`,
    );
  }
  if (changed) printWhenLive(terminal, context, announced);
}

function jsonOf({ channels, revision, changed }: RolloutChanged): object {
  return {
    catalog_revision: revision,
    changed,
    channels: channels.map(({ channel, before, after, rollout = null }) => ({
      channel,
      share_before: before,
      share: after,
      rollout,
    })),
  };
}

async function showRollout(
  terminal: Terminal,
  context: Context,
  application: string,
  version: string,
  { channel, json }: RolloutOptions,
): Promise<void> {
  const { listed, drafts } = await showRelease(context, application, version);
  const only = channel === undefined ? undefined : parseChannelName(channel);
  const shown = listed.filter((item) => only === undefined || item.channel === only);
  if (shown.length === 0) {
    const draft = drafts.find((item) => only === undefined || item.channel === only);
    if (draft !== undefined) {
      throw new AppError('status_forbids', draftSentence(draft.draft, draft.channel));
    }
    const names = listed.map((item) => item.channel).join(', ');
    throw new AppError(
      'unknown_channel',
      `The channel ${only} of ${application} does not list ${version}. It is listed on ${names}.`,
    );
  }
  const now = context.clock.now();
  if (json) {
    const channels = shown.map(({ channel: name, offer }) => ({
      channel: name,
      status: offer.status,
      offered_to: offeredShare(offer, now),
      rollout: offer.rollout ?? null,
    }));
    printJson(terminal, { app: application, version, channels });
    return;
  }
  print(terminal, `Rollout of ${application} ${version} in ${context.place.text}:`);
  printTable(
    terminal,
    ['channel', 'status', 'offered to', 'planned'],
    shown.map(({ channel: name, offer }) => [
      name,
      offer.status,
      offeredTo(offer, now),
      offer.status === 'active' ? plannedShares(offer.rollout, now) : '',
    ]),
  );
}
