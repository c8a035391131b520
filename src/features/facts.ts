import { catalogKeys } from '../catalog/facts.ts';
import type { CommandConfig, Environment, Facts } from '../cli/facts.ts';
import { loadConfig, SETTING_GROUPS } from '../config.ts';
import { housekeepingKeys } from '../server/housekeeping/keys.ts';
import { probeKeys } from '../store/keys.ts';
import { usageKeys } from '../usage/facts.ts';
import { accountKeys } from './accounts/facts.ts';
import { contactKeys } from './contact/facts.ts';

/** What every command that opens a store may need to know. Its imports load no code of the service. */
export const FACTS: Facts = {
  // It returns the settings of every area, so each feature finds its own.
  loadConfig: loadConfig satisfies (env: Environment) => CommandConfig as Facts['loadConfig'],
  settingGroups: SETTING_GROUPS,
  // In the order in which a copy lists what names other objects: the lists of applications first.
  keys: [probeKeys, housekeepingKeys, catalogKeys, accountKeys, contactKeys, usageKeys],
};
