import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import type { Artifact, Release } from '../../../src/domain/release.ts';
import { parseZsync } from '../../../src/domain/zsync.ts';
import { makeZsync } from '../../../src/releases/files/make-zsync.ts';
import type { ProtocolRequest } from '../../../src/updaters/protocol.ts';
import { zsync } from '../../../src/updaters/zsync/zsync.ts';
import { elf } from '../../builds/materialize.ts';
import { setStatus } from '../../server/support.ts';
import { character } from '../../support/character.ts';
import { seededBytes } from '../../support/electron-build.ts';
import { publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** zsync's dialect: the names that are written into AppImages, and the header lines of its answers. */

function ask(file: string, query: Record<string, string> = {}) {
  const asked: ProtocolRequest = {
    application: 'desktop',
    channel: 'stable',
    path: file.split('/'),
    query,
    headers: {},
    body: undefined,
  };
  return zsync.parseRequest(asked);
}

describe('parseRequest', () => {
  it.each([
    ['App-x86_64.AppImage.zsync', 'x64'],
    ['App-aarch64.AppImage.zsync', 'arm64'],
    ['App-arm64.AppImage', 'arm64'],
    ['App-armhf.AppImage', 'armv7'],
    ['App_i386.AppImage', 'ia32'],
    ['App x86-64.appimage', 'x64'],
    ['App.AppImage', 'x64'],
    ['ARM-Studio-x86_64.AppImage', 'x64'],
    ['App-386-aarch64.AppImage', 'arm64'],
    ['constructor.AppImage', 'x64'],
  ])('%s is for %s', (file, arch) => {
    expect(ask(file)?.query).toMatchObject({
      platform: 'linux',
      arch,
      formats: ['appimage'],
      currentVersion: null,
    });
  });

  it('prefers the architecture in the query', () => {
    expect(ask('App-x86_64.AppImage.zsync', { arch: 'aarch64' })?.query.arch).toBe('arm64');
    expect(() => ask('App.AppImage', { arch: 'z80' })).toThrow(
      expect.objectContaining({ code: 'unknown_arch' }),
    );
  });

  it.each([
    ...[
      'App.AppImage/x',
      'App.deb',
      '.AppImage',
      'App.zsync',
      'App\n.AppImage.zsync',
      '..AppImage',
    ],
    ...[`${'a'.repeat(200)}.AppImage`, 'a\\b.AppImage.zsync', 'App-1.0.0-x86_64.AppImage'],
  ])('has no document %j', (file) => expect(ask(file)).toBeUndefined());

  it('has a zsync file of the newest release also for a name with a version', () => {
    expect(ask('App-1.0.0-x86_64.AppImage.zsync')?.document).toBe('App-1.0.0-x86_64.AppImage');
  });

  it('puts no line into the header, whatever the name is', () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), (name) => {
        const document = ask(`${name}.AppImage.zsync`)?.document ?? '';
        expect(document).not.toMatch(/[\n\r/]/);
      }),
    );
  });
});

describe('renderOffer', () => {
  it('answers 404 for a release that has no zsync file, and not with an older one', () => {
    const artifact: Artifact = {
      platform: 'linux',
      arch: 'x64',
      format: 'appimage',
      filename: 'App.AppImage',
      size: 1,
      ...{
        sha256: '',
        sha512: '',
        minimumOsVersion: null,
        signatures: [],
        companions: [],
        object: '',
      },
    };
    const release: Release = {
      application: 'desktop',
      version: '3.0.0',
      releasedAt: '2026-03-01T00:00:00.000Z',
      name: null,
      notes: {},
      notesRemoved: [],
      requires: null,
      mandatoryFor: null,
      endsNative: [],
      provenance: { commit: null, buildUrl: null },
      artifacts: [artifact],
      carried: [],
    };
    const input = {
      ...({ release, artifact, platform: 'linux', arch: 'x64', formats: null } as const),
      fileUrl: (version: string, name: string) => `https://updates.example/${version}/${name}`,
    };
    const document = ask('App.AppImage.zsync')?.document ?? '';
    expect(zsync.readsFile?.(artifact, document)).toBeUndefined();
    expect(() => zsync.renderOffer({ ...input, document })).toThrow(
      expect.objectContaining({ code: 'no_release' }),
    );
    const file = zsync.renderOffer({ ...input, document: ask('App.AppImage')?.document ?? 'x' });
    expect(file).toMatchObject({ status: 302 });
    expect(file.headers.location).toBe('https://updates.example/3.0.0/App.AppImage');
  });
});

const BYTES = Buffer.concat([elf('x64').subarray(0, 64), seededBytes(100_000, 'an AppImage')]);

describe('the feed', () => {
  let service: TestService;
  const base = '/feeds/desktop/stable/zsync';
  const get = (file: string, method: 'GET' | 'HEAD' = 'GET') =>
    service.app.http.inject({ method, url: `${base}/${file}` });

  beforeAll(async () => {
    service = await createTestService({ env: { PUBLIC_URL: 'https://updates.example' } });
    await publishAppImage('1.0.0', BYTES);
    await publishAppImage('2.0.0', Buffer.concat([BYTES, BYTES]));
  });
  afterAll(() => service.close());

  async function publishAppImage(version: string, bytes: Buffer, sidecar?: Uint8Array) {
    const directory = path.join(service.directory, `build ${version}`);
    await mkdir(directory, { recursive: true });
    const file = path.join(directory, `App-${version}-x86_64.AppImage`);
    await writeFile(file, bytes);
    if (sidecar !== undefined) await writeFile(`${file}.zsync`, sidecar);
    const build = await readBuildOutput({ paths: [directory], version });
    const result = await publish(service, { version, ...build });
    await service.refresh();
    return { build, result };
  }

  it('has the newest release, at the address of its version and under the requested name', async () => {
    const answer = await get('My%20App-x86_64.AppImage.zsync');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/x-zsync');
    expect(answer.headers['cache-control']).toMatch(/^public/);
    const read = parseZsync(answer.rawPayload);
    if (typeof read === 'string') throw new Error(read);
    expect(read.length).toBe(2 * BYTES.length);
    expect(Object.fromEntries(read.fields)).toMatchObject({
      Filename: 'My App-x86_64.AppImage',
      URL: `https://updates.example${base}/2.0.0/App-2.0.0-x86_64.AppImage`,
      'SHA-1': createHash('sha1').update(BYTES).update(BYTES).digest('hex'),
    });
    const head = await get('My%20App-x86_64.AppImage.zsync', 'HEAD');
    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', answer.headers.etag]);
  });

  it('redirects to the newest AppImage, and to that of a version in the name', async () => {
    const newest = await get('App-x86_64.AppImage');
    expect([newest.statusCode, newest.headers.location]).toEqual([
      302,
      `https://updates.example${base}/2.0.0/App-2.0.0-x86_64.AppImage`,
    ]);
    const older = await get('App-1.0.0-x86_64.AppImage');
    expect(older.statusCode).toBe(302);
    expect(older.headers.location).toContain('App-1.0.0-x86_64.AppImage');
  });

  it('answers every range itself, because the client keeps the address that it is redirected to', async () => {
    const status = async (feed: string) => {
      const url = `/feeds/desktop/stable/${feed}/2.0.0/App-2.0.0-x86_64.AppImage`;
      const answer = await service.app.http.inject({ url, headers: { range: 'bytes=0-99' } });
      return answer.statusCode;
    };
    expect([await status('zsync'), await status('electron')]).toEqual([206, 302]);
  });

  it('offers no older release while the newest is paused or yanked', async () => {
    expect((await get('App-aarch64.AppImage.zsync')).statusCode).toBe(404);
    const length = async () => {
      const answer = await get('App-x86_64.AppImage.zsync');
      if (answer.statusCode !== 200) return answer.json().detail;
      const read = parseZsync(answer.rawPayload);
      return typeof read === 'string' ? read : read.length;
    };
    await setStatus(service, 'pause', '2.0.0');
    expect(await length()).toMatch(/^stable of desktop offers this client nothing \(paused\)/);
    // A person who downloads the AppImage is offered what every visitor is offered.
    expect((await get('App-x86_64.AppImage')).headers.location).toContain('/1.0.0/');
    await setStatus(service, 'resume', '2.0.0');
    expect(await length()).toBe(2 * BYTES.length);
    await setStatus(service, 'yank', '2.0.0');
    expect(await length()).toMatch(/\(no_release\)/);
    expect((await get('2.0.0/App-2.0.0-x86_64.AppImage')).statusCode).toBe(410);
    await publishAppImage('2.0.1', Buffer.concat([BYTES, Buffer.from('1')]));
    expect(await length()).toBe(BYTES.length + 1);
  });

  it('counts as memory of its client, because no other answer has the same bytes', async () => {
    const limits = { connectionsMax: 100, heldBytesMax: 300, because: '' };
    const small = await createTestService({ store: service.store, limits });
    const url = await small.listen();
    const answer = await fetch(`${url}${base}/App-x86_64.AppImage.zsync`);
    const other = await fetch(`${url}/feeds/desktop/stable/electron/latest-linux.yml`);
    await small.close();
    expect([answer.status, other.status]).toEqual([503, 200]);
  });

  it("publishes the build tool's own zsync file, and keeps its other lines", async () => {
    const bytes = Buffer.concat([BYTES, Buffer.from('4')]);
    const file = path.join(service.directory, 'four');
    await writeFile(file, bytes);
    const sha1 = createHash('sha1').update(bytes).digest('hex');
    const facts = { path: file, filename: 'App.AppImage', size: bytes.length, sha1 };
    const made = Buffer.from(await makeZsync(facts)).toString('latin1');
    const own = made.replace('\nBlocksize', '\nMTime: Sun, 22 Nov 2026 18:20:52 +0000\nBlocksize');
    const { build } = await publishAppImage('4.0.0', bytes, Buffer.from(own, 'latin1'));
    expect(build.skipped).toEqual([]);
    const read = parseZsync((await get('App-x86_64.AppImage.zsync')).rawPayload);
    if (typeof read === 'string') throw new Error(read);
    expect(Object.fromEntries(read.fields)).toMatchObject({
      MTime: 'Sun, 22 Nov 2026 18:20:52 +0000',
      Filename: 'App-x86_64.AppImage',
    });
    expect(read.fields.filter(([name]) => name === 'URL')).toHaveLength(1);
  });

  it.each([
    [
      'of another build',
      (made: string) => made.replace(/Length: \d+/, 'Length: 99999'),
      /another build/,
    ],
    [
      'of other bytes',
      (made: string) => made.replace(/SHA-1: .{8}/, 'SHA-1: 00000000'),
      /not the file/,
    ],
  ])('refuses a zsync file %s', async (_why, change, message) => {
    const bytes = Buffer.concat([BYTES, Buffer.from('56')]);
    const file = path.join(service.directory, 'five');
    await writeFile(file, bytes);
    const sha1 = createHash('sha1').update(bytes).digest('hex');
    const facts = { path: file, filename: 'App.AppImage', size: bytes.length, sha1 };
    const made = Buffer.from(await makeZsync(facts)).toString('latin1');
    const sidecar = Buffer.from(change(made), 'latin1');
    await expect(publishAppImage('5.0.0', bytes, sidecar)).rejects.toMatchObject({
      code: 'invalid_artifact',
      message: expect.stringMatching(message),
    });
  });

  it('makes its own where the file beside the AppImage is no zsync file', async () => {
    const { build, result } = await publishAppImage('6.0.0', BYTES, Buffer.from('no header'));
    expect(build.skipped).toEqual([
      expect.objectContaining({ reason: expect.stringContaining('publish makes its own') }),
    ]);
    expect(result.artifacts[0]?.artifact.companions).toMatchObject([{ kind: 'zsync' }]);
  });
});
