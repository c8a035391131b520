import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkFilename, insertArch, whyUnpublishable } from '../../src/builds/filename.ts';
import { inferFromName } from '../../src/builds/infer.ts';
import { otherVersionIn } from '../../src/builds/name-version.ts';
import { parseMinisignSignature } from '../../src/domain/minisign.ts';
import {
  compareOsVersions,
  darwinVersionOfMacos,
  macosVersionOfDarwin,
  parseOsVersion,
} from '../../src/domain/os-version.ts';
import { character } from '../support/character.ts';

test('inferFromName never throws', () => {
  fc.assert(fc.property(fc.string({ unit: character }), (name) => void inferFromName(name)));
});

test.each([
  ['App Setup 1.0.0.exe', { platform: 'windows', format: 'nsis' }],
  ['App-1.0.0-armv7l.AppImage', { platform: 'linux', arch: 'armv7', format: 'appimage' }],
  ['app-1.0.0-1.x86_64.rpm', { platform: 'linux', arch: 'x64', format: 'rpm' }],
  ['Universal Player_1.0.0_x64.dmg', { platform: 'macos', arch: 'x64', format: 'dmg' }],
  ['App_1.0.0_x64-setup.nsis.zip', { platform: 'windows', arch: 'x64' }],
  ['App-darwin-arm64-1.0.0.zip', { platform: 'macos', arch: 'arm64', format: 'zip' }],
  ['constructor', {}],
])('inferFromName(%s)', (name, clues) => {
  expect(inferFromName(name)).toEqual(clues);
});

test.each([
  ['App-1.0.0-arm64.dmg', '1.0.0', undefined],
  ['App-1.0.0.dmg', '1.1.0', '1.0.0'],
  ['App-1.0.0-beta.1-x64.dmg', '1.0.0', '1.0.0-beta.1'],
  ['App-1.0.0.dmg', '1.0.0-beta.1', '1.0.0'],
  ['App-1.0.0-beta.1.dmg', '1.0.0-beta.1', undefined],
  ['app-1.0.0-beta1-full.nupkg', '1.0.0-beta.1', undefined],
  ['App-1.0.0-beta-full.nupkg', '1.0.0', undefined],
  ['App-11.0.0.dmg', '1.0.0', '11.0.0'],
  ['app-1.0.0-1.x86_64.rpm', '1.0.0', undefined],
  ['app-1.0.0.7z', '1.0.0', undefined],
  ['App 1.0.0.0.appx', '1.0.0', undefined],
  ['App_0.4.2-1035_x64-setup.exe', '0.4.2', '0.4.2-1035'],
  ['App.dmg', '1.0.0', undefined],
  ['App-1.0.0.dmg', '1.0.0+5', undefined],
])('the version in %s, published as %s', (name, version, other) => {
  expect(otherVersionIn(name, version)).toBe(other);
});

describe('names', () => {
  test('that pass are safe to save, link and list', () => {
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 300 }), (name) => {
        if (whyUnpublishable(name) !== undefined) return;
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
        expect(name).not.toMatch(/[/\\\p{Cc}\p{Cf}\p{Cs}]|^\.|^$/u);
      }),
    );
  });

  test.each([
    '',
    '.hidden',
    'a/b',
    'a\\b',
    'a\0',
    'a\u202egpj.exe',
    'a\u200b.exe',
    'x'.repeat(201),
    'CON.exe',
    'a ',
    '..',
  ])('%j is refused', (name) => {
    expect(() => checkFilename('/p', name)).toThrowError(/cannot be published.*,name=/);
  });

  test('are composed, as macOS hands out decomposed ones', () => {
    expect(checkFilename('/p', 'Cafe\u0301.dmg')).toBe('Café.dmg');
  });

  test('get an architecture before the version, where Squirrel does not read it', () => {
    expect(insertArch('app-1.0.0-full.nupkg', 'arm64')).toBe('app-arm64-1.0.0-full.nupkg');
    expect(insertArch('AppSetup.exe', 'ia32')).toBe('App-ia32Setup.exe');
    expect(insertArch('app-1.0.0-full.nupkg', 'x64')).toBe('app-1.0.0-full.nupkg');
  });
});

test('the key id of a real signature (tari-project/universe 1.0.10)', () => {
  const text =
    'dW50cnVzdGVkIGNvbW1lbnQ6IHNpZ25hdHVyZSBmcm9tIHRhdXJpIHNlY3JldCBrZXkKUlVRbUtvKzlyYWhiOGQxK0lOb1NMNlFac2Z5bHV0bThBRWRyd09sc3BPa2YzelRUMXhJekprNFRXdkZVcXE3NE1TeHYxdjQydGZFZHY2SVY2UmlOWG5hcVJpSnUvRStScEF3PQp0cnVzdGVkIGNvbW1lbnQ6IHRpbWVzdGFtcDoxNzQ3MzE0NTk5CWZpbGU6dGFyaV91bml2ZXJzZV8xLjAuMTBfYW1kNjQuQXBwSW1hZ2UKWWo0Z1lUMnUxUjZmZFF1Y3dZVjU4WHgxemV1dTN0aGxxN09lYWttdWFZWmdwbTRwcTAxUTVQMmNaM2p3c1hMUEtVY2tDMTI1a0FXRno2QXBGWFMzQ2c9PQo=';
  expect(parseMinisignSignature(text)?.keyId).toBe('F15BA8ADBD8F2A26');
  expect(parseMinisignSignature(text.slice(0, -40))).toBeUndefined();
});

describe('versions of operating systems', () => {
  test.each([
    ['10.0.19045 (22H2)', [10, 0, 19045]],
    ['14', [14]],
    ['Sonoma', undefined],
  ])('parseOsVersion(%s)', (text, version) => {
    expect(parseOsVersion(text)).toEqual(version);
  });

  test.each([
    ['18.7.0', '10.14.6'],
    ['20.0.0', '11.0'],
    ['21.0.0', '12.0'],
    ['24.0.0', '15.0'],
    ['25.0.0', '26.0'],
  ])('Darwin %s is macOS %s', (darwin, macos) => {
    expect(macosVersionOfDarwin(darwin)).toBe(macos);
    expect(macosVersionOfDarwin(darwinVersionOfMacos(macos) ?? '')).toBe(macos);
  });

  test('macOS 16 to 25 and Darwin before 4 do not exist', () => {
    expect(darwinVersionOfMacos('16.0')).toBe('25.0.0');
    expect(darwinVersionOfMacos('10.16')).toBe('20.0.0');
    expect(macosVersionOfDarwin('3.0')).toBeUndefined();
  });

  test('compare number by number', () => {
    expect(compareOsVersions([10, 9], [10, 15])).toBeLessThan(0);
    expect(compareOsVersions([11], [11, 0])).toBe(0);
  });
});
