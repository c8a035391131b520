import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DCLinter } from 'dclint';
import { describe, expect, it } from 'vitest';
import { loadConfig, SETTING_GROUPS } from '../../src/config.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { COMPOSE, readServices } from './compose-file.ts';

/** The container files, as far as they can be checked without a container engine. */

const ROOT = path.resolve(import.meta.dirname, '../..');
const text = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** The errors of the linter, which checks against the schema of the Compose specification. */
function schemaErrors(file: string): readonly string[] {
  const options = { recursive: false, quiet: true, debug: false, exclude: [] };
  const rules = { 'invalid-schema': 2 } as const;
  const results = new DCLinter({ ...options, rules }).lintFiles([file], false) as unknown as {
    messages: { type: string; message: string }[];
  }[];
  // Its warnings are about the order of lines.
  const errors = results.flatMap(({ messages }) => messages.filter(({ type }) => type === 'error'));
  return errors.map(({ message }) => message);
}

describe('docker-compose.yml', () => {
  const { slipway, cli, store, buckets, ...others } = readServices();

  it('is valid by the schema of the Compose specification', async () => {
    expect(schemaErrors(COMPOSE)).toEqual([]);
    const directory = await makeTemporaryDirectory();
    const wrong = path.join(directory.path, 'docker-compose.yml');
    await writeFile(wrong, text('docker-compose.yml').replace('read_only: true', 'read_only: [1]'));
    expect(schemaErrors(wrong)).not.toEqual([]);
    await directory.remove();
  });

  it('gives the service and the command line the same settings, from .env alone', () => {
    expect(cli?.env_file).toEqual(slipway?.env_file);
    expect(cli?.environment).toEqual(slipway?.environment);
    expect(cli?.volumes).toEqual(slipway?.volumes);
    // An image of another maker does not get the secrets of the service.
    expect(store?.env_file).toEqual(['deploy/compose/store.env']);
    expect(slipway?.env_file).toEqual([{ path: '.env', required: false }]);
  });

  it('starts the store from an image that cannot change', () => {
    // The build of a tag can change; the build of a digest cannot.
    expect(store?.image).toMatch(/^\$\{S3_IMAGE:-\S+:[\d.]+@sha256:[0-9a-f]{64}\}$/);
    expect(buckets?.image).toBe(store?.image);
    expect(buckets?.env_file).toEqual(store?.env_file);
  });

  it('fixes only what must be so in a container: a shell cannot choose another store', () => {
    expect(Object.keys(slipway?.environment ?? {}).sort()).toEqual([
      ...['DATA_DIR', 'HOST', 'METRICS_HOST', 'METRICS_PORT', 'PORT', 'PUBLIC_URL'],
    ]);
    const names = SETTING_GROUPS.flatMap(({ settings }) => settings.map(({ name }) => name));
    // Compose replaces ${NAME} from the shell first, and from .env only then.
    const replaced = [...text('docker-compose.yml').matchAll(/(?<!\$)\$\{([A-Z0-9_]+)/g)];
    const settings = replaced.map(([, name = '']) => name).filter((name) => names.includes(name));
    expect([...new Set(settings)].sort()).toEqual(['PORT', 'PUBLIC_URL']);
  });

  it('runs without rights that it does not need', () => {
    for (const service of [slipway, cli]) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  it('mounts files of this repository that exist', () => {
    for (const { volumes } of Object.values(others)) {
      const mounted = volumes.map((volume) => volume.split(':')[0] ?? '');
      for (const file of mounted.filter((name) => name.startsWith('./'))) {
        expect(existsSync(path.join(ROOT, file)), file).toBe(true);
      }
    }
  });

  it('has no sign-in to Grafana: no default account, no form, no basic authentication', () => {
    const { environment = {}, ports } = others.grafana ?? {};
    expect(environment).toMatchObject({
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
      GF_AUTH_DISABLE_LOGIN_FORM: 'true',
      GF_AUTH_BASIC_ENABLED: 'false',
    });
    expect(Object.keys(environment).filter((name) => /ADMIN_(USER|PASSWORD)/.test(name))).toEqual(
      [],
    );
    for (const { ports: published = [] } of [...Object.values(others), { ports }]) {
      for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('has settings for its own store, which the service accepts', () => {
    const lines = text('deploy/compose/store.env').split('\n');
    const given = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const env = Object.fromEntries(given.map((line) => line.split(/=(.*)/s) as [string, string]));
    const config = loadConfig({ ...env, ...slipway?.environment, PUBLIC_URL: 'http://localhost' });
    expect(config.store).toMatchObject({ kind: 's3', endpoint: 'http://store:9000' });
    expect(store?.profiles).toEqual([env.COMPOSE_PROFILES]);
  });
});

describe('settings in containers', () => {
  it('an empty value counts as unset: AWS is reached without an endpoint', () => {
    const aws = { OBJECT_STORE: 's3', S3_BUCKET: 'releases', S3_REGION: 'eu-central-1' };
    const config = loadConfig({ ...aws, S3_ENDPOINT: '', S3_PREFIX: 'team' }, 'command');
    expect(config.store).toMatchObject({
      endpoint: undefined,
      forcePathStyle: false,
      region: 'eu-central-1',
      prefix: 'team',
    });
  });
});

describe('the Dockerfile', () => {
  const lines = text('Dockerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  const all = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.split(/\s+/));

  it('begins each stage from an image that is fixed by its digest', () => {
    const stages = all('FROM');
    expect(stages).toHaveLength(2);
    const images = new Set(stages.map(([, image]) => image));
    expect(images.size).toBe(1);
    for (const image of images) expect(image).toMatch(/^node:[\d.]+-[\w-]+@sha256:[0-9a-f]{64}$/);
  });

  it('copies files that exist and that .dockerignore lets pass', () => {
    const ignored = text('.dockerignore').split('\n').filter(Boolean);
    const sources = all('COPY')
      .filter(([, first]) => !first?.startsWith('--from'))
      .flatMap((words) => words.slice(1, -1));
    expect(sources.length).toBeGreaterThan(4);
    for (const source of sources) {
      expect(existsSync(path.join(ROOT, source)), source).toBe(true);
      expect(ignored).not.toContain(source);
    }
  });

  it('needs nothing from the build but what the build makes', () => {
    const made = all('COPY')
      .filter(([, first]) => first === '--from=build')
      .map(([, , source]) => source);
    expect(made).toEqual(
      ['package.json', 'node_modules', 'dist'].map((name) => `/slipway/${name}`),
    );
  });

  it('runs as another user than root, with a health check and labels', () => {
    expect(all('USER')).toEqual([['USER', 'node']]);
    expect(all('HEALTHCHECK')).toHaveLength(1);
    expect(all('LABEL')[0]?.join(' ')).toContain('org.opencontainers.image.licenses="Apache-2.0"');
  });
});
