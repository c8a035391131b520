import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { artifactKey } from '../../src/catalog/documents/keys.ts';
import type { PublishResult } from '../../src/releases/publish/publish-request.ts';
import { pathOf } from '../../src/store/filesystem/names.ts';
import { elf, machO, pe, tar } from '../builds/materialize.ts';
import {
  generateTauriKey,
  hasMinisign,
  runMinisign,
  signWithTauri,
  type TauriKey,
  verifyMinisign,
} from '../support/minisign.ts';
import { publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';

/**
 * Checks the answers to Tauri's client and their signatures. Tauri's own signer signs the bundles, which are
 * published from a directory as `tauri build` leaves it. The client itself is Rust, and does not run here.
 */

const isMinisignInstalled = await hasMinisign();

let service: TestService;
let key: TauriKey;
let published: PublishResult;

beforeAll(async () => {
  service = await createTestService({ store: 'directory' });
  key = await generateTauriKey(service.directory);
  await publishBundles('1.0.0', bundlesOf('1.0.0'));
  published = await publishBundles('2.0.0', bundlesOf('2.0.0'));
});

afterAll(() => service.close());

/** The bundles of four build machines, as CI collects them. */
function bundlesOf(version: string): Record<string, Buffer> {
  // Real builds never have the same bytes twice.
  const app = (program: Buffer) =>
    gzipSync(tar(['My App.app/Contents/MacOS/app', Buffer.concat([program, randomBytes(64)])]));
  const program = (head: Buffer) => Buffer.concat([head, randomBytes(5000)]);
  return {
    [`windows/bundle/nsis/My App_${version}_x64-setup.exe`]: program(pe('x64')),
    [`windows/bundle/msi/My App_${version}_x64_en-US.msi`]: randomBytes(5000),
    [`linux/bundle/appimage/my-app_${version}_amd64.AppImage`]: program(elf('x64')),
    [`linux/bundle/deb/my-app_${version}_amd64.deb`]: randomBytes(5000),
    'aarch64-apple-darwin/release/bundle/macos/My App.app.tar.gz': app(machO('arm64')),
    'x86_64-apple-darwin/release/bundle/macos/My App.app.tar.gz': app(machO('x64')),
  };
}

async function publishBundles(
  version: string,
  files: Readonly<Record<string, Buffer>>,
  sign = true,
): Promise<PublishResult> {
  const target = path.join(service.directory, version, 'target');
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(target, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    if (sign) await signWithTauri(key, file, version);
  }
  const { artifacts } = await readBuildOutput({ paths: [target], version });
  const result = await publish(service, { version, artifacts, notes: { und: `Notes ${version}` } });
  await service.refresh();
  return result;
}

async function ask(
  machine: string,
  version: string,
): Promise<{ status: number; body: Record<string, string> }> {
  const url = `${await service.listen()}/feeds/desktop/stable/tauri`;
  const [target, bundle] = machine.split('+');
  const suffix = bundle === undefined ? '' : `/${bundle}`;
  const answer = await fetch(`${url}/${target}/${version}${suffix}`);
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
}

async function download(url: string | undefined): Promise<Buffer> {
  const answer = await fetch(String(url));
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

const TARGETS = [
  ['windows/x86_64', 'windows/bundle/nsis/My App_2.0.0_x64-setup.exe'],
  ['linux/x86_64', 'linux/bundle/appimage/my-app_2.0.0_amd64.AppImage'],
  ['darwin/aarch64', 'aarch64-apple-darwin/release/bundle/macos/My App.app.tar.gz'],
  ['darwin/x86_64', 'x86_64-apple-darwin/release/bundle/macos/My App.app.tar.gz'],
] as const;

const BUNDLES = [
  ['windows/x86_64+nsis', TARGETS[0][1]],
  ['windows/x86_64+msi', 'windows/bundle/msi/My App_2.0.0_x64_en-US.msi'],
  ['linux/x86_64+appimage', TARGETS[1][1]],
  ['linux/x86_64+deb', 'linux/bundle/deb/my-app_2.0.0_amd64.deb'],
  ['darwin/aarch64+app', TARGETS[2][1]],
] as const;

describe.each([...TARGETS, ...BUNDLES])('%s', (machine, name) => {
  const built = () => path.join(service.directory, '2.0.0', 'target', name);

  it('gets the newer release with the signature of the build', async () => {
    const { status, body } = await ask(machine, '1.0.0');
    expect(status).toBe(200);
    const signature = await readFile(`${built()}.sig`, 'utf8');
    expect(body).toMatchObject({ version: '2.0.0', notes: 'Notes 2.0.0', signature });
    expect(body.url).toMatch(`${await service.listen()}/feeds/desktop/stable/tauri/2.0.0/`);
    // The client accepts only RFC 3339.
    expect(body.pub_date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  });

  it('downloads bytes that match the signature', async () => {
    const { body } = await ask(machine, '1.0.0');
    const { signature = '' } = body;
    const bytes = await download(body.url);
    expect(bytes.equals(await readFile(built()))).toBe(true);
    // The signature includes the version: newer clients refuse a release with another version.
    const comment = verifyMinisign(bytes, signature, key.publicKey) ?? '';
    expect(comment.split('\t')).toContain('version:2.0.0');
    const altered = Buffer.from(bytes);
    altered[altered.length - 1] = ~(altered.at(-1) ?? 0);
    expect(verifyMinisign(altered, signature, key.publicKey)).toBeUndefined();
    if (isMinisignInstalled) {
      await runMinisign(service.directory, bytes, signature, key.publicKey);
      await expect(
        runMinisign(service.directory, altered, signature, key.publicKey),
      ).rejects.toThrow(/verification failed/i);
    }
  });

  it('gets 204 when it has the newest release', async () => {
    expect(await ask(machine, '2.0.0')).toEqual({ status: 204, body: {} });
  });
});

describe('a client', () => {
  it('refuses a signature with a changed trusted comment', async () => {
    const { body } = await ask('linux/x86_64', '1.0.0');
    const text = Buffer.from(body.signature ?? '', 'base64').toString();
    const renamed = text.replace('version:2.0.0', 'version:9.0.0');
    expect(renamed).not.toBe(text);
    const sig = Buffer.from(renamed).toString('base64');
    expect(verifyMinisign(await download(body.url), sig, key.publicKey)).toBeUndefined();
  });

  it('is offered only bundles for its platform and architecture', async () => {
    expect((await ask('linux/aarch64', '1.0.0')).status).toBe(204);
    // Windows on Arm runs x64 programs.
    expect((await ask('windows/aarch64', '1.0.0')).body.version).toBe('2.0.0');
    expect((await ask('linux/x86_64+rpm', '1.0.0')).status).toBe(204);
  });

  it('refuses bytes that were altered in the store', async () => {
    const artifact = published.artifacts.find(
      ({ artifact }) => artifact.format === 'deb',
    )?.artifact;
    const stored = artifactKey('desktop', artifact?.object ?? '');
    const file = pathOf(path.join(service.config.dataDirectory, 'objects'), stored);
    const kept = path.join(service.directory, 'kept');
    await copyFile(file, kept);
    await rm(file);
    await writeFile(file, randomBytes(artifact?.size ?? 0));
    const { body } = await ask('linux/x86_64+deb', '1.0.0');
    const bytes = await download(body.url);
    expect(verifyMinisign(bytes, body.signature ?? '', key.publicKey)).toBeUndefined();
    await copyFile(kept, file);
  });
});

// These tests come last, because they publish further releases.
describe('a release without signatures', () => {
  it('is never offered, although it is the newest', async () => {
    await publishBundles('3.0.0', bundlesOf('3.0.0'), false);
    for (const [machine] of TARGETS) {
      expect((await ask(machine, '2.0.0')).status).toBe(204);
      expect((await ask(machine, '1.0.0')).body.version).toBe('2.0.0');
    }
  });

  it('is offered to the machines whose bundle has a signature', async () => {
    const name = 'aarch64-apple-darwin/release/bundle/macos/My App.app.tar.gz';
    const content = bundlesOf('4.0.0')[name] ?? Buffer.alloc(0);
    await publishBundles('4.0.0', { [name]: content });
    expect((await ask('darwin/aarch64', '2.0.0')).body.version).toBe('4.0.0');
    expect((await ask('darwin/x86_64', '2.0.0')).status).toBe(204);
  });
});

describe('when the catalog cannot be read', () => {
  it('answers 503, and not the 204 that means "no update"', async () => {
    const blind = await createTestService({ start: false });
    try {
      const url = `${await blind.listen()}/feeds/desktop/stable/tauri/linux/x86_64/1.0.0`;
      const answer = await fetch(url);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    } finally {
      await blind.close();
    }
  });
});
