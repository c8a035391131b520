import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareSquirrelVersions,
  isSquirrelVersion,
  parseSquirrelVersion,
  squirrelTextOf,
  squirrelVersionIn,
  versionsWrittenAs,
} from '../../src/domain/squirrel-version.ts';
import { versionText } from '../../src/domain/version.ts';
import { versionsInName } from '../../src/domain/version-in-name.ts';
import { cpuTimeOf } from '../support/cpu-time.ts';

const parsed = (text: string): string | undefined => {
  const version = parseSquirrelVersion(text);
  return version && versionText(version);
};

describe('versions as Squirrel.Windows writes them', () => {
  it.each([
    ['1.0.0-beta1', '1.0.0-beta.1'],
    ['1.0.0-beta', '1.0.0-beta'],
    ['1.0.0-rc-2', '1.0.0-rc-2'],
    ['1.0.0-beta01', '1.0.0-beta01'],
    ['1.0.0-nightly20261122', '1.0.0-nightly.20261122'],
    ['1.0.0', '1.0.0'],
    ['v1.0.0', '1.0.0'],
    ['1.2', '1.2.0'],
    ['1', '1.0.0'],
    ['1.0.0.4', '1.0.0'],
    ['1.0.0.4-beta2', '1.0.0-beta.2'],
    ['1.0.0-beta.1', '1.0.0-beta.1'],
    ['1.0.0+5', '1.0.0+5'],
    ['', undefined],
    ['latest', undefined],
    ['1.0.0/../../2', undefined],
    [`1.0.0-${'a'.repeat(200)}`, undefined],
  ])('reads %j as %j', (text, version) => {
    expect(parsed(text)).toBe(version);
  });

  it.each([
    ['1.0.0-beta12', ['1.0.0-beta.12', '1.0.0-beta12', '1.0.0-beta.1.2']],
    ['1.0.0-beta', ['1.0.0-beta']],
    ['1.0.0', ['1.0.0']],
    ['latest', []],
  ])('may mean by %j %j', (text, versions) => {
    expect(versionsWrittenAs(text).map(versionText)).toEqual(versions);
  });

  it.each([
    ['App-1.0.0-full.nupkg', '1.0.0'],
    ['App-1.0.0-beta1-delta.nupkg', '1.0.0-beta1'],
    ['My-App2-ia32-1.10.0.4-full.nupkg', '1.10.0.4'],
    // Squirrel takes such a package for version 1.
    ['App-2.0.0-beta.1-full.nupkg', '1'],
    ['App-full.nupkg', undefined],
  ])('finds in the name %j, as Squirrel does, %j', (name, version) => {
    expect(squirrelVersionIn(name)).toBe(version);
  });

  it('reads a name of several megabytes in no time', () => {
    for (const part of ['1', '1-a']) {
      const name = `${part.repeat(1_000_000)}.`;
      expect(cpuTimeOf(() => expect(squirrelVersionIn(name)).toBeUndefined())).toBeLessThan(2_000);
    }
  });

  it('reads back what electron-winstaller writes, and finds the version in the name', () => {
    const word = fc.constantFrom('alpha', 'beta', 'rc', 'canary', 'Pre');
    const numbers = fc.tuple(fc.nat(999), fc.nat(999), fc.nat(999)).map((each) => each.join('.'));
    const prerelease = fc.oneof(
      fc.constant(''),
      word.map((text) => `-${text}`),
      fc.tuple(word, fc.nat(9999)).map(([text, n]) => `-${text}.${n}`),
    );
    fc.assert(
      fc.property(numbers, prerelease, (core, tail) => {
        const version = `${core}${tail}`;
        const text = squirrelTextOf(version);
        expect(isSquirrelVersion(text)).toBe(true);
        expect(parsed(text)).toBe(version);
        const name = `App-${text}-full.nupkg`;
        expect(squirrelVersionIn(name)).toBe(text);
        expect(versionsInName(name)).toContain(version);
      }),
    );
  });

  it('is in the order of Squirrel, which compares pre-releases as texts', () => {
    const ascending = ['0.9', '1.0.0-alpha', '1.0.0-beta10', '1.0.0-BETA2', '1.0', '1.0.0.1', '2'];
    for (const [index, text] of ascending.entries()) {
      for (const [other, later] of ascending.entries()) {
        const sign = Math.sign(compareSquirrelVersions(text, later));
        expect([text, later, sign]).toEqual([text, later, Math.sign(index - other)]);
      }
    }
    expect(compareSquirrelVersions('1.0', '1.0.0.0')).toBe(0);
  });
});
