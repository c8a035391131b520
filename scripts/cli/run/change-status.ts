import {
  changeStatus,
  type ListedStatus,
  type StatusChanged,
  type StatusVerb,
} from '../../../src/operations/change-status.ts';
import type { ForeseenUpdate } from '../../../src/operations/foresee-updates.ts';
import type { ChangeOptions } from '../arguments.ts';
import { openContext } from '../context.ts';
import { printableText, printJson, printTable, printWhenLive } from '../output.ts';
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
    const result = await changeStatus(context, verb, { application, version, channel, reason });
    if (options.json) {
      printJson(terminal, { app: application, version, ...jsonOf(result) });
      return;
    }
    const { channels, listed, revision } = result;
    const others = listed.filter((item) => !channels.includes(item.channel));
    const where = `in ${context.place.text} (catalog revision ${revision})`;
    if (!result.changed) {
      print(terminal, `Nothing to do: ${application} ${version} is ${stateOf(listed)} ${where}.`);
      if (listed.some((item) => reason !== null && item.reason !== reason)) {
        print(terminal, printableText(reasonKept(listed)));
      }
      return;
    }
    print(
      terminal,
      `${PARTICIPLES[verb]} ${application} ${version} on ${channels.join(', ')} ${where}.`,
    );
    if (others.length > 0) print(terminal, `It was ${stateOf(others)} before.`);
    printWhenLive(terminal, context, result.announced);
    printClients(terminal, version, result.clients);
    for (const sentence of withdrawalSentences(verb, version, result)) print(terminal, sentence);
  };
}

/** `paused on stable, beta`: all listed channels have the same status. */
function stateOf(listed: readonly ListedStatus[]): string {
  const preposition = listed[0]?.status === 'retired' ? 'from' : 'on';
  return `${listed[0]?.status} ${preposition} ${listed.map(({ channel }) => channel).join(', ')}`;
}

function reasonKept(listed: readonly ListedStatus[]): string {
  const reasons = new Set(listed.map(({ reason }) => reason).filter((reason) => reason !== null));
  const kept = reasons.size === 0 ? 'none' : [...reasons].map((r) => JSON.stringify(r)).join(', ');
  return `The new reason is not recorded. Recorded: ${kept}.`;
}

function printClients(
  terminal: Terminal,
  version: string,
  clients: readonly ForeseenUpdate[],
): void {
  if (clients.length === 0) return;
  print(terminal, `Clients on ${version} and older versions now get:`);
  printTable(
    terminal,
    ['channel', 'target', 'installed', 'gets'],
    clients.map((group) => [
      group.channel,
      group.target,
      group.newest === group.oldest ? group.newest : `${group.newest} to ${group.oldest}`,
      answerOf(group),
    ]),
  );
}

/** Says what the publisher has to do for clients that are left without an update when a release is withdrawn. */
function withdrawalSentences(
  verb: StatusVerb,
  version: string,
  { clients }: StatusChanged,
): readonly string[] {
  if (verb === 'resume') return [];
  const cutOff = new Map<string, Set<string>>();
  for (const { reason, withheld, channel } of clients) {
    if (reason !== 'must_step_through' || withheld === null) continue;
    cutOff.set(withheld, (cutOff.get(withheld) ?? new Set()).add(channel));
  }
  const isStuck = clients.some(({ newest, offered }) => newest === version && offered === null);
  return [
    ...[...cutOff].map(
      ([newer, channels]) =>
        `Without ${version}, older clients on ${[...channels].join(', ')} cannot reach ${newer}, which requires a release in between. ${verb === 'pause' ? `Resume ${version}, or publish` : 'Publish'} a release that they can install and that ${newer} accepts.`,
    ),
    ...(isStuck && verb !== 'pause'
      ? [`Publish a newer release to move these clients off ${version}.`]
      : []),
  ];
}

function answerOf({ offered, reason, withheld, newest, oldest }: ForeseenUpdate): string {
  switch (reason) {
    case 'offer':
      return String(offered);
    case 'paused':
      return `nothing: ${withheld} is paused`;
    case 'must_step_through':
      return `nothing: ${withheld} requires a release in between`;
    case 'unsupported_platform':
    case 'unsupported_format':
      return `nothing: ${withheld} has no build of this kind`;
    default:
      return newest === oldest ? `nothing newer: stays on ${newest}` : 'nothing newer';
  }
}

function jsonOf({ channels, revision, changed, listed, clients }: StatusChanged): object {
  return {
    channels,
    catalog_revision: revision,
    changed,
    listed,
    clients: clients.map(({ newest, oldest, ...group }) => ({
      ...group,
      installed: { newest, oldest },
    })),
  };
}
