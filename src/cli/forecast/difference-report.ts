import { clientRows, targetsText } from '../../releases/forecast/client-rows.ts';
import { clientSentences, updateText } from '../../releases/forecast/clients-text.ts';
import {
  type ChannelChange,
  type ChannelStates,
  compareChannels,
  type FieldChange,
} from '../../releases/forecast/compare-channels.ts';
import { changedAnswers, changeRows, isRollout } from '../../releases/forecast/difference-text.ts';
import { type ForeseenChange, foreseeChanges } from '../../releases/forecast/foresee-changes.ts';
import { foreseeUnserved, unservedSentence } from '../../releases/forecast/foresee-unserved.ts';
import type { ForeseenUpdate } from '../../releases/forecast/foresee-updates.ts';
import { foreseeZsync } from '../../releases/forecast/foresee-zsync.ts';
import type { SeenChecks } from '../../releases/forecast/seen-checks.ts';
import { zsyncSentences } from '../../releases/forecast/zsync-text.ts';
import type { Context } from '../context.ts';
import { alignColumns, firstLines, printTable } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';
import { readSeenChecks } from './seen-checks.ts';

/** The difference that a change makes on the channels and for clients, and the releases that groups of clients get. */

/**
 * The difference for `--json`. In a dry run, each group of clients has its share of the checks that services counted.
 *
 * @param seen the counted checks of the application; without them, this function reads them
 */
export async function differenceJson(
  terminal: Terminal,
  context: Context,
  application: string,
  changed: ChannelStates,
  seen?: readonly SeenChecks[],
): Promise<object> {
  const now = context.clock.now();
  const isDryRun = terminal.session?.isDryRun === true;
  const weighed = isDryRun ? (seen ?? (await readSeenChecks(context, application))) : [];
  return {
    difference: {
      changes: compareChannels(changed, now).map(changeJson),
      clients: foreseeChanges(changed, now, weighed),
      warnings: foreseeUnserved(changed, now).map(unservedSentence),
    },
  };
}

/**
 * In a dry run, prints the difference that a change would make. Always prints the sentences about zsync, which the
 * tables do not show.
 *
 * @param seen the counted checks of the application; without them, this function reads them
 */
export async function printDifference(
  terminal: Terminal,
  context: Context,
  application: string,
  changed: ChannelStates,
  seen?: readonly SeenChecks[],
): Promise<void> {
  const now = context.clock.now();
  if (terminal.session?.isDryRun === true) {
    printTables(terminal, changed, now, seen ?? (await readSeenChecks(context, application)));
  }
  for (const sentence of zsyncSentences(foreseeZsync(changed, now))) print(terminal, sentence);
}

/** @param now by the store's clock */
function printTables(
  terminal: Terminal,
  changed: ChannelStates,
  now: number,
  seen: readonly SeenChecks[],
): void {
  const changes = compareChannels(changed, now);
  if (changes.length === 0) {
    print(terminal, 'Difference: none.');
    return;
  }
  print(terminal, 'Difference:');
  for (const line of firstLines(alignColumns(changes.flatMap(changeRows)))) {
    print(terminal, `  ${line}`);
  }
  const clients = foreseeChanges(changed, now, seen);
  print(
    terminal,
    clients.length === 0
      ? 'No client of these channels is offered another release than before.'
      : 'Clients that are offered another release than before:',
  );
  for (const line of firstLines(clientLines(clients, changed))) print(terminal, `  ${line}`);
  for (const sentence of clientSentences(clients, seen)) print(terminal, sentence);
  for (const unserved of foreseeUnserved(changed, now)) {
    print(terminal, `Warning: ${unservedSentence(unserved)}`);
  }
}

/**
 * A line for all clients that get the same: `stable  all targets  1.4.0 to 1.2.0  1.4.0 → 1.5.0`.
 *
 * @param states the channels before the change and after it
 */
export function clientLines(
  clients: readonly ForeseenChange[],
  states: ChannelStates,
): readonly string[] {
  return alignColumns(
    clientRows(clients, changedAnswers, states).map(({ channel, targets, installed, gets }) => [
      channel,
      targetsText(targets),
      installed,
      gets.join(' → '),
    ]),
  );
}

function changeJson(change: ChannelChange): object {
  switch (change.kind) {
    case 'setting_changed':
      return { ...change, before: change.before ?? null, after: change.after ?? null };
    case 'offer_added':
      return { ...change, offer: snakeCased(change.offer) };
    case 'offer_removed': {
      const { isRetired, ...removed } = change;
      return { ...removed, retired: isRetired };
    }
    case 'offer_changed':
      return { ...change, fields: change.fields.map(fieldJson) };
    default:
      return change;
  }
}

const fieldJson = ({ field, before, after }: FieldChange): object => ({
  field: snakeCase(field),
  before: valueJson(before),
  after: valueJson(after),
});

function valueJson(value: unknown): unknown {
  return isRollout(value) ? snakeCased(value) : (value ?? null);
}

function snakeCased(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [snakeCase(name), valueJson(each)]),
  );
}

/** The name of a field in JSON: `isFrozen` is `frozen`, and `mandatoryFor` is `mandatory_for`. */
const snakeCase = (name: string): string =>
  name
    .replace(/^is(?=[A-Z])/, '')
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();

/**
 * Prints one line for all clients that get the same, with the release that they are offered.
 *
 * @param states the channels before the change and after it
 */
export function printClientTable(
  terminal: Terminal,
  clients: readonly ForeseenUpdate[],
  states: ChannelStates,
): void {
  printTable(
    terminal,
    ['channel', 'target', 'installed', 'gets'],
    clientRows(clients, (group) => [updateText(group)], states).map(
      ({ channel, targets, installed, gets }) => [
        channel,
        targetsText(targets),
        installed,
        ...gets,
      ],
    ),
  );
}
