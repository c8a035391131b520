import { describe, expect, it } from 'vitest';
import type { Artifact, Release } from '../../src/domain/release.ts';
import { versionText } from '../../src/domain/version.ts';
import type { ProtocolRequest } from '../../src/protocols/protocol.ts';
import { tauri } from '../../src/protocols/tauri.ts';

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

  it('reads the fields that are common to all dialects', () => {
    const query = { os_version: '12.3', installation_id: 'a' };
    const said = { installationId: 'a', osVersion: '12.3' };
    expect(parse('darwin/aarch64/1.0.0', { query })).toMatchObject(said);
  });

  it('takes a version with build metadata or a leading v', () => {
    expect(parse('linux/x86_64/v1.0.0-rc.1+7').currentVersion).toBe('1.0.0-rc.1+7');
  });

  it.each(['', 'linux', 'linux/x86_64', 'linux/x86_64/1.0.0/deb/more'])(
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
    ...{ document: question.document, platform, arch, formats },
    ...{ release, artifact },
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
