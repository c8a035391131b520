import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { parseApplicationName } from './domain/channel.ts';
import { DEFAULT_TIERS, parseTierTable, type TierTable } from './domain/tier.ts';
import { AppError, type FieldIssue, isAppError } from './errors.ts';
import { signingKeysSchema } from './identity/access-tokens/signing-keys-schema.ts';
import { Secret } from './secret.ts';

/** The settings of the service and of the command line: an environment record in, a frozen value out. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** Without a trailing slash; undefined outside production: the address listened on. */
  readonly publicUrl: string | undefined;
  readonly store: StoreConfig;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly urlSigningSecret: Secret | undefined;
  readonly defaultApplication: string;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly metricsHost: string;
  /** Undefined: 9464, or a free port where that is taken. */
  readonly metricsPort: number | undefined;
  readonly catalogPollMs: number;
  readonly catalogStaleMaxMs: number;
  readonly checkAgainAfterSeconds: number;
  /** As Fastify's `trustProxy`. */
  readonly trustProxy: boolean | string;
  /** Where everything that the service writes goes; undefined: beside the releases. */
  readonly privateBucket: string | undefined;
  readonly accounts: AccountsConfig;
  readonly captcha: CaptchaConfig;
  readonly contact: ContactConfig;
  readonly countersFlushMs: number;
  /** Public metrics of fewer than this are not told apart from none. */
  readonly publicGroupMin: number;
  /** Requests a minute from one address and process: to sign in or register, and to send a message. */
  readonly authPerAddress: number;
  readonly contactPerAddress: number;
  /** Without a trailing slash; undefined: the process answers itself. */
  readonly monitoringUpstream: string | undefined;
}

export interface AccountsConfig {
  readonly provider: IdentityProviderConfig;
  readonly registration: (typeof REGISTRATIONS)[number];
  readonly sessionSecret: Secret | undefined;
  /** Private JWKS (RFC 7517); the first key signs, all of them verify. */
  readonly accessTokenKeys: Secret | undefined;
  /** Whether `web` clients get their refresh token as a cookie. */
  readonly cookieMode: boolean;
  readonly cookieSameSite: (typeof SAME_SITE)[number];
  /** Exact origins, `https://www.example.com`, that may sign in and send messages from a browser. */
  readonly websiteOrigins: readonly string[];
  readonly tiers: TierTable;
  readonly billingPortalUrl: string | undefined;
}

export type IdentityProviderConfig =
  | { readonly kind: 'off' | 'embedded' }
  | { readonly kind: 'gotrue'; readonly url: string; readonly apiKey: Secret };

export type CaptchaConfig =
  | { readonly kind: 'none' | 'missing' }
  | {
      readonly kind: (typeof CAPTCHA_SERVICES)[number];
      readonly secret: Secret;
      /** Where tokens are verified; undefined: the service's own address. */
      readonly verifyUrl: string | undefined;
      /** Names of the website that a token must come from; empty: any. */
      readonly hostnames: readonly string[];
    };

export interface ContactConfig {
  /** Undefined: messages are kept and not sent. */
  readonly mail:
    | { readonly smtpUrl: Secret; readonly from: string; readonly to: string }
    | undefined;
  readonly keptMs: number;
}

export type StoreConfig =
  | { readonly kind: 'filesystem' }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Without slashes at its ends; empty for none. */
      readonly prefix: string;
      readonly endpoint: string | undefined;
      readonly publicEndpoint: string | undefined;
      readonly region: string;
      readonly forcePathStyle: boolean;
    };

const SAME_SITE = ['Strict', 'Lax', 'None'] as const;
const CAPTCHA_SERVICES = ['turnstile', 'hcaptcha', 'recaptcha'] as const;
const IDENTITY_PROVIDERS = ['off', 'embedded', 'gotrue'] as const;
const REGISTRATIONS = ['open', 'invite', 'closed'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const SECRET_LENGTH_MIN = 32;
const SECONDS_BY_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'must be a port, 0 to 65535')
  .transform(Number);
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address', abort: true })
  .refine(
    (text) => new URL(text).search === '' && new URL(text).hash === '',
    'must not have a query',
  )
  .transform((text) => text.replace(/\/+$/, ''));
const flag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((text) => text === 'true' || text === '1');
const durationMs = z
  .string()
  .regex(/^\d{1,9}[smhd]$/, 'must be a number with its unit, such as 30s, 15m, 4h or 1d')
  .transform((text) => Number(text.slice(0, -1)) * (SECONDS_BY_UNIT[text.slice(-1)] ?? 1) * 1000)
  .refine((ms) => ms > 0, 'must be more than nothing');

const secret = z
  .string()
  .min(SECRET_LENGTH_MIN, `must have at least ${SECRET_LENGTH_MIN} characters`)
  .transform((text) => new Secret(text));
const bucketName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/, 'is not a bucket name');
const count = z
  .string()
  .refine((text) => /^\d{1,6}$/.test(text) && Number(text) > 0, 'must be a whole number from 1')
  .transform(Number);
const words = z.string().transform((text) => text.split(/[\s,]+/).filter((word) => word !== ''));
// What goes into a mail's header as it stands: one plain address.
const mailAddress = z.email('must be one mail address, such as hello@example.com');

/** What a path in PUBLIC_URL must not begin with: it could not be told from the service's own. */
const OWN_PATHS = 'api docs feeds files monitoring .well-known openapi.json livez readyz'.split(
  ' ',
);

const environment = z.object({
  NODE_ENV: z.string().optional(),
  PORT: port.default(8080),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: httpUrl
    .refine(
      (text) => !OWN_PATHS.includes(new URL(text).pathname.split('/')[1] ?? ''),
      `must not have a path that begins with one of the service's own: ${OWN_PATHS.join(', ')}`,
    )
    .optional(),
  OBJECT_STORE: z.enum(['filesystem', 's3']).default('filesystem'),
  DATA_DIR: z.string().default('./data'),
  S3_BUCKET: bucketName.optional(),
  S3_PRIVATE_BUCKET: bucketName.optional(),
  S3_PREFIX: z
    .string()
    .transform((text) => text.replace(/^\/+|\/+$/g, ''))
    .refine((text) => text === '' || text.split('/').every(isKeySegment), 'is not usable in keys')
    .default(''),
  S3_ENDPOINT: httpUrl.optional(),
  S3_PUBLIC_ENDPOINT: httpUrl.optional(),
  S3_REGION: z.string().optional(),
  AWS_REGION: z.string().optional(),
  S3_FORCE_PATH_STYLE: flag.optional(),
  URL_SIGNING_SECRET: secret.optional(),
  DEFAULT_APP: z.string().default('desktop').superRefine(isApplicationName),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: port.optional(),
  CATALOG_POLL_INTERVAL: durationMs
    .refine((ms) => ms <= 3_600_000, 'must be at most 1h')
    .default(2_000),
  CATALOG_STALE_MAX: durationMs.default(86_400_000),
  CHECK_AGAIN_AFTER: durationMs.default(4 * 3_600_000),
  TRUST_PROXY: z
    .string()
    .refine(isTrustProxy, 'must be true, false, or addresses such as 10.0.0.0/8,127.0.0.1')
    .optional(),
  IDENTITY_PROVIDER: z.enum(IDENTITY_PROVIDERS).optional(),
  REGISTRATION: z.enum(REGISTRATIONS).optional(),
  GOTRUE_URL: httpUrl.optional(),
  GOTRUE_API_KEY: z
    .string()
    .transform((text) => new Secret(text))
    .optional(),
  SESSION_SECRET: secret.optional(),
  ACCESS_TOKEN_KEYS: z
    .string()
    .refine(isPrivateKeySet, 'must be a JWKS of private Ed25519 keys; "slipway keys" makes one')
    .transform((text) => new Secret(text))
    .optional(),
  COOKIE_MODE: flag.default(false),
  COOKIE_SAMESITE: z.enum(SAME_SITE).default('Strict'),
  WEBSITE_ORIGINS: words
    .refine((origins) => origins.every(isOrigin), 'must be origins such as https://www.example.com')
    .default([]),
  TIERS: z
    .string()
    .transform((text, context): TierTable => readTiers(text, context))
    .optional(),
  BILLING_PORTAL_URL: httpUrl.optional(),
  CAPTCHA_PROVIDER: z.enum([...CAPTCHA_SERVICES, 'none']).optional(),
  CAPTCHA_SECRET: z
    .string()
    .transform((text) => new Secret(text))
    .optional(),
  CAPTCHA_VERIFY_URL: httpUrl.optional(),
  CAPTCHA_HOSTNAMES: words.default([]),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be smtp://user:password@host:port or smtps://…' })
    .transform((text) => new Secret(text))
    .optional(),
  CONTACT_FROM: mailAddress.optional(),
  CONTACT_TO: mailAddress.optional(),
  CONTACT_KEPT: durationMs.default(365 * 86_400_000),
  COUNTERS_FLUSH_INTERVAL: durationMs
    .refine((ms) => ms >= 1_000 && ms <= 3_600_000, 'must be from 1s to 1h')
    .default(60_000),
  PUBLIC_GROUP_MIN: count.default(10),
  AUTH_PER_ADDRESS: count.default(20),
  CONTACT_PER_ADDRESS: count.default(5),
  MONITORING_UPSTREAM: httpUrl.optional(),
});

/** Every variable that is read. */
export const SETTING_NAMES: readonly string[] = Object.keys(environment.shape);

type Environment = z.output<typeof environment>;

/**
 * @param env usually `process.env`; an empty value counts as none
 * @param program the command line needs no address to be reached at
 * @throws AppError `invalid_configuration`, naming every wrong setting at once, and never a value
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  program: 'service' | 'command' = 'service',
): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const parsed = environment.safeParse(set);
  const issues: FieldIssue[] = (parsed.error?.issues ?? []).map((issue) => ({
    pointer: `/${issue.path.join('/')}`,
    detail: issue.code === 'invalid_value' ? choiceOf(issue.values) : issue.message,
  }));
  if (set.OBJECT_STORE === 's3' && set.S3_BUCKET === undefined) {
    issues.push({ pointer: '/S3_BUCKET', detail: 'is required when OBJECT_STORE is s3' });
  }
  if (program === 'service') issues.push(...missingSettings(set));
  if (!parsed.success || issues.length > 0) throw refuse(issues);
  return configOf(parsed.data);
}

function choiceOf(values: readonly unknown[]): string {
  return `must be one of ${values.join(', ')}`;
}

/** Settings that others make necessary. */
function missingSettings(set: Readonly<Record<string, string | undefined>>): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const need = (name: string, why: string): void => {
    if (set[name] === undefined) issues.push({ pointer: `/${name}`, detail: `is required ${why}` });
  };
  const isProduction = set.NODE_ENV === 'production';
  if (isProduction) need('PUBLIC_URL', 'when NODE_ENV is production: the address that clients use');
  const hasAccounts = set.IDENTITY_PROVIDER === 'embedded' || set.IDENTITY_PROVIDER === 'gotrue';
  if (isProduction && hasAccounts && set.OBJECT_STORE === 's3') {
    for (const name of ['SESSION_SECRET', 'ACCESS_TOKEN_KEYS']) {
      need(name, 'for accounts in production on S3: every replica must have the same one');
    }
  }
  if (isProduction && (set.WEBSITE_ORIGINS ?? '').split(/[\s,]+/).some(isOpenToListeners)) {
    const detail =
      'must be https:// in production: a page that is sent in the open can be changed on its way, and so take over who signs in on it';
    issues.push({ pointer: '/WEBSITE_ORIGINS', detail });
  }
  if (isProduction && hasAccounts) {
    for (const name of ['PUBLIC_URL', 'GOTRUE_URL']) {
      const detail = 'must be https:// where people sign in: passwords and tokens go there';
      if (isOpenToListeners(set[name])) issues.push({ pointer: `/${name}`, detail });
    }
  }
  if (set.IDENTITY_PROVIDER === 'gotrue') {
    for (const name of ['GOTRUE_URL', 'GOTRUE_API_KEY']) {
      need(name, 'when IDENTITY_PROVIDER is gotrue');
    }
  }
  if (set.CAPTCHA_PROVIDER !== undefined && set.CAPTCHA_PROVIDER !== 'none') {
    need('CAPTCHA_SECRET', `when CAPTCHA_PROVIDER is ${set.CAPTCHA_PROVIDER}`);
  }
  if (set.SMTP_URL !== undefined) {
    for (const name of ['CONTACT_FROM', 'CONTACT_TO']) need(name, 'when SMTP_URL is set');
  }
  if (['true', '1'].includes(set.COOKIE_MODE ?? '')) {
    need('WEBSITE_ORIGINS', 'when COOKIE_MODE is on: the pages that may use the cookie');
  }
  return issues;
}

/** Plain HTTP to anywhere but this machine. */
function isOpenToListeners(address: string | undefined): boolean {
  if (address === undefined || !URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

function configOf(env: Environment): Config {
  return Object.freeze({
    production: env.NODE_ENV === 'production',
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL,
    store: Object.freeze(storeOf(env)),
    dataDirectory: path.resolve(env.DATA_DIR),
    urlSigningSecret: env.URL_SIGNING_SECRET,
    defaultApplication: env.DEFAULT_APP,
    logLevel: env.LOG_LEVEL,
    metricsHost: env.METRICS_HOST,
    metricsPort: env.METRICS_PORT,
    catalogPollMs: env.CATALOG_POLL_INTERVAL,
    catalogStaleMaxMs: env.CATALOG_STALE_MAX,
    checkAgainAfterSeconds: env.CHECK_AGAIN_AFTER / 1000,
    trustProxy: trustProxyOf(env.TRUST_PROXY),
    privateBucket: env.OBJECT_STORE === 's3' ? env.S3_PRIVATE_BUCKET : undefined,
    accounts: Object.freeze(accountsOf(env)),
    captcha: Object.freeze(captchaOf(env)),
    contact: Object.freeze(contactOf(env)),
    countersFlushMs: env.COUNTERS_FLUSH_INTERVAL,
    publicGroupMin: env.PUBLIC_GROUP_MIN,
    authPerAddress: env.AUTH_PER_ADDRESS,
    contactPerAddress: env.CONTACT_PER_ADDRESS,
    monitoringUpstream: env.MONITORING_UPSTREAM,
  });
}

function accountsOf(env: Environment): AccountsConfig {
  return {
    provider: providerOf(env),
    registration: registrationOf(env),
    sessionSecret: env.SESSION_SECRET,
    accessTokenKeys: env.ACCESS_TOKEN_KEYS,
    cookieMode: env.COOKIE_MODE,
    cookieSameSite: env.COOKIE_SAMESITE,
    websiteOrigins: env.WEBSITE_ORIGINS,
    tiers: env.TIERS ?? DEFAULT_TIERS,
    billingPortalUrl: env.BILLING_PORTAL_URL,
  };
}

/** Embedded accounts cannot prove whose an address is: in production an invitation says so instead. */
function registrationOf(env: Environment): AccountsConfig['registration'] {
  if (env.REGISTRATION !== undefined) return env.REGISTRATION;
  const isProven = env.IDENTITY_PROVIDER === 'gotrue';
  return env.NODE_ENV === 'production' && !isProven ? 'invite' : 'open';
}

function providerOf(env: Environment): IdentityProviderConfig {
  const { GOTRUE_URL: url, GOTRUE_API_KEY: apiKey } = env;
  const kind = env.IDENTITY_PROVIDER ?? (env.NODE_ENV === 'production' ? 'off' : 'embedded');
  if (kind !== 'gotrue') return { kind };
  return url === undefined || apiKey === undefined ? { kind: 'off' } : { kind, url, apiKey };
}

function captchaOf(env: Environment): CaptchaConfig {
  const { CAPTCHA_PROVIDER: kind, CAPTCHA_SECRET: secret } = env;
  if (kind === undefined) return { kind: env.NODE_ENV === 'production' ? 'missing' : 'none' };
  if (kind === 'none' || secret === undefined) return { kind: 'none' };
  return { kind, secret, verifyUrl: env.CAPTCHA_VERIFY_URL, hostnames: env.CAPTCHA_HOSTNAMES };
}

function contactOf(env: Environment): ContactConfig {
  const { SMTP_URL: smtpUrl, CONTACT_FROM: from, CONTACT_TO: to } = env;
  const isSent = smtpUrl !== undefined && from !== undefined && to !== undefined;
  return { mail: isSent ? { smtpUrl, from, to } : undefined, keptMs: env.CONTACT_KEPT };
}

function storeOf(env: Environment): StoreConfig {
  if (env.OBJECT_STORE === 'filesystem') return { kind: 'filesystem' };
  return {
    kind: 's3',
    bucket: env.S3_BUCKET ?? '',
    prefix: env.S3_PREFIX,
    endpoint: env.S3_ENDPOINT,
    publicEndpoint: env.S3_PUBLIC_ENDPOINT,
    region: env.S3_REGION ?? env.AWS_REGION ?? 'us-east-1',
    // Stores under an address of one's own seldom have a host name for every bucket.
    forcePathStyle: env.S3_FORCE_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
  };
}

const PROXY_RANGES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

function isTrustProxy(text: string): boolean {
  if (text === 'true' || text === 'false') return true;
  return text.split(',').every((part) => {
    const [address = '', bits, ...rest] = part.trim().split('/');
    const family = isIP(address);
    const isRange =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
    return PROXY_RANGES.includes(part.trim()) || (family > 0 && isRange && rest.length === 0);
  });
}

function trustProxyOf(text: string | undefined): boolean | string {
  if (text === undefined || text === 'false') return false;
  return text === 'true' ? true : text;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text) || text.includes('*')) return false;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text;
}

/** Only its shape: whether the keys work is found out by importing them. */
function isPrivateKeySet(text: string): boolean {
  return signingKeysSchema.safeParse(parseJson(text)).success;
}

function readTiers(text: string, context: z.RefinementCtx): TierTable {
  try {
    return parseTierTable(parseJson(text));
  } catch (error) {
    if (!isAppError(error)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return DEFAULT_TIERS;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isKeySegment(segment: string): boolean {
  return /^[\w!.*'()-]+$/.test(segment) && segment !== '.' && segment !== '..';
}

function isApplicationName(text: string, context: z.RefinementCtx): void {
  try {
    parseApplicationName(text);
  } catch (error) {
    if (!isAppError(error)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
}

function refuse(issues: readonly FieldIssue[]): AppError {
  const lines = issues.map(({ pointer, detail }) => `  ${pointer.slice(1)}: ${detail}`);
  return new AppError(
    'invalid_configuration',
    `These settings are wrong (the README has a table of all of them):\n${lines.join('\n')}`,
    { issues },
  );
}
