import path from 'node:path';
import { z } from 'zod';
import {
  type AccountsConfig,
  accountSettings,
  accountsOf,
  missingAccountSettings,
} from './config/accounts.ts';
import { type BrandConfig, brandConfigOf, brandSettings } from './config/brand.ts';
import {
  type CaptchaConfig,
  type ContactConfig,
  captchaOf,
  contactOf,
  contactSettings,
  missingContactSettings,
} from './config/contact.ts';
import { type LegacyConfig, legacyOf, legacySettings } from './config/legacy.ts';
import { metricsSettings } from './config/metrics.ts';
import { type GivenSettings, isProduction } from './config/rules.ts';
import {
  type LogFormat,
  type LoggedRequests,
  type LogLevel,
  missingServiceSettings,
  serviceSettings,
} from './config/service.ts';
import { factsOf, type SettingFacts, type ValuesOf } from './config/setting.ts';
import {
  missingStoreSettings,
  type S3Access,
  type StoreConfig,
  s3AccessOf,
  storeOf,
  storeSettings,
} from './config/store.ts';
import { AppError, type FieldIssue } from './errors.ts';
import type { Secret } from './secret.ts';

/** The settings of the service and of the command line: an environment record in, a frozen value out. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** How many processes answer on the port; `auto`: one for each processor. */
  readonly workers: number | 'auto';
  /** Without a trailing slash; undefined outside production: the address listened on. */
  readonly publicUrl: string | undefined;
  readonly store: StoreConfig;
  /** For buckets beside the store. */
  readonly s3Access: S3Access;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly urlSigningSecret: Secret | undefined;
  /** Without a trailing slash; undefined: every file gets a presigned URL. */
  readonly publicFilesUrl: string | undefined;
  readonly defaultApplication: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly loggedRequests: LoggedRequests;
  readonly metricsHost: string;
  /** Undefined: port 9464, or no metrics when that port is taken. */
  readonly metricsPort: number | undefined;
  readonly catalogPollMs: number;
  readonly catalogStaleMaxMs: number;
  readonly checkAgainAfterSeconds: number;
  /** As Fastify's `trustProxy`. */
  readonly trustProxy: boolean | string;
  /** The bucket of everything that the service writes; undefined: the bucket of the releases. */
  readonly privateBucket: string | undefined;
  readonly accounts: AccountsConfig;
  readonly legacy: LegacyConfig;
  readonly brand: BrandConfig;
  readonly captcha: CaptchaConfig;
  readonly contact: ContactConfig;
  readonly countersFlushMs: number;
  /** Public metrics do not show groups smaller than this. */
  readonly publicGroupMin: number;
  /** Requests a minute from one address to one replica: to sign in or register, and to send a message. */
  readonly authPerAddress: number;
  readonly contactPerAddress: number;
  /** Without a trailing slash; undefined: the process answers itself. */
  readonly monitoringUpstream: string | undefined;
}

const SETTINGS = {
  ...serviceSettings,
  ...brandSettings,
  ...legacySettings,
  ...storeSettings,
  ...accountSettings,
  ...contactSettings,
  ...metricsSettings,
};
const environment = z.object(SETTINGS);

/** Every setting with its description, in the groups of the settings reference. */
export const SETTING_GROUPS: readonly {
  readonly title: string;
  readonly settings: readonly (SettingFacts & { readonly name: string })[];
}[] = Object.entries({
  'The service': serviceSettings,
  'The public pages': brandSettings,
  'Addresses of other update servers': legacySettings,
  'The store': storeSettings,
  Accounts: accountSettings,
  'The contact form': contactSettings,
  'Metrics and monitoring': metricsSettings,
}).map(([title, settings]) => ({
  title,
  settings: Object.entries(settings).map(([name, schema]) => ({ name, ...factsOf(schema) })),
}));

/**
 * @param env usually `process.env`; a blank value counts as not set
 * @param program the command line needs no settings that only serving needs
 * @throws AppError `invalid_configuration`, naming every wrong setting at once, and never a secret
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
  issues.push(...missingStoreSettings(given));
  if (program === 'service') issues.push(...missingSettings(given));
  if (!parsed.success || issues.length > 0) throw refuse(issues);
  return configOf(parsed.data, isProduction(given));
}

/** Settings that the service needs because of other settings. */
function missingSettings(given: GivenSettings): FieldIssue[] {
  return [
    ...missingServiceSettings(given),
    ...missingAccountSettings(given),
    ...missingContactSettings(given),
  ];
}

function configOf(env: ValuesOf<typeof SETTINGS>, inProduction: boolean): Config {
  return Object.freeze({
    production: inProduction,
    host: env.HOST,
    port: env.PORT,
    workers: env.WORKERS,
    publicUrl: env.PUBLIC_URL,
    store: Object.freeze(storeOf(env)),
    s3Access: Object.freeze(s3AccessOf(env)),
    dataDirectory: path.resolve(env.DATA_DIR),
    urlSigningSecret: env.URL_SIGNING_SECRET,
    publicFilesUrl: env.PUBLIC_FILES_URL,
    defaultApplication: env.DEFAULT_APP,
    logLevel: env.LOG_LEVEL,
    logFormat: env.LOG_FORMAT,
    loggedRequests: env.ACCESS_LOG,
    metricsHost: env.METRICS_HOST,
    metricsPort: env.METRICS_PORT,
    catalogPollMs: env.CATALOG_POLL_INTERVAL,
    catalogStaleMaxMs: env.CATALOG_STALE_MAX,
    checkAgainAfterSeconds: env.CHECK_AGAIN_AFTER / 1000,
    trustProxy: env.TRUST_PROXY,
    privateBucket: env.OBJECT_STORE === 's3' ? env.S3_PRIVATE_BUCKET : undefined,
    accounts: Object.freeze(accountsOf(env, inProduction)),
    legacy: Object.freeze(legacyOf(env)),
    brand: Object.freeze(brandConfigOf(env)),
    captcha: Object.freeze(captchaOf(env, inProduction)),
    contact: Object.freeze(contactOf(env)),
    countersFlushMs: env.COUNTERS_FLUSH_INTERVAL,
    publicGroupMin: env.PUBLIC_GROUP_MIN,
    authPerAddress: env.AUTH_PER_ADDRESS,
    contactPerAddress: env.CONTACT_PER_ADDRESS,
    monitoringUpstream: env.MONITORING_UPSTREAM,
  });
}

function refuse(issues: readonly FieldIssue[]): AppError {
  const lines = issues.map(({ pointer, detail }) => `  ${pointer.slice(1)}: ${detail}`);
  return new AppError(
    'invalid_configuration',
    `These settings are wrong (docs/operations/settings.md in Slipway's repository lists all settings):\n${lines.join('\n')}`,
    { issues },
  );
}
