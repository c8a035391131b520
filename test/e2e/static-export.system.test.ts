import { randomBytes } from 'node:crypto';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { machO, tar } from '../builds/materialize.ts';
import { json, slipway } from '../cli/support.ts';
import { createElectronClient } from '../support/electron-updater.ts';
import { generateTauriKey, signWithTauri, type TauriKey } from '../support/minisign.ts';
import { makeTemporaryDirectory, publish } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { type StaticServer, startStaticServer } from '../support/static-server.ts';
import { checkTauri, downloadTauri, type TauriClient } from '../support/tauri-client.ts';
import {
  expectDifferential,
  expectWhole,
  type Releases,
  releaseEach,
  update,
} from './differential.ts';

/**
 * An export with this service switched off: the real electron-updater and a model of Tauri's client update from a plain
 * static server, and from a public bucket.
 */

const KINDS = ['nsis', 'mac', 'appimage'] as const;
type Kind = (typeof KINDS)[number];
let releases: Record<Kind, Releases>;
let key: TauriKey;

async function publishAll(service: TestService): Promise<void> {
  releases = await releaseEach(service, KINDS, ['stable']);
  key = await generateTauriKey(service.directory);
  for (const version of ['1.0.0', '2.0.0']) {
    const directory = path.join(service.directory, `tauri ${version}`);
    await mkdir(directory);
    const program = Buffer.concat([machO('universal'), randomBytes(64)]);
    const files = {
      [`Notes_${version}_x64-setup.exe`]: randomBytes(5000),
      [`notes_${version}_amd64.AppImage`]: randomBytes(5000),
      [`notes_${version}_amd64.deb`]: randomBytes(5000),
      'Notes_universal.app.tar.gz': gzipSync(tar(['Notes.app/Contents/MacOS/notes', program])),
    };
    for (const [name, content] of Object.entries(files)) {
      await writeFile(path.join(directory, name), content);
      await signWithTauri(key, path.join(directory, name), version);
    }
    const { artifacts } = await readBuildOutput({ paths: [directory], version });
    await publish(service, { application: 'notes', version, artifacts });
  }
}

function describeClients(baseOf: () => string, kinds: readonly Kind[]): void {
  const electron = (kind: Kind, version: string, config: object = {}) =>
    createElectronClient({
      ...{ kind, version, config: { ...config } },
      url: `${baseOf()}/feeds/desktop/stable/electron`,
      installed: releases[kind].old.file,
    });

  it.each(kinds)('electron-updater updates from 1.0.0: %s', async (kind) => {
    const { file } = releases[kind].next;
    const single = await update(await electron(kind, '1.0.0', { useMultipleRangeRequest: false }));
    expectDifferential(single, file);
    // The server has no answer to several ranges, and the client falls back to the whole file.
    const whole = await update(await electron(kind, '1.0.0'));
    expectWhole(whole, file, /Cannot download differentially/);
  });

  it.each(kinds)('electron-updater has nothing to do at 2.0.0: %s', async (kind) => {
    expect(await (await electron(kind, '2.0.0')).check()).toBeNull();
  });

  it.each([
    'windows x86_64 nsis',
    'linux x86_64 appimage',
    'linux x86_64 deb',
    'darwin aarch64 app',
    'darwin x86_64',
  ])('Tauri on %s', async (words) => {
    const [os, arch, bundle = null] = words.split(' ') as [
      TauriClient['os'],
      TauriClient['arch'],
      TauriClient['bundle']?,
    ];
    const base = `${baseOf()}/feeds/notes/stable/tauri`;
    for (const endpoint of [
      `${base}/latest.json`,
      `${base}/{{target}}/{{arch}}/{{current_version}}`,
      `${base}/{{target}}/{{arch}}/{{current_version}}/{{bundle_type}}`,
    ]) {
      const machine = { os, arch, bundle, endpoints: [endpoint], publicKey: key.publicKey };
      const client = { ...machine, version: '1.0.0', requiresSignedVersion: true };
      const offered = await checkTauri(client);
      expect([endpoint, offered?.version]).toEqual([endpoint, '2.0.0']);
      // It verifies the signature of what it downloads.
      if (offered !== undefined) await downloadTauri(client, offered);
      expect(await checkTauri({ ...client, version: '2.0.0' })).toBeUndefined();
      // A version that was never published: an error, and never an update.
      if (endpoint.includes('current_version')) {
        await expect(checkTauri({ ...client, version: '7.0.0' })).rejects.toThrow(
          'ReleaseNotFound',
        );
      }
    }
  });
}

describe('on a plain static server', () => {
  let server: StaticServer;
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;

  beforeAll(async () => {
    const service = await createTestService({ store: 'directory' });
    directory = await makeTemporaryDirectory();
    const target = path.join(directory.path, 'public');
    server = await startStaticServer(target);
    const data = path.join(directory.path, 'data');
    const env = { DATA_DIR: data, PUBLIC_URL: server.url };
    await publishAll(service);
    // The export needs the store alone, and not the service.
    await cp(service.config.dataDirectory, data, { recursive: true });
    await service.close();
    const { code, stderr } = await slipway(['export', target], { cwd: directory.path, env });
    expect([code, stderr]).toEqual([0, '']);
  });

  afterAll(async () => {
    await server.close();
    await directory.remove();
  });

  describeClients(() => server.url, KINDS);

  it('no client asked for anything that the export does not have', () => {
    const missing = server.requests.filter((line) => / (404|405)$/.test(line));
    expect(missing.filter((line) => !line.includes('/7.0.0'))).toEqual([]);
  });
});

describeS3('in a public bucket', (server) => {
  const bucket = useBucket(server);
  const url = `${server.endpoint}/${bucket.name}/static`;

  beforeAll(async () => {
    const access = s3Environment(server, bucket.name);
    const env = { ...access, S3_PREFIX: 'store', PUBLIC_URL: url };
    const service = await createTestService({ env, store: bucket.store({ prefix: 'store' }) });
    const cwd = service.directory;
    // The SDK reads them from the process itself.
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const) {
      vi.stubEnv(name, access[name]);
    }
    await publishAll(service);
    const policy = {
      Version: '2012-10-17',
      Statement: [
        {
          ...{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject' },
          Resource: [`arn:aws:s3:::${bucket.name}/static/*`],
        },
      ],
    };
    await bucket.minio.setBucketPolicy(bucket.name, JSON.stringify(policy));
    const target = `s3://${bucket.name}/static`;
    const first = await slipway(['export', target, '--json'], { cwd, env });
    expect([first.code, first.stderr]).toEqual([0, '']);
    const again = json(await slipway(['export', target, '--json'], { cwd, env }));
    expect(again.written).toEqual({ documents: 0, files: 0, bytes: 0 });
    expect(again.removed).toEqual([]);
    for (const own of [`s3://${bucket.name}`, `s3://${bucket.name}/store/x`]) {
      const { code, stderr } = await slipway(['export', own], { cwd, env });
      expect([code, stderr]).toEqual([2, expect.stringContaining('overlaps with the store')]);
    }
    await service.close();
  });

  afterAll(() => void vi.unstubAllEnvs());

  // An export to a directory wrote the same files.
  describeClients(() => url, ['nsis']);

  it('its objects have the headers of the documents', async () => {
    const answer = await fetch(`${url}/feeds/desktop/stable/electron/latest.yml`);
    expect(answer.headers.get('content-type')).toBe('text/yaml; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60');
    const mark = await fetch(`${url}/.slipway-export`);
    expect(await mark.text()).toMatch('slipway export');
  });
});
