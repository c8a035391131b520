import {
  type ChannelChange,
  type ChannelStates,
  compareChannels,
  type FieldChange,
} from '../../src/operations/compare-channels.ts';
import { type ForeseenChange, foreseeChanges } from '../../src/operations/foresee-changes.ts';
import { foreseeZsync } from '../../src/operations/foresee-zsync.ts';
import { changeRows, clientCells, isRollout } from '../../src/wording/difference.ts';
import { zsyncSentences } from '../../src/wording/zsync.ts';
import { alignColumns, firstLines } from './output.ts';
import { print, type Terminal } from './terminal.ts';

/** What a change makes different: on the channels, and for clients. */

/** For `--json`. @param now by the store's clock */
export function differenceJson(changed: ChannelStates, now: number): object {
  return {
    difference: {
      changes: compareChannels(changed, now).map(changeJson),
      clients: foreseeChanges(changed, now).map(({ newest, oldest, ...group }) => ({
        ...group,
        installed: { newest, oldest },
      })),
    },
  };
}

/**
 * Prints the difference that a change would make, in a dry run; and always, what the tables do not say.
 *
 * @param now by the store's clock
 */
export function printDifference(terminal: Terminal, changed: ChannelStates, now: number): void {
  if (terminal.session?.isDryRun === true) printTables(terminal, changed, now);
  for (const sentence of zsyncSentences(foreseeZsync(changed, now))) print(terminal, sentence);
}

function printTables(terminal: Terminal, changed: ChannelStates, now: number): void {
  const changes = compareChannels(changed, now);
  if (changes.length === 0) {
    print(terminal, 'Difference: none.');
    return;
  }
  print(terminal, 'Difference:');
  for (const line of firstLines(alignColumns(changes.flatMap(changeRows)))) {
    print(terminal, `  ${line}`);
  }
  const clients = foreseeChanges(changed, now);
  print(
    terminal,
    clients.length === 0
      ? 'No client of these channels is offered another release than before.'
      : 'Clients that are offered another release than before:',
  );
  for (const line of firstLines(clientLines(clients))) print(terminal, `  ${line}`);
}

/** `stable  linux-x64 deb  1.4.0 to 1.2.0  1.4.0 → 1.5.0` */
export function clientLines(clients: readonly ForeseenChange[]): readonly string[] {
  return alignColumns(
    clients.map((group) => {
      const { channel, target, installed, before, after } = clientCells(group);
      return [channel, target, installed, `${before} → ${after}`];
    }),
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

/** `isFrozen` is `frozen`, and `mandatoryFor` is `mandatory_for`. */
const snakeCase = (name: string): string =>
  name
    .replace(/^is(?=[A-Z])/, '')
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();
