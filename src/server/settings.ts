import type { CommandSettings } from '../catalog/documents/settings.ts';
import { POLL_INTERVAL_MS } from '../catalog/live/poll-interval.ts';
import type { FieldIssue } from '../core/errors.ts';
import type { LogFormat } from '../core/log-output.ts';
import {
  duration,
  httpUrl,
  oneOf,
  parseHttpUrl,
  port,
  text,
  trustedProxies,
  workersCount,
} from '../core/settings/kinds.ts';
import {
  type GivenSettings,
  isProduction,
  issueOf,
  requireSettings,
} from '../core/settings/rules.ts';
import {
  defineKind,
  defineSettings,
  optional,
  refuseValue,
  withDefault,
} from '../core/settings/setting.ts';
import { parseApplicationName } from '../domain/channel.ts';
import { OWN_PATHS } from '../domain/reserved-name.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_FORMATS = ['auto', 'json', 'text'] as const satisfies readonly LogFormat[];

const LOGGED_REQUESTS = ['all', 'errors', 'off'] as const;
type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

const OFFLOADS = ['off', 'x-accel-redirect', 'x-sendfile'] as const;

/** The public address. Its path must not begin with one of the service's own paths. */
const publicUrl = defineKind(httpUrl.accepts, (value) => {
  const address = parseHttpUrl(value);
  if (address === undefined) return undefined;
  // A redirect to such a path would lead to another host.
  if (new URL(address).pathname.includes('//')) {
    throw refuseValue('must not have a path with two slashes in a row');
  }
  if (OWN_PATHS.includes(new URL(address).pathname.split('/')[1] ?? '')) {
    throw refuseValue(
      `must not have a path that begins with one of the service's own: ${OWN_PATHS.join(', ')}`,
    );
  }
  return address;
});

const applicationName = defineKind('the name of an application', parseApplicationName);

export interface ServiceSettings extends CommandSettings {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** The number of processes that answer on the port; `auto`: one for each processor. */
  readonly workers: number | 'auto';
  /**
   * Without a trailing slash. Undefined, which only happens outside production: the address on which the service
   * listens.
   */
  readonly publicUrl: string | undefined;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly loggedRequests: LoggedRequests;
  readonly metricsHost: string;
  /** Undefined: port 9464, or no metrics when that port is taken. */
  readonly metricsPort: number | undefined;
  readonly catalogStaleMaxMs: number;
  readonly checkAgainAfterSeconds: number;
  /** The value of Fastify's `trustProxy`. */
  readonly trustProxy: boolean | string;
  /** The header with which the service hands a file of a directory store over to its proxy. */
  readonly filesOffload: (typeof OFFLOADS)[number];
}

/** The settings of the process: its addresses, its log, its catalog. */
export const serviceSettings = defineSettings({
  title: 'The service',
  settings: {
    NODE_ENV: optional(
      text,
      '`production` makes the rules strict: required settings have no defaults, and addresses must be HTTPS where visitors sign in',
      { example: 'production' },
    ),
    PORT: withDefault(port, '8080', 'The port of the service; 0 selects a free one'),
    HOST: withDefault(text, '127.0.0.1', 'The address to listen on'),
    WORKERS: withDefault(
      workersCount,
      '1',
      'How many processes answer on the port. `auto` starts one for each processor. See [Several processes on one machine](replicas.md#several-processes-on-one-machine)',
    ),
    PUBLIC_URL: optional(
      publicUrl,
      'The address that clients use; the service makes every absolute address from it. It may have a path, such as `https://example.com/updates`, which the proxy may strip or leave in. Required when `NODE_ENV` is `production`',
      { otherwise: 'the address listened on', example: 'https://updates.example.com' },
    ),
    TRUST_PROXY: withDefault(
      trustedProxies,
      'false',
      'The addresses of your proxies, whose `X-Forwarded-For` the service believes, with or without ports. `true` believes every sender',
    ),
    FILES_OFFLOAD: withDefault(
      oneOf(OFFLOADS),
      'off',
      'Lets the proxy send the files of a directory store: `x-accel-redirect` for nginx, `x-sendfile` for Caddy and Apache. The proxy needs the right to read the files. See [Let the proxy send the files](behind-a-proxy.md#let-the-proxy-send-the-files)',
    ),
    LOG_LEVEL: withDefault(oneOf(LOG_LEVELS), 'info', 'The least serious messages that are logged'),
    LOG_FORMAT: withDefault(
      oneOf(LOG_FORMATS),
      'auto',
      '`text` is for people, `json` for programs. `auto` writes text on a terminal and JSON elsewhere',
    ),
    ACCESS_LOG: withDefault(
      oneOf(LOGGED_REQUESTS),
      'all',
      'The requests that get a line in the log: `errors` are those that are answered with a status of 400 or above. The lines are written once a second, and when `LOG_LEVEL` includes `info`',
    ),
    METRICS_HOST: withDefault(
      text,
      '127.0.0.1',
      'The address on which Prometheus reads `/metrics`, and an operator the full `/readyz`',
    ),
    METRICS_PORT: optional(
      port,
      'The port of the metrics. When it is set, it must be free; when it is not set and 9464 is taken, there are no metrics',
      { otherwise: '9464', example: '9464' },
    ),
    DEFAULT_APP: withDefault(
      applicationName,
      'desktop',
      'The application of requests and commands that name none',
    ),
    CATALOG_POLL_INTERVAL: withDefault(
      duration({ max: '1h' }),
      `${POLL_INTERVAL_MS / 1000}s`,
      'How often a process looks for changes. It looks for new applications and for changes of known ones in turn, one of them in half that time',
    ),
    CATALOG_STALE_MAX: withDefault(
      duration(),
      '24h',
      'How long a process answers from its memory while the store cannot confirm the catalog',
    ),
    CHECK_AGAIN_AFTER: withDefault(duration(), '4h', 'When clients should check again'),
  },
  findMissing: (given) => {
    const issues = findOffloadIssues(given);
    if (!isProduction(given)) return issues;
    const why = 'when NODE_ENV is production: it is the address that clients use';
    return [...requireSettings(given, ['PUBLIC_URL'], why), ...issues];
  },
  read: (env, inProduction): ServiceSettings => ({
    production: inProduction,
    host: env.HOST,
    port: env.PORT,
    workers: env.WORKERS,
    publicUrl: env.PUBLIC_URL,
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
    filesOffload: env.FILES_OFFLOAD,
  }),
});

function findOffloadIssues(given: GivenSettings): FieldIssue[] {
  const { FILES_OFFLOAD: offload = 'off' } = given;
  if (offload === 'off') return [];
  if (given.OBJECT_STORE === 's3') {
    const detail =
      'must be off when OBJECT_STORE is s3: the bucket itself sends the files, and no proxy can read them';
    return [issueOf('FILES_OFFLOAD', detail)];
  }
  const trusted = given.TRUST_PROXY ?? 'false';
  const why = `when FILES_OFFLOAD is ${offload}: the service hands files over only to a proxy that it trusts`;
  return trusted === 'false' ? [issueOf('TRUST_PROXY', `is required ${why}`)] : [];
}
