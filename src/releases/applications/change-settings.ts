import { isDeepStrictEqual } from 'node:util';
import { type Committed, changeCatalog, type WriterDeps } from '../../catalog/change.ts';
import type { SettingsJson } from '../../catalog/documents/settings-document.ts';
import { readCatalog } from '../../catalog/find-revision.ts';
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
  // Refused before any request to the store.
  withStatedSettings({}, request.stated);
  const { signed } = await readCatalog(deps, application);
  const planned = applicationSettingsOf(withStatedSettings(signed.settings ?? {}, request.stated));
  // Before the commit: a store that fails here has changed nothing.
  const offers = Object.values(signed.channels).flatMap((channel) => channel.offers);
  const found = await findOtherKeys(deps, application, offers, planned.tauriPubkey);
  let settingsBefore = applicationSettingsOf(signed.settings ?? {});
  let after: SettingsJson = {};
  const committed = await changeCatalog(deps, application, (channels, { settings: present }) => {
    settingsBefore = applicationSettingsOf(present);
    after = withStatedSettings(present, request.stated);
    if (isDeepStrictEqual(present, after)) return undefined;
    const before = applicationSettingTexts(settingsBefore);
    const texts = Object.entries(applicationSettingTexts(applicationSettingsOf(after))).filter(
      ([name, value]) => before[name] !== value,
    );
    return {
      change: {
        kind: 'settings',
        version: null,
        channels: [],
        reason: request.reason,
        summary: `set ${texts.map(([name, value]) => `${name} ${value}`).join(', ')}`,
      },
      channels,
      settings: after,
    };
  });
  return { ...committed, settingsBefore, settings: applicationSettingsOf(after), ...found };
}
