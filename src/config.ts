import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { parseApplicationName } from './domain/channel.ts';
import { AppError, type FieldIssue, isAppError } from './errors.ts';
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

const environment = z.object({
  NODE_ENV: z.string().optional(),
  PORT: port.default(8080),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: httpUrl.optional(),
  OBJECT_STORE: z.enum(['filesystem', 's3']).default('filesystem'),
  DATA_DIR: z.string().default('./data'),
  S3_BUCKET: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/, 'is not a bucket name')
    .optional(),
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
  URL_SIGNING_SECRET: z
    .string()
    .min(SECRET_LENGTH_MIN, `must have at least ${SECRET_LENGTH_MIN} characters`)
    .transform((text) => new Secret(text))
    .optional(),
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
    detail: issue.message,
  }));
  if (set.OBJECT_STORE === 's3' && set.S3_BUCKET === undefined) {
    issues.push({ pointer: '/S3_BUCKET', detail: 'is required when OBJECT_STORE is s3' });
  }
  const isProduction = set.NODE_ENV === 'production' && program === 'service';
  if (isProduction && set.PUBLIC_URL === undefined) {
    issues.push({
      pointer: '/PUBLIC_URL',
      detail: 'is required when NODE_ENV is production: the address that clients use',
    });
  }
  if (!parsed.success || issues.length > 0) throw refuse(issues);
  return configOf(parsed.data);
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
  });
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
    `These settings (environment variables) need mending; the README has a table of all of them.\n${lines.join('\n')}`,
    { issues },
  );
}
