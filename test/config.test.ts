import path from 'node:path';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { loadConfig, withoutOthers } from '../src/config.ts';
import { pointersOf, refusalOf } from './support/refused-settings.ts';

describe('configuration', () => {
  it('needs no setting', () => {
    expect(loadConfig({})).toMatchObject({
      production: false,
      host: '127.0.0.1',
      port: 8080,
      publicUrl: undefined,
      store: { kind: 'filesystem' },
      dataDirectory: path.resolve('data'),
      urlSigningSecret: undefined,
      defaultApplication: 'desktop',
      logLevel: 'info',
      metricsHost: '127.0.0.1',
      metricsPort: undefined,
      catalogPollMs: 2_000,
      catalogStaleMaxMs: 24 * 3_600_000,
      checkAgainAfterSeconds: 4 * 3_600,
      trustProxy: false,
    });
  });

  it('cannot be changed afterwards', () => {
    const config = loadConfig({});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.store)).toBe(true);
  });

  it('treats an empty or blank value as not set', () => {
    const blank = Object.fromEntries(
      'PORT HOST PUBLIC_URL OBJECT_STORE DATA_DIR S3_BUCKET URL_SIGNING_SECRET DEFAULT_APP METRICS_PORT CATALOG_STALE_MAX TRUST_PROXY LOG_LEVEL'
        .split(' ')
        .map((name, i) => [name, i % 2 === 0 ? '' : '  ']),
    );
    expect(loadConfig(blank)).toEqual(loadConfig({}));
    expect(pointersOf({ OBJECT_STORE: 's3', S3_BUCKET: ' ' })).toEqual(['/S3_BUCKET']);
  });

  it('reports every problem at once, by name', () => {
    const env = {
      NODE_ENV: 'production',
      PORT: 'eighty',
      OBJECT_STORE: 's3',
      S3_ENDPOINT: 'minio:9000',
      S3_PREFIX: 'a b',
      S3_FORCE_PATH_STYLE: 'yes',
      URL_SIGNING_SECRET: 'short',
      DEFAULT_APP: '../etc',
      LOG_LEVEL: 'loud',
      METRICS_PORT: '70000',
      CATALOG_POLL_INTERVAL: '2',
      CATALOG_STALE_MAX: '0s',
    };
    const error = refusalOf(env);
    expect(error.code).toBe('invalid_configuration');
    const names = [...Object.keys(env), 'S3_BUCKET', 'PUBLIC_URL'].filter(
      (name) => !['NODE_ENV', 'OBJECT_STORE'].includes(name),
    );
    expect(error.issues.map(({ pointer }) => pointer.slice(1)).sort()).toEqual(names.sort());
    for (const name of names) expect(error.message).toMatch(new RegExp(`^  ${name}: `, 'm'));
  });

  it('never shows a secret, however it is printed', () => {
    const secret = 'correct horse battery staple, and more of it';
    const config = loadConfig({ URL_SIGNING_SECRET: secret });
    const lines: string[] = [];
    pino({}, { write: (line: string) => void lines.push(line) }).info({ config }, 'settings');
    const printed = [
      JSON.stringify(config),
      inspect(config, { depth: null, showHidden: true }),
      inspect(config.urlSigningSecret, { showHidden: true, customInspect: false }),
      `${config.urlSigningSecret}`,
      String(config.urlSigningSecret),
      Object.entries(config.urlSigningSecret ?? {}).join(),
      ...lines,
    ];
    for (const text of printed) expect(text).not.toContain('horse');
    expect(JSON.stringify(config)).toContain('[secret]');
    expect(config.urlSigningSecret?.reveal()).toBe(secret);
  });

  it('never prints the refused value: it may be a secret in the wrong place', () => {
    const value = 'hunter2';
    const names =
      'PORT OBJECT_STORE S3_FORCE_PATH_STYLE URL_SIGNING_SECRET LOG_LEVEL METRICS_PORT CATALOG_POLL_INTERVAL CHECK_AGAIN_AFTER';
    const env = Object.fromEntries(names.split(' ').map((name) => [name, value]));
    const error = refusalOf({ ...env, S3_BUCKET: '-hunter2-', S3_PREFIX: 'hunter2 ' });
    expect(error.issues.length).toBeGreaterThanOrEqual(8);
    for (const text of [error.message, JSON.stringify(error), inspect(error, { depth: null })]) {
      expect(text).not.toContain(value);
    }
  });

  // Known to fail: src/config.ts throws "TypeError: Invalid URL"; `z.url({…, abort: true})` mends it.
  it('refuses text that is not an address in the same way', () => {
    for (const name of ['PUBLIC_URL', 'S3_ENDPOINT', 'S3_PUBLIC_ENDPOINT']) {
      for (const value of ['hunter2', 'updates.example.com', 'http://', ':', '//x']) {
        const error = refusalOf({ [name]: value, LOG_LEVEL: 'x' });
        const pointers = error.issues.map(({ pointer }) => pointer);
        expect(pointers.sort()).toEqual([`/${name}`, '/LOG_LEVEL'].sort());
        expect(error.message).not.toContain('hunter2');
      }
    }
  });

  it.each([
    ['30s', 30_000],
    ['15m', 900_000],
    ['4h', 14_400_000],
    ['1d', 86_400_000],
  ])('reads the duration %s', (text, ms) => {
    expect(loadConfig({ CATALOG_STALE_MAX: text }).catalogStaleMaxMs).toBe(ms);
    expect(loadConfig({ CHECK_AGAIN_AFTER: text }).checkAgainAfterSeconds).toBe(ms / 1000);
  });

  it.each(['30', 's', '1.5h', '-1s', '0s', '1w', '1 h x', '1e3s', '9999999999s'])(
    'refuses the duration %s',
    (text) => {
      expect(pointersOf({ CATALOG_POLL_INTERVAL: text })).toEqual(['/CATALOG_POLL_INTERVAL']);
    },
  );

  it('reads the number of workers', () => {
    expect(loadConfig({}).workers).toBe(1);
    expect(loadConfig({ WORKERS: 'auto' }).workers).toBe('auto');
    expect(loadConfig({ WORKERS: '256' }).workers).toBe(256);
    for (const text of ['0', '257', '-1', '1.5', 'all', '1e2']) {
      expect(pointersOf({ WORKERS: text }), text).toEqual(['/WORKERS']);
    }
  });

  it('requires the public address in production, and cleans it', () => {
    expect(pointersOf({ NODE_ENV: 'production' })).toEqual(['/PUBLIC_URL']);
    const PUBLIC_URL = 'https://updates.example.com/base//';
    const config = loadConfig({ NODE_ENV: 'production', PUBLIC_URL });
    expect(config).toMatchObject({
      production: true,
      publicUrl: 'https://updates.example.com/base',
    });
    for (const bad of [
      ...['localhost:8080', 'ftp://x', 'https://x/?a=b', 'https://x/#y'],
      ...['https://x//evil.example', 'https://x/\\evil.example'],
    ]) {
      expect(pointersOf({ PUBLIC_URL: bad })).toEqual(['/PUBLIC_URL']);
    }
  });

  it('requires a bucket for s3, and nothing else', () => {
    expect(pointersOf({ OBJECT_STORE: 's3' })).toEqual(['/S3_BUCKET']);
    // Without this, an empty directory would be served in place of the bucket.
    expect(pointersOf({ S3_BUCKET: 'releases' })).toEqual(['/OBJECT_STORE']);
    const directory = loadConfig({ OBJECT_STORE: 'filesystem', S3_BUCKET: 'releases' });
    expect(directory.store).toEqual({ kind: 'filesystem' });
    expect(loadConfig({ OBJECT_STORE: 's3', S3_BUCKET: 'releases' }).store).toEqual({
      kind: 's3',
      bucket: 'releases',
      prefix: '',
      endpoint: undefined,
      publicEndpoint: undefined,
      region: 'us-east-1',
      forcePathStyle: false,
    });
  });

  it('takes the region from S3_REGION, else AWS_REGION, else us-east-1', () => {
    const s3 = { OBJECT_STORE: 's3', S3_BUCKET: 'releases' };
    const regionOf = (env: Record<string, string>) => {
      const { store } = loadConfig({ ...s3, ...env });
      return store.kind === 's3' ? store.region : undefined;
    };
    expect(regionOf({ S3_REGION: 'eu-west-1', AWS_REGION: 'eu-west-2' })).toBe('eu-west-1');
    expect(regionOf({ S3_REGION: '', AWS_REGION: 'eu-west-2' })).toBe('eu-west-2');
    expect(regionOf({})).toBe('us-east-1');
  });

  it('uses path style at a custom endpoint, unless a setting says otherwise', () => {
    const s3 = { OBJECT_STORE: 's3', S3_BUCKET: 'releases', S3_ENDPOINT: 'http://minio:9000/' };
    expect(loadConfig(s3).store).toMatchObject({
      forcePathStyle: true,
      endpoint: 'http://minio:9000',
    });
    for (const [text, value] of [
      ['false', false],
      ['0', false],
      ['true', true],
      ['1', true],
    ] as const) {
      const { store } = loadConfig({ ...s3, S3_FORCE_PATH_STYLE: text });
      expect(store).toMatchObject({ forcePathStyle: value });
    }
    expect(loadConfig({ ...s3, S3_PREFIX: '/a/b/' }).store).toMatchObject({ prefix: 'a/b' });
  });

  it('reads TRUST_PROXY as Fastify does', () => {
    expect(loadConfig({ TRUST_PROXY: 'true' }).trustProxy).toBe(true);
    expect(loadConfig({ TRUST_PROXY: 'false' }).trustProxy).toBe(false);
    expect(loadConfig({ TRUST_PROXY: '10.0.0.0/8' }).trustProxy).toBe('10.0.0.0/8');
    expect(loadConfig({ TRUST_PROXY: 'loopback, ::1/128' }).trustProxy).toBe('loopback, ::1/128');
    for (const TRUST_PROXY of ['yes', '1', '10.0.0.0/33', '10.0.0.0/8/8', 'proxy.example.com']) {
      expect(() => loadConfig({ TRUST_PROXY })).toThrow(/TRUST_PROXY: must be true, false/);
    }
  });

  it('FILES_OFFLOAD needs a directory store and a trusted proxy', () => {
    const env = { FILES_OFFLOAD: 'x-accel-redirect', TRUST_PROXY: '127.0.0.1' };
    expect(loadConfig({}).filesOffload).toBe('off');
    expect(loadConfig(env).filesOffload).toBe('x-accel-redirect');
    for (const untrusted of [{}, { TRUST_PROXY: 'false' }]) {
      const alone = { FILES_OFFLOAD: 'x-sendfile', ...untrusted };
      expect(pointersOf(alone)).toEqual(['/TRUST_PROXY']);
    }
    const bucket = { ...env, OBJECT_STORE: 's3', S3_BUCKET: 'releases' };
    expect(refusalOf(bucket).message).toMatch(/FILES_OFFLOAD: must be off when OBJECT_STORE is s3/);
    expect(loadConfig({ ...bucket, FILES_OFFLOAD: 'off' }).filesOffload).toBe('off');
  });

  describe('accounts', () => {
    const KEY = {
      kty: 'OKP',
      crv: 'Ed25519',
      kid: 'one',
      // RFC 8037, appendix A.1.
      d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    };
    const KEYS = JSON.stringify({ keys: [KEY, { ...KEY, kid: 'two' }] });
    const SECRET = 's'.repeat(32);
    const accountsOf = (env: Record<string, string>) => loadConfig(env).accounts;

    it('are of the store itself in development, and off in production', () => {
      expect(accountsOf({})).toMatchObject({
        provider: { kind: 'embedded' },
        sessionSecret: undefined,
        accessTokenKeys: undefined,
        cookieMode: false,
        cookieSameSite: 'Strict',
        websiteOrigins: [],
        billingPortalUrl: undefined,
        registration: 'open',
      });
      expect(accountsOf({}).tiers.names).toEqual(['free', 'pro']);
      const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://updates.example.com' };
      expect(accountsOf(production).provider).toEqual({ kind: 'off' });
      expect(accountsOf({ ...production, IDENTITY_PROVIDER: 'embedded' }).provider).toEqual({
        kind: 'embedded',
      });
      expect(accountsOf({ IDENTITY_PROVIDER: 'off' }).provider).toEqual({ kind: 'off' });
      // In production, an invitation or a mail of the provider proves who owns an address.
      const embedded = { ...production, IDENTITY_PROVIDER: 'embedded' };
      expect(accountsOf(embedded).registration).toBe('invite');
      expect(accountsOf({ ...embedded, REGISTRATION: 'open' }).registration).toBe('open');
      const GOTRUE_URL = 'https://auth.example.com/auth/v1';
      const gotrue = { IDENTITY_PROVIDER: 'gotrue', GOTRUE_URL, GOTRUE_API_KEY: 'anon' };
      expect(accountsOf({ ...production, ...gotrue }).registration).toBe('open');
      expect(pointersOf({ REGISTRATION: 'maybe' })).toEqual(['/REGISTRATION']);
      expect(pointersOf({ IDENTITY_PROVIDER: 'supabase' })).toEqual(['/IDENTITY_PROVIDER']);
    });

    it('of another provider need its address and its key', () => {
      const gotrue = { IDENTITY_PROVIDER: 'gotrue' };
      expect(pointersOf(gotrue)).toEqual(['/GOTRUE_URL', '/GOTRUE_API_KEY']);
      const GOTRUE_URL = 'https://auth.example.com/auth/v1/';
      expect(pointersOf({ ...gotrue, GOTRUE_URL })).toEqual(['/GOTRUE_API_KEY']);
      const { provider } = accountsOf({ ...gotrue, GOTRUE_URL, GOTRUE_API_KEY: 'anon' });
      expect(provider).toMatchObject({ kind: 'gotrue', url: 'https://auth.example.com/auth/v1' });
      expect(JSON.stringify(provider)).not.toContain('anon');
      expect(pointersOf({ ...gotrue, GOTRUE_URL: 'auth', GOTRUE_API_KEY: 'x' })).toEqual([
        '/GOTRUE_URL',
      ]);
      // Set for another provider, they are of no consequence.
      expect(accountsOf({ GOTRUE_URL }).provider).toEqual({ kind: 'embedded' });
    });

    it('need secrets that replicas share: in production on S3 when accounts are on', () => {
      const replicas = {
        NODE_ENV: 'production',
        PUBLIC_URL: 'https://updates.example.com',
        OBJECT_STORE: 's3',
        S3_BUCKET: 'releases',
      };
      const both = ['/SESSION_SECRET', '/ACCESS_TOKEN_KEYS'];
      expect(pointersOf({ ...replicas, IDENTITY_PROVIDER: 'embedded' })).toEqual(both);
      const GOTRUE = { GOTRUE_URL: 'https://auth.example.com', GOTRUE_API_KEY: 'x' };
      expect(pointersOf({ ...replicas, ...GOTRUE, IDENTITY_PROVIDER: 'gotrue' })).toEqual(both);
      const embedded = { ...replicas, IDENTITY_PROVIDER: 'embedded' };
      expect(pointersOf({ ...embedded, SESSION_SECRET: SECRET })).toEqual(['/ACCESS_TOKEN_KEYS']);
      expect(() => loadConfig(embedded)).toThrow(
        /SESSION_SECRET: .*openssl rand[\s\S]*ACCESS_TOKEN_KEYS: .*"slipway keys" prints/,
      );
      const whole = { ...embedded, SESSION_SECRET: SECRET, ACCESS_TOKEN_KEYS: KEYS };
      expect(accountsOf(whole).sessionSecret?.reveal()).toBe(SECRET);
      expect(accountsOf(replicas).provider).toEqual({ kind: 'off' });
      expect(() => loadConfig({ ...embedded, NODE_ENV: 'development' })).not.toThrow();
      expect(() => loadConfig({ ...embedded, OBJECT_STORE: 'filesystem' })).not.toThrow();
      // The command line needs no settings of signing in.
      expect(() => loadConfig(embedded, 'command')).not.toThrow();
    });

    it('are not served in the clear in production, except on this machine', () => {
      const production = {
        NODE_ENV: 'production',
        IDENTITY_PROVIDER: 'embedded',
        PUBLIC_URL: 'http://updates.example.com',
      };
      expect(pointersOf(production)).toEqual(['/PUBLIC_URL']);
      expect(loadConfig({ ...production, IDENTITY_PROVIDER: 'off' }).production).toBe(true);
      for (const local of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:8080']) {
        expect(loadConfig({ ...production, PUBLIC_URL: local }).publicUrl).toBe(local);
      }
      const gotrue = {
        NODE_ENV: 'production',
        IDENTITY_PROVIDER: 'gotrue',
        PUBLIC_URL: 'https://updates.example.com',
        GOTRUE_URL: 'http://auth.example.com',
        GOTRUE_API_KEY: 'key',
      };
      expect(pointersOf(gotrue)).toEqual(['/GOTRUE_URL']);
    });

    it('take private Ed25519 keys of different names, and no others', () => {
      expect(accountsOf({ ACCESS_TOKEN_KEYS: KEYS }).accessTokenKeys?.reveal()).toBe(KEYS);
      const { d: _d, ...publicKey } = KEY;
      for (const bad of [
        'nonsense',
        '[]',
        'null',
        '{}',
        '{"keys":[]}',
        JSON.stringify(KEY),
        JSON.stringify({ keys: [publicKey] }),
        JSON.stringify({ keys: [KEY, publicKey] }),
        JSON.stringify({ keys: [KEY, KEY] }),
        JSON.stringify({ keys: [{ ...KEY, kid: '' }] }),
        JSON.stringify({ keys: [{ ...KEY, kid: undefined }] }),
        JSON.stringify({ keys: [{ ...KEY, crv: 'X25519' }] }),
        JSON.stringify({ keys: [{ ...KEY, kty: 'RSA' }] }),
        JSON.stringify({ keys: [{ kty: 'oct', kid: 'x', k: 'c2VjcmV0' }] }),
      ]) {
        const error = refusalOf({ ACCESS_TOKEN_KEYS: bad });
        expect(error.issues.map(({ pointer }) => pointer)).toEqual(['/ACCESS_TOKEN_KEYS']);
        expect(error.message).not.toContain(KEY.d);
      }
    });

    it('take a secret only when it is long enough, and never print one', () => {
      expect(pointersOf({ SESSION_SECRET: 's'.repeat(31) })).toEqual(['/SESSION_SECRET']);
      const secrets = {
        SESSION_SECRET: `hunter2${SECRET}`,
        ACCESS_TOKEN_KEYS: KEYS,
        IDENTITY_PROVIDER: 'gotrue',
        GOTRUE_URL: 'https://auth.example.com',
        GOTRUE_API_KEY: 'hunter2',
        CAPTCHA_PROVIDER: 'turnstile',
        CAPTCHA_SECRET: 'hunter2',
        SMTP_URL: 'smtps://user:hunter2@mail.example.com',
        CONTACT_FROM: 'from@example.com',
        CONTACT_TO: 'to@example.com',
      };
      const config = loadConfig(secrets);
      for (const text of [
        JSON.stringify(config),
        inspect(config, { depth: null, showHidden: true }),
        refusalOf({ ...secrets, PORT: 'x' }).message,
      ]) {
        expect(text).not.toContain('hunter2');
        expect(text).not.toContain(KEY.d);
      }
    });

    it('in cookies need the origins that may use them', () => {
      for (const on of ['true', '1']) {
        expect(pointersOf({ COOKIE_MODE: on })).toEqual(['/WEBSITE_ORIGINS']);
      }
      for (const off of ['false', '0']) {
        expect(accountsOf({ COOKIE_MODE: off }).cookieMode).toBe(false);
      }
      const origins = { COOKIE_MODE: 'true', WEBSITE_ORIGINS: 'https://www.example.com' };
      expect(accountsOf(origins)).toMatchObject({ cookieMode: true, cookieSameSite: 'Strict' });
      for (const COOKIE_SAMESITE of ['Strict', 'Lax', 'None']) {
        const config = accountsOf({ ...origins, COOKIE_SAMESITE });
        expect(config.cookieSameSite).toBe(COOKIE_SAMESITE);
      }
      for (const COOKIE_SAMESITE of ['strict', 'none', 'Off']) {
        expect(pointersOf({ ...origins, COOKIE_SAMESITE })).toEqual(['/COOKIE_SAMESITE']);
      }
    });

    it("are below any path but the service's own", () => {
      const under = (path: string) => ({ PUBLIC_URL: `https://example.com${path}` });
      for (const good of ['', '/', '/updates', '/updates/api/', '/apidocs']) {
        expect(() => accountsOf(under(good)), good).not.toThrow();
      }
      for (const bad of ['/api', '/docs/', '/feeds/updates', '/x/../files']) {
        expect(pointersOf(under(bad)), bad).toEqual(['/PUBLIC_URL']);
      }
    });

    it('are signed in from pages over HTTPS alone in production', () => {
      const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://updates.example.com' };
      for (const bad of ['http://www.example.com', 'https://www.example.com http://x.example']) {
        expect(pointersOf({ ...production, WEBSITE_ORIGINS: bad }), bad).toEqual([
          '/WEBSITE_ORIGINS',
        ]);
      }
      const good = 'https://www.example.com http://localhost:5173';
      expect(accountsOf({ ...production, WEBSITE_ORIGINS: good }).websiteOrigins).toHaveLength(2);
    });

    it('take exact origins separated by commas or spaces, and refuse text that is almost an origin', () => {
      const WEBSITE_ORIGINS = ' https://www.example.com,http://localhost:5173  https://x.example ';
      expect(accountsOf({ WEBSITE_ORIGINS }).websiteOrigins).toEqual([
        'https://www.example.com',
        'http://localhost:5173',
        'https://x.example',
      ]);
      for (const bad of [
        '*',
        'null',
        'www.example.com',
        'https://www.example.com/',
        'https://www.example.com/app',
        'https://WWW.example.com',
        'https://www.example.com:443',
        'https://user@www.example.com',
        'ftp://www.example.com',
        'file:///',
        'https://www.example.com;https://x.example',
        'https://www.example.com, nonsense',
      ]) {
        expect(pointersOf({ WEBSITE_ORIGINS: bad }), bad).toEqual(['/WEBSITE_ORIGINS']);
      }
    });

    it('have the tiers of the table', () => {
      const TIERS = '{"basic": [], "plus": ["analytics", "channel:desktop/insider"]}';
      const { tiers } = accountsOf({ TIERS });
      expect(tiers.names).toEqual(['basic', 'plus']);
      expect(tiers.opens('plus')).toEqual(['analytics', 'channel:desktop/insider']);
      for (const bad of [
        'nonsense',
        'null',
        '[]',
        '{}',
        '{"Free":[]}',
        '{"free":"analytics"}',
        '{"free":["everything"]}',
        '{"free":[["analytics"]]}',
        '{"free":["channel:insider"]}',
        '{"free":["channel:../etc/insider"]}',
        '{"__proto__":[]}',
        '{"free":[],"1":[]}',
      ]) {
        expect(pointersOf({ TIERS: bad }), bad).toEqual(['/TIERS']);
      }
    });

    it('have a portal at an address without a query: a token is added to it', () => {
      const of = (BILLING_PORTAL_URL: string) => accountsOf({ BILLING_PORTAL_URL });
      expect(of('https://billing.example.com/in/').billingPortalUrl).toBe(
        'https://billing.example.com/in',
      );
      for (const bad of [
        'billing',
        'https://x.example?a=b',
        'https://x.example/#a',
        'javascript:x',
      ]) {
        expect(pointersOf({ BILLING_PORTAL_URL: bad })).toEqual(['/BILLING_PORTAL_URL']);
      }
    });
  });

  describe('captcha', () => {
    it('needs a captcha in production, and reports that only when the form is used', () => {
      const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://updates.example.com' };
      expect(loadConfig({}).captcha).toEqual({ kind: 'none' });
      expect(loadConfig(production).captcha).toEqual({ kind: 'missing' });
      const none = { ...production, CAPTCHA_PROVIDER: 'none' };
      expect(loadConfig(none).captcha).toEqual({ kind: 'none' });
    });

    it.each(['turnstile', 'hcaptcha', 'recaptcha'])('%s needs its secret', (kind) => {
      expect(pointersOf({ CAPTCHA_PROVIDER: kind })).toEqual(['/CAPTCHA_SECRET']);
      expect(refusalOf({ CAPTCHA_PROVIDER: kind }).message).toContain(kind);
      const set = { CAPTCHA_PROVIDER: kind, CAPTCHA_SECRET: 'x' };
      expect(loadConfig(set).captcha).toMatchObject({ kind, verifyUrl: undefined, hostnames: [] });
      const more = {
        CAPTCHA_VERIFY_URL: 'http://127.0.0.1:1/v',
        CAPTCHA_HOSTNAMES: 'a.example, b',
      };
      expect(loadConfig({ ...set, ...more }).captcha).toMatchObject({
        verifyUrl: 'http://127.0.0.1:1/v',
        hostnames: ['a.example', 'b'],
      });
    });

    it('refuses other captchas, and text that is not an address', () => {
      expect(pointersOf({ CAPTCHA_PROVIDER: 'arithmetic', CAPTCHA_SECRET: 'x' })).toEqual([
        '/CAPTCHA_PROVIDER',
      ]);
      expect(pointersOf({ CAPTCHA_VERIFY_URL: 'x' })).toEqual(['/CAPTCHA_VERIFY_URL']);
    });
  });

  describe('limits and metrics', () => {
    it.each([
      ['AUTH_PER_ADDRESS', 'authPerAddress', 20],
      ['PUBLIC_GROUP_MIN', 'publicGroupMin', 10],
    ] as const)('%s is a whole number from 1', (name, field, usual) => {
      expect(loadConfig({})[field]).toBe(usual);
      expect(loadConfig({ [name]: '1' })[field]).toBe(1);
      expect(loadConfig({ [name]: '999999' })[field]).toBe(999_999);
      for (const bad of ['0', '-1', '1.5', '1e3', 'many', '1000000', '0x10']) {
        expect(pointersOf({ [name]: bad }), bad).toEqual([`/${name}`]);
      }
    });

    it('counters are stored every minute, or between a second and an hour', () => {
      expect(loadConfig({}).countersFlushMs).toBe(60_000);
      expect(loadConfig({ COUNTERS_FLUSH_INTERVAL: '1s' }).countersFlushMs).toBe(1_000);
      expect(loadConfig({ COUNTERS_FLUSH_INTERVAL: '1h' }).countersFlushMs).toBe(3_600_000);
      for (const bad of ['2h', '61m', '60', '0m1s']) {
        expect(pointersOf({ COUNTERS_FLUSH_INTERVAL: bad })).toEqual(['/COUNTERS_FLUSH_INTERVAL']);
      }
    });

    it('catalogs are polled at least every hour', () => {
      expect(pointersOf({ CATALOG_POLL_INTERVAL: '2h' })).toEqual(['/CATALOG_POLL_INTERVAL']);
      expect(loadConfig({ CATALOG_POLL_INTERVAL: '1h' }).catalogPollMs).toBe(3_600_000);
    });

    it('the address of another monitoring service is read', () => {
      expect(loadConfig({}).monitoringUpstream).toBeUndefined();
      const set = { MONITORING_UPSTREAM: 'http://10.0.0.5:9000/' };
      expect(loadConfig(set).monitoringUpstream).toBe('http://10.0.0.5:9000');
      expect(pointersOf({ MONITORING_UPSTREAM: '10.0.0.5' })).toEqual(['/MONITORING_UPSTREAM']);
    });
  });

  it('stores the documents of the service in a private bucket, on S3 only', () => {
    const s3 = { OBJECT_STORE: 's3', S3_BUCKET: 'releases', S3_PRIVATE_BUCKET: 'people' };
    expect(loadConfig(s3).privateBucket).toBe('people');
    expect(loadConfig({ ...s3, OBJECT_STORE: 'filesystem' }).privateBucket).toBeUndefined();
    expect(loadConfig({ OBJECT_STORE: 's3', S3_BUCKET: 'x1' }).privateBucket).toBeUndefined();
    for (const bad of ['-x', 'a/b', 'x', 'a b']) {
      expect(pointersOf({ ...s3, S3_PRIVATE_BUCKET: bad })).toEqual(['/S3_PRIVATE_BUCKET']);
    }
  });

  it('can leave out every service beside the store, for a service that only answers', () => {
    const all = loadConfig({
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_PRIVATE_BUCKET: 'people',
      IDENTITY_PROVIDER: 'gotrue',
      GOTRUE_URL: 'https://auth.example.com',
      GOTRUE_API_KEY: 'a key',
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_SECRET: 'a secret',
      MONITORING_UPSTREAM: 'http://10.0.0.5:9000',
    });
    expect(withoutOthers(all)).toEqual({
      ...all,
      privateBucket: undefined,
      accounts: { ...all.accounts, provider: { kind: 'off' } },
      captcha: { kind: 'none' },
      monitoringUpstream: undefined,
    });
  });
});
