import {
  changeStatus,
  type ListedStatus,
  type StatusChanged,
  type StatusVerb,
} from '../../releases/withdraw/change-status.ts';
import { withdrawalSentences } from '../../releases/withdraw/withdrawal-text.ts';
import type { ChangeOptions } from '../arguments.ts';
import { requireConsent } from '../consent.ts';
import { type Context, openContext } from '../context.ts';
import {
  differenceJson,
  printClientTable,
  printDifference,
} from '../forecast/difference-report.ts';
import { wideQuestion } from '../forecast/wide-change.ts';
import { printUnrecorded } from '../ignored-options.ts';
import { printJson, printWhenLive } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

const PARTICIPLES: Readonly<Record<StatusVerb, string>> = {
  pause: 'Paused',
  resume: 'Resumed',
  yank: 'Yanked',
  retire: 'Retired',
};

interface StatusOptions extends ChangeOptions {
  readonly app?: string;
  readonly channel?: string;
  readonly reason?: string;
}

/** The handler of the command with this name. */
export function changeTo(verb: StatusVerb) {
  return async (terminal: Terminal, version: string, options: StatusOptions): Promise<void> => {
    const context = await openContext(terminal);
    const application = options.app ?? context.config.defaultApplication;
    const { channel, reason = null } = options;
    const request = { application, version, channel, reason };
    if (verb === 'resume') await askToResume(terminal, context, request);
    const result = await changeStatus(context, verb, request);
    if (options.json) {
      const difference = await differenceJson(terminal, context, application, result);
      printJson(terminal, { app: application, version, ...jsonOf(result), ...difference });
      return;
    }
    const { channels, listed, discarded, revision } = result;
    const others = listed.filter((item) => !channels.includes(item.channel));
    const where = `in ${context.place.text} (catalog revision ${revision})`;
    if (discarded.length > 0) {
      print(
        terminal,
        `Discarded the draft ${version} of ${discarded.join(', ')} ${where}. No client saw it.${isFree(result, version) ? ` The version is free: slipway publish ${version} can begin it again.` : ''}`,
      );
      if (listed.length === 0) return;
    }
    if (!result.changed) {
      print(terminal, `Nothing to do: ${application} ${version} is ${stateOf(listed)} ${where}.`);
      // The same pause or yank again has its reason in the history already.
      if (listed.some((item) => item.reason !== reason)) printUnrecorded(terminal, reason);
      return;
    }
    if (result.isReasonOnly) {
      const same = listed.filter((item) => channels.includes(item.channel));
      const what = `Recorded the reason: ${application} ${version} is ${stateOf(same)} ${where}`;
      print(terminal, `${what}. Clients get the same as before.`);
      await printDifference(terminal, context, application, result);
      return;
    }
    print(
      terminal,
      `${PARTICIPLES[verb]} ${application} ${version} on ${channels.join(', ')} ${where}.`,
    );
    if (others.length > 0) print(terminal, `It was ${stateOf(others)} before.`);
    printWhenLive(terminal, context, result.announced);
    // A dry run prints the clients with the difference.
    if (result.clients.length > 0 && terminal.session?.isDryRun !== true) {
      print(terminal, `Clients on ${version} and older versions now get:`);
      printClientTable(terminal, result.clients, result);
    }
    for (const sentence of withdrawalSentences(verb, version, result)) print(terminal, sentence);
    await printDifference(terminal, context, application, result);
  };
}

/**
 * Asks before the command offers a release again, because the release then reaches every client of the channels. A
 * command that stops a release asks nothing.
 */
async function askToResume(
  terminal: Terminal,
  context: Context,
  request: Parameters<typeof changeStatus>[2],
): Promise<void> {
  await requireConsent(terminal, async () => {
    const would = await changeStatus({ ...context, ...context.rehearse() }, 'resume', request);
    if (!would.changed) return undefined;
    const { version } = request;
    const about = { version, channels: would.channels };
    return wideQuestion(context, request.application, `Resuming ${version}`, would, about);
  });
}

/**
 * True when no channel lists the version now or has listed it before. A publisher can then publish it with other files.
 */
function isFree({ after }: StatusChanged, version: string): boolean {
  return Object.values(after).every(
    ({ offers, retired }) =>
      !retired.includes(version) && !offers.some((offer) => offer.version === version),
  );
}

/** The status on the listed channels, which is the same on all: `paused on stable, beta`. */
function stateOf(listed: readonly ListedStatus[]): string {
  const preposition = listed[0]?.status === 'retired' ? 'from' : 'on';
  return `${listed[0]?.status} ${preposition} ${listed.map(({ channel }) => channel).join(', ')}`;
}

function jsonOf({
  channels,
  revision,
  changed,
  listed,
  discarded,
  clients,
}: StatusChanged): object {
  return {
    channels,
    catalog_revision: revision,
    changed,
    listed,
    discarded,
    clients,
  };
}
