import { z } from 'zod';
import { AppError, type FieldIssue } from './core/errors.ts';
import { isProduction } from './core/settings/rules.ts';
import { factsOf, type SettingGroup } from './core/settings/setting.ts';
import { FACTS } from './features/facts.ts';

/** Reads the settings of the service and of the command line from an environment record into a frozen value. */

const AREAS = FACTS.flatMap((each) => ('settings' in each ? [each.settings] : []));

/** The settings of all areas. Each room and feature takes only its own part. */
export type Config = Intersection<ReturnType<(typeof AREAS)[number]['read']>>;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

const environment = z.object(
  Object.assign({}, ...AREAS.map(({ settings }) => settings)) as z.ZodRawShape,
);

/** Every setting with its description, in the groups of the settings reference. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  ...Map.groupBy(AREAS, ({ title }) => title),
].map(([title, areas]) => ({
  title,
  settings: areas.flatMap(({ settings }) =>
    Object.entries<z.ZodType>(settings).map(([name, schema]) => ({ name, ...factsOf(schema) })),
  ),
}));

/**
 * @param env usually `process.env`; a blank value counts as not set
 * @param program for `command`, settings that only serving needs may be missing
 * @throws AppError `invalid_configuration`, which names every wrong setting at once, and states no secret
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  program: 'service' | 'command' = 'service',
): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const parsed = environment.safeParse(given);
  const issues: FieldIssue[] = (parsed.error?.issues ?? []).map(({ path: names, message }) => ({
    pointer: `/${names.join('/')}`,
    detail: message,
  }));
  issues.push(...AREAS.flatMap((area) => area.findMissingForCommands?.(given) ?? []));
  if (program === 'service')
    issues.push(...AREAS.flatMap((area) => area.findMissing?.(given) ?? []));
  if (!parsed.success || issues.length > 0) throw refuse(issues);
  // Each area reads the values that its own schemas made.
  const values = parsed.data as never;
  const parts = AREAS.map((area) => area.read(values, isProduction(given)));
  return Object.freeze(Object.assign({}, ...parts) as Config);
}

/** The same settings for a service that uses no other service than the store of the releases. */
export function withoutOthers(config: Config): Config {
  return Object.freeze(
    Object.assign({}, config, ...AREAS.map((area) => area.withoutOthers?.(config))) as Config,
  );
}

function refuse(issues: readonly FieldIssue[]): AppError {
  const lines = issues.map(({ pointer, detail }) => `  ${pointer.slice(1)}: ${detail}`);
  return new AppError(
    'invalid_configuration',
    `These settings are wrong (docs/operations/settings.md in Slipway's repository lists all settings):\n${lines.join('\n')}`,
    { issues },
  );
}
