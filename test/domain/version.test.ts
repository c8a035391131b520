import fc from 'fast-check';
import semver from 'semver';
import { expect, it } from 'vitest';
import {
  compareVersions,
  inRange,
  parseRange,
  parseVersion,
  tryParseVersion,
  versionText,
} from '../../src/domain/version.ts';

const identifier = fc.stringMatching(/^([1-9]\d{0,3}|[a-z][0-9a-z-]{0,15})$/);
const identifiers = (sign: string) =>
  fc
    .array(identifier, { maxLength: 3 })
    .map((all) => (all.length === 0 ? '' : `${sign}${all.join('.')}`));
const versions = fc
  .tuple(fc.nat(999), fc.nat(99), fc.nat(9), identifiers('-'), identifiers('+'))
  .map(([major, minor, patch, pre, build]) => `${major}.${minor}.${patch}${pre}${build}`);

it('parsing equal texts returns one frozen version', () => {
  fc.assert(
    fc.property(versions, (text) => {
      const version = parseVersion(text);
      expect(parseVersion(`v${text}`.slice(1))).toBe(version);
      expect(versionText(version)).toBe(text);
      for (const part of [version, version.prerelease, version.build]) {
        expect(Object.isFrozen(part)).toBe(true);
      }
    }),
  );
});

it('a shared version compares as a version of the library does', () => {
  const range = parseRange('>=1.2.3-beta <400 || 7.x', '/requires');
  fc.assert(
    fc.property(versions, versions, (a, b) => {
      const order = Math.sign(compareVersions(parseVersion(a), parseVersion(b)));
      expect(order).toBe(semver.compare(a, b));
      expect(inRange(parseVersion(a), range)).toBe(
        inRange(new semver.SemVer(a) as ReturnType<typeof parseVersion>, range),
      );
    }),
  );
});

it.each(['1.0', 'v1.0.0', ' 1.0.0', '1.0.0-', '01.0.0', `1.0.0-${'a'.repeat(123)}`])(
  'refuses %j, also the second time',
  (text) => {
    expect(tryParseVersion(text)).toBeUndefined();
    expect(tryParseVersion(text)).toBeUndefined();
  },
);
