import type { SettingsJson } from '../catalog/settings-document.ts';
import { type MinisignPublicKey, parseMinisignKey } from '../domain/minisign.ts';

/** The settings of an application, for operators. */
export interface ApplicationSettings {
  /** Verifies the signatures of Tauri builds before they are published; null: nothing is verified. */
  readonly tauriPubkey: MinisignPublicKey | null;
}

/** What a publisher states of the settings. A setting that is undefined stays as it is; null removes it. */
export interface StatedSettings {
  /** As {@link parseMinisignKey} takes it. */
  readonly tauriPubkey?: string | null | undefined;
}

export function applicationSettingsOf({ tauri_pubkey: key }: SettingsJson): ApplicationSettings {
  return { tauriPubkey: key === undefined ? null : parseMinisignKey(key) };
}

/** The settings with those that are stated. @throws AppError `invalid_request` for a text that is no public key */
export function withStatedSettings(settings: SettingsJson, stated: StatedSettings): SettingsJson {
  if (stated.tauriPubkey === undefined) return settings;
  const { tauri_pubkey: _before, ...others } = settings;
  if (stated.tauriPubkey === null) return others;
  return { ...others, tauri_pubkey: parseMinisignKey(stated.tauriPubkey).text };
}

/** The settings by the names of the options that change them. A key is named by its id. */
export function applicationSettingTexts(settings: ApplicationSettings): Record<string, string> {
  return { 'tauri pubkey': settings.tauriPubkey?.keyId ?? 'none' };
}
