import {
  DISPLAY_NAME_LENGTH_MAX,
  isStorableName,
  type SettingsJson,
} from '../../catalog/documents/settings-document.ts';
import { isEdPublicKey } from '../../core/ed25519-point.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { type MinisignPublicKey, parseMinisignKey } from '../../domain/minisign.ts';
import { REQUIREMENTS, type Requirement } from '../../domain/signing-facts.ts';
import { parseSparkleKey, type SparklePublicKey } from '../../domain/sparkle-key.ts';

/** The settings of an application, for operators. */
export interface ApplicationSettings {
  /** The name that pages and the console show; null: the application's name. */
  readonly displayName: string | null;
  /** The key that verifies the signatures of Tauri builds before they are published; null: nothing is verified. */
  readonly tauriPubkey: MinisignPublicKey | null;
  /** The key that verifies the signatures of Sparkle, WinSparkle and NetSparkle; null: nothing is verified. */
  readonly sparklePubkey: SparklePublicKey | null;
  /** What `publish` requires of the signatures of a new release. */
  readonly require: readonly Requirement[];
}

/** The settings with which signatures are verified. */
export type PublicKeySettings = Pick<ApplicationSettings, 'tauriPubkey' | 'sparklePubkey'>;

/** The settings that a publisher states. A setting that is undefined stays as it is; null removes it. */
export interface StatedSettings {
  /** A name that {@link checkDisplayName} accepts; the command removes spaces around the name. */
  readonly displayName?: string | null | undefined;
  /** A text that {@link parseMinisignKey} accepts. */
  readonly tauriPubkey?: string | null | undefined;
  /** A text that {@link parseSparkleKey} accepts. */
  readonly sparklePubkey?: string | null | undefined;
  /** The complete list. */
  readonly require?: readonly Requirement[] | undefined;
}

/**
 * @param settings the stored settings
 * @throws AppError `document_corrupt` for a display name or public key that no command stores
 */
export function applicationSettingsOf(settings: SettingsJson): ApplicationSettings {
  const { display_name, tauri_pubkey, sparkle_pubkey, require = [] } = settings;
  return {
    displayName: stored(
      display_name,
      checkDisplayName,
      'display name',
      'one that a command stores',
    ),
    tauriPubkey: stored(tauri_pubkey, parseMinisignKey, 'public key for Tauri', 'a minisign key'),
    sparklePubkey: stored(
      sparkle_pubkey,
      parseSparkleKey,
      'public key for Sparkle',
      'base64 of 32 bytes',
    ),
    require,
  };
}

function stored<T>(
  text: string | undefined,
  parse: (text: string) => T,
  what: string,
  wanted: string,
): T | null {
  if (text === undefined) return null;
  try {
    return parse(text);
  } catch (error) {
    if (!isAppError(error, 'invalid_request')) throw error;
    throw new AppError(
      'document_corrupt',
      `The ${what} in the settings of the application is not ${wanted}: the newest catalog revision was edited. Restore it from a backup.`,
      { cause: error },
    );
  }
}

/** Replaces the stated settings. @throws AppError `invalid_request` for a text that is no such setting */
export function withStatedSettings(settings: SettingsJson, stated: StatedSettings): SettingsJson {
  const { displayName, tauriPubkey, sparklePubkey, require } = stated;
  let changed = settings;
  if (displayName !== undefined) {
    const { display_name: _before, ...others } = changed;
    changed =
      displayName === null
        ? others
        : { ...others, display_name: checkDisplayName(displayName.trim()) };
  }
  if (tauriPubkey !== undefined) {
    const { tauri_pubkey: _before, ...others } = changed;
    changed =
      tauriPubkey === null
        ? others
        : { ...others, tauri_pubkey: parseUsableTauriKey(tauriPubkey).text };
  }
  if (sparklePubkey !== undefined) {
    const { sparkle_pubkey: _before, ...others } = changed;
    changed =
      sparklePubkey === null
        ? others
        : { ...others, sparkle_pubkey: parseUsableSparkleKey(sparklePubkey).text };
  }
  if (require !== undefined) {
    const { require: _before, ...others } = changed;
    // In the order of the list, so that the same requirements are the same setting.
    const ordered = REQUIREMENTS.filter((each) => require.includes(each));
    changed = ordered.length === 0 ? others : { ...others, require: ordered };
  }
  return changed;
}

/** @returns the name. @throws AppError `invalid_request` */
function checkDisplayName(name: string): string {
  if (isStorableName(name)) return name;
  throw new AppError('invalid_request', `The display name ${flawOf(name)}`);
}

function flawOf(name: string): string {
  if (name === '') {
    return `is empty. Give 1 to ${DISPLAY_NAME_LENGTH_MAX} characters, or "none" to remove it.`;
  }
  if (name.length > DISPLAY_NAME_LENGTH_MAX) {
    return `has ${name.length} characters, and at most ${DISPLAY_NAME_LENGTH_MAX} are possible. Shorten it.`;
  }
  return 'has a line break, a control character or an invisible character. Remove it.';
}

/**
 * Refuses a key with which no signature is valid. The message does not repeat the key, because it may be a private key.
 */
function parseUsableSparkleKey(text: string): SparklePublicKey {
  const key = parseSparkleKey(text);
  if (isEdPublicKey(key.bytes)) return key;
  throw new AppError(
    'invalid_request',
    'These 32 bytes are no public key of Ed25519: nothing was stored. If they are the private key that "generate_keys -x" exports, it stays with its owner. Give the public key instead, which "generate_keys -p" prints.',
  );
}

/** Refuses a key with which no signature is valid, and a key for which an attacker can sign. */
function parseUsableTauriKey(text: string): MinisignPublicKey {
  const key = parseMinisignKey(text);
  if (isEdPublicKey(key.bytes)) return key;
  throw new AppError(
    'invalid_request',
    `The key ${key.keyId} is no public key of Ed25519, or an attacker can sign without its private key: nothing was stored. Give the public key that "tauri signer generate" printed.`,
  );
}

/** The texts of the settings, by the names of the options that change them. The text of a Tauri key is its id. */
export function applicationSettingTexts(settings: ApplicationSettings): Record<string, string> {
  return {
    'display name': settings.displayName ?? 'none',
    'tauri pubkey': settings.tauriPubkey?.keyId ?? 'none',
    'sparkle pubkey': settings.sparklePubkey?.text ?? 'none',
    require: settings.require.join(',') || 'none',
  };
}
