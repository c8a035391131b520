import type { FieldIssue } from '../../core/errors.ts';
import { Secret } from '../../core/secret.ts';
import {
  count,
  flag,
  givenSecret,
  httpUrl,
  oneOf,
  origins,
  parseJson,
  signingSecret,
} from '../../core/settings/kinds.ts';
import {
  type GivenSettings,
  isPlainHttp,
  isProduction,
  issueOf,
  requireSettings,
} from '../../core/settings/rules.ts';
import {
  defineKind,
  defineSettings,
  optional,
  type ValuesOf,
  withDefault,
} from '../../core/settings/setting.ts';
import { DEFAULT_TIERS, parseTierTable, type TierTable } from '../../domain/tier.ts';
import { signingKeysSchema } from './access-tokens/signing-keys-schema.ts';

const SAME_SITE = ['Strict', 'Lax', 'None'] as const;
const IDENTITY_PROVIDERS = ['off', 'embedded', 'gotrue'] as const;
const REGISTRATIONS = ['open', 'invite', 'closed'] as const;

export interface AccountsConfig {
  readonly provider: IdentityProviderConfig;
  readonly registration: (typeof REGISTRATIONS)[number];
  readonly sessionSecret: Secret | undefined;
  /** Private JWKS (RFC 7517). The first key signs tokens, and all keys verify tokens. */
  readonly accessTokenKeys: Secret | undefined;
  /** True when `web` clients get their refresh token as a cookie. */
  readonly cookieMode: boolean;
  readonly cookieSameSite: (typeof SAME_SITE)[number];
  /** Exact origins, such as `https://www.example.com`, whose pages may sign in and send messages from a browser. */
  readonly websiteOrigins: readonly string[];
  readonly tiers: TierTable;
  readonly billingPortalUrl: string | undefined;
}

type IdentityProviderConfig =
  | { readonly kind: 'off' | 'embedded' }
  | { readonly kind: 'gotrue'; readonly url: string; readonly apiKey: Secret };

/** Checks only the shape. A key that does not work fails later, when the service imports it. */
const privateKeySet = defineKind(
  'a JWKS of private Ed25519 keys; "slipway keys" makes one',
  (value) =>
    signingKeysSchema.safeParse(parseJson(value)).success ? new Secret(value) : undefined,
);

const tierTable = defineKind('a JSON object of tiers', (value) => parseTierTable(parseJson(value)));

export interface AccountSettings {
  readonly accounts: AccountsConfig;
  /** The number of requests a minute to sign in or register that one replica accepts from one address. */
  readonly authPerAddress: number;
}

const settings = {
  IDENTITY_PROVIDER: optional(
    oneOf(IDENTITY_PROVIDERS),
    'How users prove who they are: `embedded` (accounts in the store), `gotrue` (Supabase Auth), or `off`',
    { otherwise: '`embedded`; in production `off`', example: 'embedded' },
  ),
  REGISTRATION: optional(
    oneOf(REGISTRATIONS),
    'Which visitors may register: all of them, holders of a code from `slipway accounts invite`, or none',
    { otherwise: '`open`; for `embedded` in production `invite`', example: 'invite' },
  ),
  GOTRUE_URL: optional(httpUrl, 'The address of Supabase Auth, for `gotrue`', {
    example: 'https://project.supabase.co/auth/v1',
  }),
  GOTRUE_API_KEY: optional(givenSecret, 'Its publishable key, for `gotrue`'),
  SESSION_SECRET: optional(
    signingSecret,
    'Authenticates refresh tokens. Every replica needs the same one',
    {
      otherwise: 'created in `DATA_DIR`; required for accounts in production on S3',
      example: 'at-least-32-characters-of-your-own',
    },
  ),
  ACCESS_TOKEN_KEYS: optional(
    privateKeySet,
    'The keys of access tokens: the service signs with the first and accepts all of them. Every replica needs the same ones. See [replicas](replicas.md)',
    {
      otherwise: 'created in `DATA_DIR`; required for accounts in production on S3',
      example: '{"keys":[…]}',
    },
  ),
  COOKIE_MODE: withDefault(
    flag,
    'false',
    'Gives clients of the platform `web` their refresh token as a cookie that no script can read. Needs `WEBSITE_ORIGINS`',
  ),
  COOKIE_SAMESITE: withDefault(
    oneOf(SAME_SITE),
    'Strict',
    'The `SameSite` attribute of that cookie',
  ),
  WEBSITE_ORIGINS: optional(
    origins,
    'The origins of your website. From a browser, only they may sign in and send messages. In production they must be HTTPS',
    { example: 'https://www.example.com' },
  ),
  TIERS: optional(tierTable, 'What each tier opens. See [tiers](../accounts.md#tiers)', {
    otherwise: 'the tiers `free` and `pro`',
    example:
      '{"free":["developer_keys"],"pro":["developer_keys","analytics","explain","channel:desktop/insider"]}',
  }),
  BILLING_PORTAL_URL: optional(httpUrl, 'Where `POST /api/v1/portal/session` sends customers', {
    example: 'https://billing.example.com/enter',
  }),
  AUTH_PER_ADDRESS: withDefault(
    count,
    '20',
    'How many requests a minute one address may make to sign in or register. Each replica counts for itself',
  ),
};

/** Accounts, sessions and tiers, and the website on which users sign in. */
export const accountSettings = defineSettings({
  title: 'Accounts',
  settings,
  findMissing,
  read: (env, inProduction): AccountSettings => ({
    accounts: Object.freeze(accountsOf(env, inProduction)),
    authPerAddress: env.AUTH_PER_ADDRESS,
  }),
  withoutOthers: ({ accounts }) => ({
    accounts: { ...accounts, provider: { kind: 'off' as const } },
  }),
});

function findMissing(given: GivenSettings): FieldIssue[] {
  const { IDENTITY_PROVIDER: provider } = given;
  const hasAccounts = provider === 'embedded' || provider === 'gotrue';
  const issues = isProduction(given) ? productionIssues(given, hasAccounts) : [];
  if (provider === 'gotrue') {
    const why = 'when IDENTITY_PROVIDER is gotrue';
    issues.push(...requireSettings(given, ['GOTRUE_URL', 'GOTRUE_API_KEY'], why));
  }
  if (['true', '1'].includes(given.COOKIE_MODE ?? '')) {
    const why = 'when COOKIE_MODE is true: it names the pages that may use the cookie';
    issues.push(...requireSettings(given, ['WEBSITE_ORIGINS'], why));
  }
  return issues;
}

function productionIssues(given: GivenSettings, hasAccounts: boolean): FieldIssue[] {
  const issues: FieldIssue[] = [];
  if (hasAccounts && given.OBJECT_STORE === 's3') {
    const why = 'for accounts in production on S3, and every replica must have the same:';
    const text = `${why} any text of 32 characters or more, such as the output of "openssl rand -base64 32"`;
    issues.push(...requireSettings(given, ['SESSION_SECRET'], text));
    issues.push(
      ...requireSettings(given, ['ACCESS_TOKEN_KEYS'], `${why} what "slipway keys" prints`),
    );
  }
  if ((given.WEBSITE_ORIGINS ?? '').split(/[\s,]+/).some(isPlainHttp)) {
    const detail =
      'must be https:// in production: an attacker on the network can change a page that is sent without TLS, and take over the accounts that sign in on it';
    issues.push(issueOf('WEBSITE_ORIGINS', detail));
  }
  const unsafe = ['PUBLIC_URL', 'GOTRUE_URL'].filter((name) => isPlainHttp(given[name]));
  if (hasAccounts) {
    const detail =
      'must be https:// for accounts in production: passwords and tokens are sent to it';
    issues.push(...unsafe.map((name) => issueOf(name, detail)));
  }
  return issues;
}

type AccountValues = ValuesOf<typeof settings>;

function accountsOf(env: AccountValues, inProduction: boolean): AccountsConfig {
  return {
    provider: providerOf(env, inProduction),
    registration: registrationOf(env, inProduction),
    sessionSecret: env.SESSION_SECRET,
    accessTokenKeys: env.ACCESS_TOKEN_KEYS,
    cookieMode: env.COOKIE_MODE,
    cookieSameSite: env.COOKIE_SAMESITE,
    websiteOrigins: env.WEBSITE_ORIGINS ?? [],
    tiers: env.TIERS ?? DEFAULT_TIERS,
    billingPortalUrl: env.BILLING_PORTAL_URL,
  };
}

/** Embedded accounts do not verify that a user owns an address. In production, an invitation proves that. */
function registrationOf(env: AccountValues, inProduction: boolean): AccountsConfig['registration'] {
  if (env.REGISTRATION !== undefined) return env.REGISTRATION;
  const isProven = env.IDENTITY_PROVIDER === 'gotrue';
  return inProduction && !isProven ? 'invite' : 'open';
}

function providerOf(env: AccountValues, inProduction: boolean): IdentityProviderConfig {
  const { GOTRUE_URL: url, GOTRUE_API_KEY: apiKey } = env;
  const kind = env.IDENTITY_PROVIDER ?? (inProduction ? 'off' : 'embedded');
  if (kind !== 'gotrue') return { kind };
  return url === undefined || apiKey === undefined ? { kind: 'off' } : { kind, url, apiKey };
}
