import type { CommandConfig, Environment, Facts } from '../cli/facts.ts';
import { loadConfig, SETTING_GROUPS } from '../config.ts';
import { FACTS } from './facts.ts';

/** The facts about all rooms and features that commands get. */
export const COMMAND_FACTS: Facts = {
  // `loadConfig` returns the settings of every area, so each feature finds its own settings.
  loadConfig: loadConfig satisfies (env: Environment) => CommandConfig as Facts['loadConfig'],
  settingGroups: SETTING_GROUPS,
  keys: FACTS.flatMap((each) => ('keys' in each ? [each.keys] : [])),
};
