import { describe, expect, it } from 'vitest';
import type { Artifact, Release } from '../../../src/domain/release.ts';
import { versionText } from '../../../src/domain/version.ts';
import type { ProtocolRequest } from '../../../src/updaters/protocol.ts';
import { tauri } from '../../../src/updaters/tauri/tauri.ts';

/** Tauri's dialect: its pure functions. */

function request(path: string, more: Partial<ProtocolRequest> = {}): ProtocolRequest {
  const parts = path.split('/');
  const asked = { application: 'desktop', channel: 'beta', path: parts, body: undefined };
  return { ...asked, query: {}, headers: {}, ...more };
}

function parse(path: string, more: Partial<ProtocolRequest> = {}) {
  const query = tauri.parseRequest(request(path, more))?.query;
  if (query === undefined) throw new Error(`${path} is none of its documents`);
  const { currentVersion } = query;
  return { ...query, currentVersion: currentVersion && versionText(currentVersion) };
}

describe('parseRequest', () => {
  it.each([
    ['linux/x86_64/1.0.0', 'linux', 'x64', ['appimage']],
    ['linux/armv7/1.0.0', 'linux', 'armv7', ['appimage']],
    ['linux/x86_64/1.0.0/unknown', 'linux', 'x64', ['appimage']],
    ['windows/x86_64/1.0.0/unknown', 'windows', 'x64', ['nsis', 'msi']],
    ['darwin/aarch64/1.0.0/{{bundle_type}}', 'macos', 'arm64', ['tar.gz']],
    ['darwin/aarch64/1.0.0/', 'macos', 'arm64', ['tar.gz']],
    ['darwin/aarch64/1.0.0', 'macos', 'arm64', ['tar.gz']],
    ['darwin/x86_64/1.0.0', 'macos', 'x64', ['tar.gz']],
    ['windows/x86_64/1.0.0', 'windows', 'x64', ['nsis', 'msi']],
    ['windows/i686/1.0.0', 'windows', 'ia32', ['nsis', 'msi']],
    ['windows/x86_64/1.0.0/msi', 'windows', 'x64', ['msi']],
    ['windows/x86_64/1.0.0/nsis', 'windows', 'x64', ['nsis']],
    ['linux/x86_64/1.0.0/deb', 'linux', 'x64', ['deb']],
    ['linux/x86_64/1.0.0/rpm', 'linux', 'x64', ['rpm']],
    ['linux/x86_64/1.0.0/appimage', 'linux', 'x64', ['appimage']],
    ['darwin/aarch64/1.0.0/app', 'macos', 'arm64', ['tar.gz']],
    // Targets that an application has set; the client replaces the other variables as usual.
    ['darwin-universal/aarch64/1.0.0', 'macos', 'universal', ['tar.gz']],
    ['windows-x86_64/x86_64/1.0.0/nsis', 'windows', 'x64', ['nsis']],
    ['windows-x86_64/aarch64/1.0.0', 'windows', 'x64', ['nsis', 'msi']],
    ['linux-x86_64-deb/x86_64/1.0.0/unknown', 'linux', 'x64', ['deb']],
    ['linux-aarch64-rpm/aarch64/1.0.0/deb', 'linux', 'arm64', ['rpm']],
    ['darwin-aarch64/{{arch}}/1.0.0', 'macos', 'arm64', ['tar.gz']],
    // The client knows this architecture, and no build can be published for it: no update, not an error.
    ['linux/riscv64/1.0.0', 'linux', null, []],
    ['linux/riscv64/1.0.0/deb', 'linux', null, []],
  ])('%s is a machine that installs %s %s %j', (path, platform, arch, formats) => {
    expect(parse(path)).toMatchObject({
      application: 'desktop',
      channel: 'beta',
      currentVersion: '1.0.0',
      platform,
      arch,
      formats,
      osGate: 'server',
      purpose: 'update',
      signatureScheme: 'minisign',
    });
  });

  it('prefers the bundle type in the path to the query', () => {
    const query = { bundle_type: 'msi' };
    expect(parse('windows/x86_64/1.0.0', { query }).formats).toEqual(['msi']);
    expect(parse('windows/x86_64/1.0.0/nsis', { query }).formats).toEqual(['nsis']);
  });

  it('asks for every machine in latest.json', () => {
    const question = tauri.parseRequest(request('latest.json'));
    const names = question?.machines?.map(({ name }) => name) ?? [];
    expect(question?.query.currentVersion).toBeNull();
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['linux-x86_64', 'linux-x86_64-appimage', 'linux-aarch64-deb', 'linux-armv7-rpm'],
        ...['windows-x86_64', 'windows-i686-nsis', 'windows-aarch64-msi'],
        ...['darwin-aarch64', 'darwin-x86_64-app', 'darwin-universal', 'darwin-universal-app'],
      ]),
    );
    for (const name of ['linux-x86_64-msi', 'darwin-aarch64-deb', 'windows-x86_64-app']) {
      expect(names).not.toContain(name);
    }
    // A client that looks for a name in the document gets the same as one that asks with the name in the path.
    for (const machine of question?.machines ?? []) {
      const { platform, arch, formats } = parse(`${machine.name}/x86_64/1.0.0`);
      expect(machine).toMatchObject({ platform, arch, formats });
    }
  });

  it('takes what a client states in the query of latest.json', () => {
    const query = { current_version: '1.2.3', installation_id: 'a', os_version: '12.3' };
    const stated = { currentVersion: '1.2.3', installationId: 'a', osVersion: '12.3' };
    expect(parse('latest.json', { query })).toMatchObject(stated);
    const empty = { query: { current_version: '' } };
    expect(parse('latest.json', empty).currentVersion).toBeNull();
    const variable = { query: { current_version: '{{current_version}}' } };
    expect(() => parse('latest.json', variable)).toThrow(
      expect.objectContaining({ code: 'invalid_version' }),
    );
  });

  it('reads the fields that are common to all dialects', () => {
    const query = { os_version: '12.3', installation_id: 'a' };
    const said = { installationId: 'a', osVersion: '12.3' };
    expect(parse('darwin/aarch64/1.0.0', { query })).toMatchObject(said);
  });

  it('takes a version with build metadata or a leading v', () => {
    expect(parse('linux/x86_64/v1.0.0-rc.1+7').currentVersion).toBe('1.0.0-rc.1+7');
  });

  it.each(['', 'linux', 'linux/x86_64', 'linux/x86_64/1.0.0/deb/more', 'latest.json/x'])(
    'has no document %j',
    (path) => expect(tauri.parseRequest(request(path))).toBeUndefined(),
  );

  it.each([
    ['beos/x86_64/1.0.0', 'unknown_platform', '/target'],
    ['linux/mips/1.0.0', 'unknown_arch', '/arch'],
    ['linux/x86_64/one', 'invalid_version', '/current_version'],
    ['linux/x86_64/{{current_version}}', 'invalid_version', '/current_version'],
    ['linux/x86_64/1.0.0/floppy', 'unknown_format', '/bundle_type'],
    ['linux/x86_64/1.0.0/snap', 'unknown_format', '/bundle_type'],
    ['steamdeck/x86_64/1.0.0', 'unknown_platform', '/target'],
    ['steamdeck-x86_64/x86_64/1.0.0', 'unknown_platform', '/target'],
    ['linux-mips/x86_64/1.0.0', 'unknown_arch', '/target'],
    ['linux-x86_64-snap/x86_64/1.0.0', 'unknown_format', '/bundle_type'],
    ['linux-x86_64-deb-old/x86_64/1.0.0', 'unknown_format', '/bundle_type'],
  ])('refuses %s: %s', (path, code, pointer) => {
    const issues = [expect.objectContaining({ pointer })];
    expect(() => parse(path)).toThrow(expect.objectContaining({ code, issues }));
  });
});

describe('an answer', () => {
  const question = tauri.parseRequest(request('linux/x86_64/1.0.0'));
  if (question === undefined) throw new Error('not a document');
  const artifact: Artifact = {
    platform: 'linux',
    arch: 'x64',
    format: 'appimage',
    filename: 'App.AppImage',
    size: 1,
    sha256: '',
    sha512: '',
    minimumOsVersion: null,
    signatures: [{ scheme: 'minisign', keyId: 'AB', value: ' the .sig,\nuntouched ' }],
    companions: [],
    object: '',
  };
  const release: Release = {
    application: 'desktop',
    version: '2.0.0',
    releasedAt: '2026-11-21T09:00:00.000Z',
    notes: { und: 'New.' },
    requires: null,
    mandatoryFor: null,
    name: null,
    carried: [],
    notesRemoved: [],
    endsNative: [],
    provenance: { commit: null, buildUrl: null },
    artifacts: [artifact],
  };
  const { platform, arch, formats } = question.query;
  const offer = {
    document: question.document,
    platform,
    arch,
    formats,
    release,
    artifact,
    fileUrl: (version: string, name: string) => `https://updates.example/${version}/${name}`,
  };

  it('is the document that the client wants', () => {
    const answer = tauri.renderOffer(offer);
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect(answer).toMatchObject({ status: 200, headers });
    expect(JSON.parse(String(answer.body))).toEqual({
      version: '2.0.0',
      notes: 'New.',
      pub_date: '2026-11-21T09:00:00.000Z',
      url: 'https://updates.example/2.0.0/App.AppImage',
      signature: ' the .sig,\nuntouched ',
    });
  });

  it('names every machine in latest.json, with its own file and signature', () => {
    const deb: Artifact = {
      ...artifact,
      format: 'deb',
      filename: 'App.deb',
      signatures: [{ scheme: 'minisign', keyId: 'AB', value: 'of the deb' }],
    };
    const builds = [
      { name: 'linux-x86_64', artifact },
      { name: 'linux-x86_64-deb', artifact: deb },
    ];
    const { body } = tauri.renderOffer({ ...offer, document: 'latest.json', builds });
    const url = 'https://updates.example/2.0.0/App.AppImage';
    expect(JSON.parse(String(body))).toEqual({
      version: '2.0.0',
      notes: 'New.',
      pub_date: '2026-11-21T09:00:00.000Z',
      platforms: {
        'linux-x86_64': { url, signature: ' the .sig,\nuntouched ' },
        'linux-x86_64-deb': { url: url.replace('AppImage', 'deb'), signature: 'of the deb' },
      },
    });
  });

  it('has empty notes for a release without notes', () => {
    const { body } = tauri.renderOffer({ ...offer, release: { ...release, notes: {} } });
    expect(JSON.parse(String(body))).toMatchObject({ notes: '' });
  });

  it('is 204 without a body when there is no update', () => {
    expect(tauri.renderNoUpdate(question, 'up_to_date')).toEqual({
      status: 204,
      headers: {},
      body: '',
    });
  });
});
