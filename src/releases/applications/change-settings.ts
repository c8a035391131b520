import { isDeepStrictEqual } from 'node:util';
import { readCatalog } from '../../catalog/reading/find-revision.ts';
import { type Committed, changeCatalog, type WriterDeps } from '../../catalog/writing/change.ts';
import { parseApplicationName } from '../../domain/channel.ts';
import { checkReason } from '../../domain/reason.ts';
import {
  type ApplicationSettings,
  applicationSettingsOf,
  applicationSettingTexts,
  type StatedSettings,
  withStatedSettings,
} from './application-settings.ts';
import { findOtherKeys, type OtherKeys } from './find-other-keys.ts';

export interface SettingsRequest {
  readonly application: string;
  readonly stated: StatedSettings;
  /** For the history. */
  readonly reason: string | null;
}

/** `otherKeys`: signatures of offered releases that clients with the new key refuse; empty when no key was set. */
export interface ChangedSettings extends Committed, OtherKeys {
  readonly settingsBefore: ApplicationSettings;
  readonly settings: ApplicationSettings;
}

/**
 * Changes the settings of an application in one commit.
 *
 * @throws AppError `invalid_name`; `invalid_request` for a setting that is refused; `unknown_application`
 */
export async function changeSettings(
  deps: WriterDeps,
  request: SettingsRequest,
): Promise<ChangedSettings> {
  checkReason(request.reason);
  const application = parseApplicationName(request.application);
  // Refuses a wrong setting before any request to the store.
  withStatedSettings({}, request.stated);
  const { signed } = await readCatalog(deps, application);
  const planned = applicationSettingsOf(withStatedSettings(signed.settings ?? {}, request.stated));
  // The search comes before the commit: when the store fails here, nothing has changed.
  const offers = Object.values(signed.channels).flatMap((channel) => channel.offers);
  const found = await findOtherKeys(deps, application, offers, planned.tauriPubkey);
  const { plan, ...committed } = await changeCatalog(
    deps,
    application,
    (channels, { settings: present }) => {
      const stated = withStatedSettings(present, request.stated);
      const settingsBefore = applicationSettingsOf(present);
      const settings = applicationSettingsOf(stated);
      const plan = { settingsBefore, settings };
      if (isDeepStrictEqual(present, stated)) return { edit: undefined, plan };
      const before = applicationSettingTexts(settingsBefore);
      const texts = Object.entries(applicationSettingTexts(settings)).filter(
        ([name, value]) => before[name] !== value,
      );
      const change = {
        kind: 'settings' as const,
        version: null,
        channels: [],
        reason: request.reason,
        summary: `set ${texts.map(([name, value]) => `${name} ${value}`).join(', ')}`,
      };
      return { edit: { change, channels, settings: stated }, plan };
    },
  );
  return { ...committed, ...plan, ...found };
}
