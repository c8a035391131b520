import { ALL_CLIENTS } from '../../src/domain/rollout.ts';
import { shareText } from '../../src/domain/rollout-text.ts';
import {
  type ChannelChange,
  type ChannelStates,
  type ComparedRollout,
  compareChannels,
  type FieldChange,
} from '../../src/operations/compare-channels.ts';
import { type ForeseenChange, foreseeChanges } from '../../src/operations/foresee-changes.ts';
import { answerText, installedText } from './client-report.ts';
import { alignColumns, firstLines } from './output.ts';
import { EVERY_CLIENT } from './rollout-report.ts';
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

/** Prints the difference that a change would make, in a dry run. @param now by the store's clock */
export function printDifference(terminal: Terminal, changed: ChannelStates, now: number): void {
  if (terminal.session?.isDryRun !== true) return;
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
    clients.map((group) => [
      group.channel,
      group.target,
      installedText(group),
      `${answerText(group.before)} → ${answerText(group.after)}`,
    ]),
  );
}

type Row = readonly [sign: '+' | '-' | '~', channel: string, what: string, detail: string];

function changeRows(change: ChannelChange): readonly Row[] {
  const { channel } = change;
  switch (change.kind) {
    case 'channel_created':
      return [['+', channel, 'channel', 'new']];
    case 'channel_removed':
      return [['-', channel, 'channel', 'removed']];
    case 'setting_changed':
      return [['~', channel, ...settingTexts(change)]];
    case 'draft_changed': {
      const { version, before, after } = change;
      if (after === null) return [['-', channel, version, 'no longer a draft']];
      if (before === null) return [['+', channel, version, `draft: ${after.join(', ')}`]];
      return [['~', channel, version, `draft: ${listText(before, after)}`]];
    }
    case 'offer_added': {
      const { status, rollout, builds } = change.offer;
      const to = status === 'active' ? `, to ${rolloutText(rollout)}` : '';
      return [['+', channel, change.version, `${status}${to}: ${builds.join(', ')}`]];
    }
    case 'offer_removed':
      return [['-', channel, change.version, change.isRetired ? 'retired' : 'no longer listed']];
    case 'offer_changed':
      return fieldTexts(change.fields).map((text) => ['~', channel, change.version, text]);
  }
}

/** As `slipway channels` names the settings, with the value of one that is not set. */
const SETTINGS: Readonly<Record<string, readonly [name: string, absent: string]>> = {
  keep: ['keep', 'all'],
  early_access: ['early access', 'off'],
  allow_downgrade: ['downgrade', 'off'],
};

function settingTexts({ field, before, after }: FieldChange): readonly [string, string] {
  const [name, absent] = SETTINGS[field] ?? [field, 'none'];
  const textOf = (value: unknown): string => {
    if (value === undefined) return absent;
    if (value === true) return 'on';
    return isTexts(value) ? value.join(',') : String(value);
  };
  return [name, `${textOf(before)} → ${textOf(after)}`];
}

/** The operator's words for the fields of an offer. Any other field keeps its name. */
const NAMES: Readonly<Record<string, string>> = {
  endsNative: 'ends native builds',
  mandatoryFor: 'mandatory for',
};

/** One text for each field; the reason is in that of the status. */
function fieldTexts(fields: readonly FieldChange[]): readonly string[] {
  const reason = fields.find(({ field }) => field === 'reason');
  if (reason === undefined || !fields.some(({ field }) => field === 'status')) {
    return fields.map(fieldText);
  }
  const why = typeof reason.after === 'string' ? ` (${reason.after})` : '';
  return fields
    .filter((field) => field !== reason)
    .map((field) => `${fieldText(field)}${field.field === 'status' ? why : ''}`);
}

function fieldText(change: FieldChange): string {
  const { field, before, after } = change;
  const name = NAMES[field] ?? field;
  if (field === 'builds' && isTexts(before) && isTexts(after))
    return `${name} ${listText(before, after)}`;
  return `${name} ${valuesText(change)}`;
}

function valuesText({ before, after }: FieldChange): string {
  return `${valueText(before)} → ${valueText(after)}`;
}

/** `+linux-x64 deb, -macos-x64 zip` */
function listText(before: readonly string[], after: readonly string[]): string {
  return [
    ...after.filter((item) => !before.includes(item)).map((item) => `+${item}`),
    ...before.filter((item) => !after.includes(item)).map((item) => `-${item}`),
  ].join(', ');
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (isTexts(value)) return value.join(', ') || 'none';
  return isRollout(value) ? rolloutText(value) : JSON.stringify(value);
}

function rolloutText({ share, plan, isFrozen }: ComparedRollout): string {
  if (share === ALL_CLIENTS) return EVERY_CLIENT;
  const percentage = shareText(share);
  const planned =
    plan === null || plan === percentage || `${plan}%` === percentage ? '' : ` (${plan})`;
  return `${percentage}${planned}${isFrozen ? ', frozen' : ''}`;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isRollout(value: unknown): value is ComparedRollout {
  return typeof value === 'object' && value !== null && 'share' in value && 'isFrozen' in value;
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
