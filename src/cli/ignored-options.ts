import type { OfferJson } from '../catalog/documents/revision-document.ts';
import { optionOf } from '../catalog/reading/draft-text.ts';
import { presentShare } from '../catalog/reading/rollout-text.ts';
import type { ChannelStates } from '../releases/forecast/compare-channels.ts';
import { appOption } from './arguments.ts';
import { print, type Terminal } from './terminal.ts';

/** What commands say about options that have no effect in the present state. No option is ignored silently. */

/** The options for the rollout of a new offer. */
export interface RolloutOptions {
  readonly rollout?: string;
  readonly freezeWindow?: readonly string[];
}

interface Offered extends Pick<ChannelStates, 'before'> {
  readonly application: string;
  readonly version: string;
  readonly channel: string;
}

/**
 * Says that a release keeps the rollout that it has on the channel, with the command that changes it. Empty when the
 * release has exactly the rollout that the options state.
 *
 * @param now by the store's clock
 */
export function keptRollout(
  { rollout: stated, freezeWindow: windows = [] }: RolloutOptions,
  { application, version, channel, before }: Offered,
  { now, defaultApplication }: { readonly now: number; readonly defaultApplication: string },
): readonly string[] {
  const present = before[channel]?.offers.find((offer) => offer.version === version)?.rollout;
  if (stated === undefined || present === undefined || isSamePlan(present, stated, windows)) {
    return [];
  }
  const isPlan = stated.includes('@');
  const share = isPlan ? `--plan "${stated.trim()}"` : stated.trim();
  const further = windows.map((window) => ` --freeze-window "${window}"`).join('');
  const where = `${optionOf(channel)}${appOption(application, defaultApplication)}`;
  return [
    `Warning: --rollout ${stated.trim()} has no effect: ${version} has a rollout on ${channel} already, and keeps it (${presentShare(present, now)}). To change it, run slipway rollout ${version} ${share}${further}${where}.`,
  ];
}

function isSamePlan(
  { plan, freeze_windows: freezeWindows }: NonNullable<OfferJson['rollout']>,
  stated: string,
  windows: readonly string[],
): boolean {
  const textOf = (text: string): string => text.trim().replace(/%$/, '');
  return textOf(plan) === textOf(stated) && freezeWindows.join('\n') === windows.join('\n');
}

/** Says, after a command that changed nothing, that the history has no entry with the reason. */
export function printUnrecorded(terminal: Terminal, reason: string | null | undefined): void {
  if (reason === null || reason === undefined) return;
  print(terminal, 'The history gets no entry with the --reason, because nothing changed.');
}
