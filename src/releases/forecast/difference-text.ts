import { EVERY_CLIENT } from '../../catalog/reading/rollout-text.ts';
import { isRecord } from '../../core/json-record.ts';
import { ALL_CLIENTS } from '../../domain/rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import { answerText } from './clients-text.ts';
import type { ChannelChange, ComparedRollout, FieldChange } from './compare-channels.ts';
import type { ForeseenChange } from './foresee-changes.ts';

/** Texts about the differences that a change makes. */

/** What the clients of a group were offered before the change, and what they are offered after it. */
export function changedAnswers({ before, after }: ForeseenChange): readonly [string, string] {
  return [answerText(before), answerText(after)];
}

/** A sign, the channel, what changed there, and how. */
export type ChangeRow = readonly [
  sign: '+' | '-' | '~',
  channel: string,
  what: string,
  detail: string,
];

/** One row for each difference of a change. */
export function changeRows(change: ChannelChange): readonly ChangeRow[] {
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

/** The names of the settings as `slipway channels` prints them, each with the text for a setting that is not set. */
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

/** One text for each field. The text of the status includes the reason. */
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

export function isRollout(value: unknown): value is ComparedRollout {
  return isRecord(value) && 'share' in value && 'isFrozen' in value;
}
