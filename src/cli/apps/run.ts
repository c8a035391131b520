import { counted } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import type { Requirement } from '../../domain/signing-facts.ts';
import {
  type ApplicationSettings,
  applicationSettingTexts,
} from '../../releases/applications/application-settings.ts';
import {
  type ChangedSettings,
  changeSettings,
} from '../../releases/applications/change-settings.ts';
import {
  type ListedApplication,
  listApplications,
} from '../../releases/applications/list-applications.ts';
import type { ChangeOptions } from '../arguments.ts';
import { openContext } from '../context.ts';
import { printUnrecorded } from '../ignored-options.ts';
import { readKey } from '../key-file.ts';
import { printJson, printTable } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';
import { otherKeyLines, otherKeysJson } from './other-keys-report.ts';

export async function list(
  terminal: Terminal,
  options: { readonly app?: string; readonly json: boolean },
): Promise<void> {
  const context = await openContext(terminal);
  const listed = await listApplications(context, options.app);
  if (options.json) return printJson(terminal, { apps: listed.map(applicationJson) });
  if (listed.length === 0) {
    print(
      terminal,
      `${context.place.text} has no application yet. Publish its first release: slipway publish VERSION PATH --create.`,
    );
    return;
  }
  print(terminal, `Applications in ${context.place.text}:`);
  printTable(
    terminal,
    [
      'app',
      'channels',
      'newest',
      'on',
      'revision',
      'display name',
      'tauri pubkey',
      'sparkle pubkey',
      'require',
    ],
    listed.map(applicationRow),
  );
}

function applicationRow(listed: ListedApplication): readonly string[] {
  if ('problem' in listed) return [listed.application, '', 'UNREADABLE', '', '', listed.problem];
  const { application, channels, newest, revision, settings } = listed;
  return [
    application,
    String(channels.length),
    newest?.version ?? '',
    newest?.channel ?? '',
    String(revision),
    ...Object.values(applicationSettingTexts(settings)),
  ];
}

function applicationJson(listed: ListedApplication): object {
  const { application: app } = listed;
  if ('problem' in listed) return { app, problem: listed.problem };
  const { channels, newest, revision, settings } = listed;
  return {
    app,
    catalog_revision: revision,
    channels,
    newest,
    settings: settingsJson(settings),
  };
}

function settingsJson(settings: ApplicationSettings): object {
  const { displayName, tauriPubkey: key, sparklePubkey, require } = settings;
  return {
    display_name: displayName,
    tauri_pubkey: key?.text ?? null,
    tauri_key_id: key?.keyId ?? null,
    sparkle_pubkey: sparklePubkey?.text ?? null,
    require,
  };
}

const NONE = 'none';
const DISPLAY_NAME = '--display-name';
const TAURI_PUBKEY = '--tauri-pubkey';
const SPARKLE_PUBKEY = '--sparkle-pubkey';

export async function set(
  terminal: Terminal,
  options: ChangeOptions & {
    readonly app?: string;
    readonly reason?: string;
    readonly displayName?: string;
    readonly tauriPubkey?: string;
    readonly sparklePubkey?: string;
    readonly require?: readonly Requirement[];
  },
): Promise<void> {
  const { displayName, tauriPubkey, sparklePubkey, require } = options;
  if ([displayName, tauriPubkey, sparklePubkey, require].every((each) => each === undefined)) {
    throw new AppError(
      'invalid_request',
      `Say what to change: ${DISPLAY_NAME}, ${TAURI_PUBKEY}, ${SPARKLE_PUBKEY} or --require. "slipway apps" shows the present settings.`,
    );
  }
  const stated = {
    displayName: displayName?.trim() === NONE ? null : displayName,
    tauriPubkey: await statedKey(tauriPubkey, TAURI_PUBKEY),
    sparklePubkey: await statedKey(sparklePubkey, SPARKLE_PUBKEY),
    require,
  };
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  const reason = options.reason ?? null;
  const changed = await changeSettings(context, { application, stated, reason });
  if (options.json) return printJson(terminal, { app: application, ...changedJson(changed) });
  const where = `${application} in ${context.place.text} (catalog revision ${changed.revision})`;
  print(
    terminal,
    changed.changed
      ? `Changed the settings of ${where}.`
      : `Nothing to do: ${where} has these settings.`,
  );
  if (changed.changed) printTable(terminal, ['setting', 'before', 'now'], changedRows(changed));
  else printUnrecorded(terminal, reason);
  const lines = [
    ...(tauriPubkey === undefined ? [] : tauriConsequences(changed)),
    ...(sparklePubkey === undefined ? [] : sparkleConsequences(changed)),
  ];
  for (const line of lines) print(terminal, line);
}

/** The key that an option states: undefined keeps the stored key, and null removes it. */
async function statedKey(
  given: string | undefined,
  option: string,
): Promise<string | null | undefined> {
  if (given === undefined) return undefined;
  return given === NONE ? null : readKey(given, option);
}

function changedJson(changed: ChangedSettings): object {
  return {
    catalog_revision: changed.revision,
    changed: changed.changed,
    settings: settingsJson(changed.settings),
    settings_before: settingsJson(changed.settingsBefore),
    ...otherKeysJson(changed),
  };
}

function changedRows({ settingsBefore, settings }: ChangedSettings) {
  const before = applicationSettingTexts(settingsBefore);
  return Object.entries(applicationSettingTexts(settings))
    .map(([name, now]) => [name, before[name] ?? '', now])
    .filter(([, old, now]) => old !== now);
}

function sparkleConsequences({ settings: { sparklePubkey } }: ChangedSettings): readonly string[] {
  return sparklePubkey === null
    ? ['From now on, publish does not verify the signatures of Sparkle, WinSparkle and NetSparkle.']
    : [
        `From now on, publish verifies the signatures of Sparkle, WinSparkle and NetSparkle with the key ${sparklePubkey.text}. To verify those of published releases, run slipway verify --deep.`,
      ];
}

function tauriConsequences(changed: ChangedSettings): readonly string[] {
  const { settings, otherKeys } = changed;
  if (settings.tauriPubkey === null) {
    return ['The signatures of Tauri builds are not verified when they are published.'];
  }
  const { keyId } = settings.tauriPubkey;
  return [
    `From now on, publish verifies the signatures of Tauri builds with the key ${keyId}.`,
    ...(otherKeys.length === 0
      ? []
      : [
          `${counted(otherKeys.length, 'offered release')} ${otherKeys.length === 1 ? 'has' : 'have'} signatures of another key. They stay offered, but a client whose pubkey is ${keyId} refuses them:`,
        ]),
    ...otherKeyLines(changed),
  ];
}
