import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tryParseVersion } from '../../src/domain/version.ts';
import { versionsInName } from '../../src/domain/version-in-name.ts';
import { cpuTimeOf } from '../support/cpu-time.ts';

describe('the versions in a file name', () => {
  it.each([
    ['App-Setup-1.2.3.exe', ['1.2.3']],
    ['app_1.2.3_amd64.deb', ['1.2.3']],
    ['app-1.2.3.x86_64.rpm', ['1.2.3']],
    ['App Setup v10.20.30.exe.blockmap', ['10.20.30']],
    ['App.exe', []],
    ['App-1.2.exe', []],
    ['App-01.2.3.exe', []],
    ['', []],
    [
      'App-1.0.0-beta.1-x64.AppImage',
      ['1.0.0-beta.1-x64.AppImage', '1.0.0-beta.1-x64', '1.0.0-beta.1', '1.0.0-beta', '1.0.0'],
    ],
    ['App-1.0.0+build.7.exe', ['1.0.0+build.7.exe', '1.0.0+build.7', '1.0.0+build', '1.0.0']],
    ['App-1.0.0-x64.nsis.7z', ['1.0.0-x64.nsis.7z', '1.0.0-x64.nsis', '1.0.0-x64', '1.0.0']],
    ['App2.1.0.0.exe', ['2.1.0', '1.0.0']],
    ['1.2.3', ['1.2.3']],
  ])('%j: %j', (name, versions) => {
    expect(versionsInName(name)).toEqual(versions);
  });

  it('are semantic versions, longest first, and include the version that a name was made of', () => {
    const identifier = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
    const version = fc
      .tuple(fc.nat(999), fc.nat(999), fc.nat(999), fc.array(identifier, { maxLength: 3 }))
      .map(([a, b, c, pre]) => `${a}.${b}.${c}${pre.length > 0 ? `-${pre.join('.')}` : ''}`);
    const before = fc.stringMatching(/^[A-Za-z]{1,8}[-_ ]$/);
    const after = fc.constantFrom('', '.exe', '-x64.exe', '_amd64.deb', '-arm64-mac.zip.blockmap');
    fc.assert(
      fc.property(before, version, after, (prefix, text, suffix) => {
        const found = versionsInName(`${prefix}${text}${suffix}`);
        expect(found).toContain(text);
        for (const each of found) expect(tryParseVersion(each)).toBeDefined();
        expect(found.map(({ length }) => length)).toEqual(
          found.map(({ length }) => length).toSorted((a, b) => b - a),
        );
      }),
    );
  });

  it('of a hostile name cost little', () => {
    // Without a limit on what is tried, each takes some 300 ms.
    for (const piece of ['1.1.1-', '01.1.1-']) {
      expect(cpuTimeOf(() => versionsInName(piece.repeat(170)))).toBeLessThan(100);
    }
  });

  it('of any text are few', () => {
    const many = `${'1.2.3-a.'.repeat(30)}`;
    expect(versionsInName(many).length).toBeLessThanOrEqual(64);
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (name) => {
        expect(versionsInName(name).length).toBeLessThanOrEqual(64);
      }),
    );
  });
});
