import type { SettingsJson } from '../catalog/settings-document.ts';
import { type MinisignPublicKey, parseMinisignKey } from '../domain/minisign.ts';
import { AppError, isAppError } from '../errors.ts';

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

/** @param settings as stored. @throws AppError `document_corrupt`: no command stores a text that is no public key */
export function applicationSettingsOf({ tauri_pubkey: key }: SettingsJson): ApplicationSettings {
  if (key === undefined) return { tauriPubkey: null };
  try {
    return { tauriPubkey: parseMinisignKey(key) };
  } catch (error) {
    if (!isAppError(error, 'invalid_request')) throw error;
    throw new AppError(
      'document_corrupt',
      'The public key for Tauri in the settings of the application is not a minisign key: the newest catalog revision was edited. Restore it from a backup.',
      { cause: error },
    );
  }
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
