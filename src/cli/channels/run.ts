import { channelEntries } from '../../catalog/documents/revision-document.ts';
import { findRevision } from '../../catalog/reading/find-revision.ts';
import { AppError } from '../../core/errors.ts';
import type { RevisionReference } from '../../domain/revision-reference.ts';
import type { Target } from '../../domain/target.ts';
import {
  type ChannelRequest,
  changeChannel,
  planChannel,
} from '../../releases/channels/change-channel.ts';
import {
  type ChannelSettings,
  changedSettings,
  type ShownSettings,
  settingsOf,
  settingTexts,
} from '../../releases/channels/channel-settings.ts';
import { listReleases } from '../../releases/list/list-releases.ts';
import type { ChangeOptions, Clearable } from '../arguments.ts';
import { requireConsent } from '../consent.ts';
import { type Context, openContext } from '../context.ts';
import { differenceJson, printDifference } from '../forecast/difference-report.ts';
import { printUnrecorded } from '../ignored-options.ts';
import { printJson, printTable, printWhenLive } from '../output.ts';
import { sayState, stateJson } from '../state-report.ts';
import { print, type Terminal } from '../terminal.ts';
import { clientEffects, restrictedSentences, settingsJson } from './channel-report.ts';

export async function listChannels(
  terminal: Terminal,
  options: {
    readonly app?: string;
    readonly at?: RevisionReference;
    readonly json: boolean;
  },
): Promise<void> {
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  const found = await findRevision(context, application, options.at);
  const { signed } = found.revision;
  const listed = listReleases(signed);
  const rows = channelEntries(signed.channels).map(([name, channel]) => ({
    name,
    newest:
      listed.find((item) => item.channel === name && item.offer.status === 'active')?.offer
        .version ?? null,
    offers: channel.offers.length,
    retired: channel.retired.length,
    settings: settingsOf(channel),
    restricted: context.config.accounts.tiers.restricts(application, name),
  }));
  if (options.json) {
    const channels = rows.map(({ settings, ...row }) => ({ ...row, ...settingsJson(settings) }));
    printJson(terminal, { app: application, ...stateJson(found), channels });
    return;
  }
  sayState(terminal, options.at, found);
  print(
    terminal,
    `Channels of ${application} in ${context.place.text} (catalog revision ${signed.revision}):`,
  );
  printTable(
    terminal,
    [
      'channel',
      'newest',
      'offers',
      'retired',
      'inherits',
      'keep',
      'expect',
      'early access',
      'downgrade',
    ],
    rows.map(({ name, newest, offers, retired, settings }) => [
      name,
      newest ?? '',
      String(offers),
      String(retired),
      ...Object.values({
        ...settingTexts(settings),
        // The table has to fit into a terminal, so the targets follow below it.
        expect: settings.expect.length === 0 ? 'none' : String(settings.expect.length),
      }),
    ]),
  );
  for (const { name, settings } of rows) {
    if (settings.expect.length === 0) continue;
    print(terminal, `A release on ${name} must have ${settings.expect.join(', ')}.`);
  }
  const names = rows.map(({ name }) => name);
  for (const sentence of restrictedSentences(context.config, application, names)) {
    print(terminal, sentence);
  }
}

interface SettingOptions extends ChangeOptions {
  readonly app?: string;
  readonly reason?: string;
  readonly inherits?: Clearable<string>;
  readonly keep?: Clearable<number>;
  readonly expect?: readonly Target[];
  readonly earlyAccess?: boolean;
  readonly allowDowngrade?: boolean;
}

const settingsIn = (options: SettingOptions): ChannelSettings => ({
  inherits: options.inherits?.to,
  keep: options.keep?.to,
  expect: options.expect,
  givesEarlyAccess: options.earlyAccess,
  allowsDowngrade: options.allowDowngrade,
});

export async function create(
  terminal: Terminal,
  channel: string,
  options: SettingOptions & { readonly create: boolean },
): Promise<void> {
  const context = await openContext(terminal, { mayBeNew: options.create });
  const { create: isNew } = options;
  const action = { kind: 'create', settings: settingsIn(options), create: isNew } as const;
  await change(terminal, context, requestOf(context, channel, options, action), options);
}

export async function set(
  terminal: Terminal,
  channel: string,
  options: SettingOptions,
): Promise<void> {
  const settings = settingsIn(options);
  if (Object.values(settings).every((value) => value === undefined)) {
    throw new AppError(
      'invalid_request',
      `Say what to change on ${channel}: --inherits, --keep, --expect, --early-access or --allow-downgrade. "slipway channels" shows the present settings.`,
    );
  }
  const context = await openContext(terminal);
  const request = requestOf(context, channel, options, { kind: 'set', settings });
  await change(terminal, context, request, options);
}

export async function remove(
  terminal: Terminal,
  channel: string,
  options: ChangeOptions & {
    readonly app?: string;
    readonly reason?: string;
    readonly force: boolean;
  },
): Promise<void> {
  const context = await openContext(terminal);
  const { force } = options;
  const request = requestOf(context, channel, options, { kind: 'remove', force });
  await change(terminal, context, request, options);
}

function requestOf(
  { config }: Context,
  channel: string,
  options: { readonly app?: string; readonly reason?: string },
  action: ChannelRequest['action'],
): ChannelRequest {
  const application = options.app ?? config.defaultApplication;
  return { application, channel, action, reason: options.reason ?? null };
}

/** The settings of a channel that `create` makes without options. */
const DEFAULTS = settingsOf({ inherits: null, offers: [], retired: [] });

const PARTICIPLES = { create: 'Created', set: 'Changed', remove: 'Removed' } as const;

/** An attacker with the bucket and an operator's key can show the former settings to a process that remembers nothing. */
const FINAL =
  'To make this final against an attacker with the bucket and the key of an operator: slipway trust rotate, then replace TRUST_ROOT on each machine.';

/** True when clients could do something with the former settings that they must not do any more. */
function takesBack(before: ShownSettings | null, after: ShownSettings | null): boolean {
  if (before === null) return false;
  const inherited = before.inherits !== null && before.inherits !== after?.inherits;
  return inherited || (before.allowsDowngrade && after?.allowsDowngrade !== true);
}

/** Makes the change and prints it. When the change affects clients, it asks the operator first. */
async function change(
  terminal: Terminal,
  context: Context,
  request: ChannelRequest,
  { json }: Pick<ChangeOptions, 'json'>,
): Promise<void> {
  const { application, action } = request;
  if (action.kind !== 'create') {
    const effects = clientEffects(await planChannel(context, request), false);
    if (effects.length > 0) await requireConsent(terminal, effects.join('\n'));
  }
  const changed = await changeChannel(context, request);
  const { channel, revision, settings, settingsBefore, dropped, clients } = changed;
  if (json) {
    printJson(terminal, {
      app: application,
      channel,
      catalog_revision: revision,
      changed: changed.changed,
      settings: settingsJson(settings),
      settings_before: settingsJson(settingsBefore),
      dropped,
      clients,
      ...(await differenceJson(terminal, context, application, changed)),
    });
    return;
  }
  const where = `${application} in ${context.place.text}`;
  const at = `(catalog revision ${revision})`;
  if (!changed.changed) {
    print(terminal, `Nothing to do: the channel ${channel} of ${where} has these settings ${at}.`);
    printUnrecorded(terminal, request.reason);
    return;
  }
  print(terminal, `${PARTICIPLES[action.kind]} the channel ${channel} of ${where} ${at}.`);
  const rows = settings === null ? [] : changedSettings(settingsBefore ?? DEFAULTS, settings);
  if (rows.length > 0) {
    const isNew = settingsBefore === null;
    const header = isNew ? ['setting', 'now'] : ['setting', 'before', 'now'];
    const shown = isNew ? rows.map(([name, , value]) => [name, value]) : rows;
    printTable(terminal, header, shown);
  }
  if (settingsBefore === null && settings !== null && settings.inherits !== null) {
    print(terminal, `Its clients also get the releases of ${settings.inherits}.`);
  }
  for (const line of clientEffects(changed, true)) print(terminal, line);
  if (context.trust.of(application) !== undefined && takesBack(settingsBefore, settings)) {
    print(terminal, FINAL);
  }
  printWhenLive(terminal, context, changed.announced);
  await printDifference(terminal, context, application, changed);
}
