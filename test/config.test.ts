import path from 'node:path';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../src/config.ts';
import { AppError } from '../src/errors.ts';

function refusalOf(env: Record<string, string>): AppError {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

const pointersOf = (env: Record<string, string>) =>
  refusalOf(env).issues.map(({ pointer }) => pointer);

describe('configuration', () => {
  it('needs nothing at all', () => {
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

  it('takes an empty or blank value for none', () => {
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

  it('never prints a secret, whoever prints it', () => {
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

  it('never prints a value in its refusal: it may be a secret in the wrong place', () => {
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
  it('refuses what is no address at all in the same way', () => {
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

  it('requires the public address in production, and cleans it', () => {
    expect(pointersOf({ NODE_ENV: 'production' })).toEqual(['/PUBLIC_URL']);
    const PUBLIC_URL = 'https://updates.example.com/base//';
    const config = loadConfig({ NODE_ENV: 'production', PUBLIC_URL });
    expect(config).toMatchObject({
      production: true,
      publicUrl: 'https://updates.example.com/base',
    });
    for (const bad of ['localhost:8080', 'ftp://x', 'https://x/?a=b', 'https://x/#y']) {
      expect(pointersOf({ PUBLIC_URL: bad })).toEqual(['/PUBLIC_URL']);
    }
  });

  it('requires a bucket for s3, and nothing else', () => {
    expect(pointersOf({ OBJECT_STORE: 's3' })).toEqual(['/S3_BUCKET']);
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

  it('uses path style at an endpoint of one’s own, unless told otherwise', () => {
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
});
