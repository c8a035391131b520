import type { CommandSettings } from '../catalog/documents/settings.ts';
import type { KeyArea } from '../core/key-facts.ts';
import type { SettingGroup } from '../core/settings/setting.ts';
import type { TierSettings } from '../domain/tier.ts';
import type { TrustSettings } from '../releases/trust/settings.ts';
import type { StoreSettings } from '../store/open/settings.ts';
import type { UsageSettings } from '../usage/settings.ts';

/**
 * Commands know no feature. These facts about all rooms and features come to them from the lists.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that commands of the core use. */
export interface CommandConfig
  extends StoreSettings,
    CommandSettings,
    TierSettings,
    TrustSettings,
    Pick<UsageSettings, 'countersFlushMs'> {
  readonly publicUrl: string | undefined;
  /** See FILES_OFFLOAD. */
  readonly filesOffload: string;
}

export interface Facts {
  /**
   * Reads all settings. A feature names its own settings as `Own`.
   *
   * @param program `command`: settings that only the service requires may be missing
   * @throws AppError `invalid_configuration`; its message names every wrong setting at once, and never a secret
   */
  readonly loadConfig: <Own = unknown>(
    env: Environment,
    program: 'service' | 'command',
  ) => CommandConfig & Own;
  /** Every setting with its description, in the groups of the settings reference. */
  readonly settingGroups: readonly SettingGroup[];
  /** The keys of everything that is stored. */
  readonly keys: readonly KeyArea[];
}
