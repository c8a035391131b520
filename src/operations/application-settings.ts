import type { SettingsJson } from '../catalog/settings-document.ts';
import { type MinisignPublicKey, parseMinisignKey } from '../domain/minisign.ts';
import { parseSparkleKey, type SparklePublicKey } from '../domain/sparkle-key.ts';
import { AppError, isAppError } from '../errors.ts';
import { isEdPublicKey } from './ed25519.ts';

/** The settings of an application, for operators. */
export interface ApplicationSettings {
  /** Verifies the signatures of Tauri builds before they are published; null: nothing is verified. */
  readonly tauriPubkey: MinisignPublicKey | null;
  /** Verifies the signatures of Sparkle, WinSparkle and NetSparkle; null: nothing is verified. */
  readonly sparklePubkey: SparklePublicKey | null;
}

/** What a publisher states of the settings. A setting that is undefined stays as it is; null removes it. */
export interface StatedSettings {
  /** As {@link parseMinisignKey} takes it. */
  readonly tauriPubkey?: string | null | undefined;
  /** As {@link parseSparkleKey} takes it. */
  readonly sparklePubkey?: string | null | undefined;
}

/** @param settings as stored. @throws AppError `document_corrupt`: no command stores a text that is no public key */
export function applicationSettingsOf(settings: SettingsJson): ApplicationSettings {
  const { tauri_pubkey, sparkle_pubkey } = settings;
  return {
    tauriPubkey: storedKey(tauri_pubkey, parseMinisignKey, 'Tauri in', 'a minisign key'),
    sparklePubkey: storedKey(sparkle_pubkey, parseSparkleKey, 'Sparkle in', 'base64 of 32 bytes'),
  };
}

function storedKey<Key>(
  text: string | undefined,
  parse: (text: string) => Key,
  whose: string,
  wanted: string,
): Key | null {
  if (text === undefined) return null;
  try {
    return parse(text);
  } catch (error) {
    if (!isAppError(error, 'invalid_request')) throw error;
    throw new AppError(
      'document_corrupt',
      `The public key for ${whose} the settings of the application is not ${wanted}: the newest catalog revision was edited. Restore it from a backup.`,
      { cause: error },
    );
  }
}

/** The settings with those that are stated. @throws AppError `invalid_request` for a text that is no public key */
export function withStatedSettings(settings: SettingsJson, stated: StatedSettings): SettingsJson {
  const { tauriPubkey, sparklePubkey } = stated;
  let changed = settings;
  if (tauriPubkey !== undefined) {
    const { tauri_pubkey: _before, ...others } = changed;
    changed =
      tauriPubkey === null
        ? others
        : { ...others, tauri_pubkey: parseMinisignKey(tauriPubkey).text };
  }
  if (sparklePubkey !== undefined) {
    const { sparkle_pubkey: _before, ...others } = changed;
    changed =
      sparklePubkey === null
        ? others
        : { ...others, sparkle_pubkey: parseUsableKey(sparklePubkey).text };
  }
  return changed;
}

/** Refuses bytes with which no signature is valid. The message does not repeat them: they may be a private key. */
function parseUsableKey(text: string): SparklePublicKey {
  const key = parseSparkleKey(text);
  if (isEdPublicKey(key.bytes)) return key;
  throw new AppError(
    'invalid_request',
    'These 32 bytes are no public key of Ed25519: nothing was stored. If they are the private key that "generate_keys -x" exports, it stays with its owner. Give the public key instead, which "generate_keys -p" prints.',
  );
}

/** The settings by the names of the options that change them. A key of Tauri is named by its id. */
export function applicationSettingTexts(settings: ApplicationSettings): Record<string, string> {
  return {
    'tauri pubkey': settings.tauriPubkey?.keyId ?? 'none',
    'sparkle pubkey': settings.sparklePubkey?.text ?? 'none',
  };
}
