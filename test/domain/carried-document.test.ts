import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCarried, parseUpdateInfoName } from '../../src/domain/carried-document.ts';
import type { Arch } from '../../src/domain/platform.ts';
import { parseLooseVersion, tryParseVersion, versionText } from '../../src/domain/version.ts';

/** Which signed document a client gets, and the versions that installed applications send. */

const find = (
  names: readonly string[],
  platform: 'windows' | 'macos' | 'linux',
  arch: Arch | null,
) =>
  findCarried(
    names.map((name) => ({ name })),
    { platform, arch },
  )?.name;

describe('findCarried', () => {
  const all = ['latest.yml', 'latest-mac.yml', 'latest-linux.yml', 'latest-linux-arm64.yml'];

  it.each([
    ['windows', null, 'latest.yml'],
    ['windows', 'arm64', 'latest.yml'],
    ['macos', 'x64', 'latest-mac.yml'],
    ['linux', 'x64', 'latest-linux.yml'],
    ['linux', 'arm64', 'latest-linux-arm64.yml'],
    ['linux', 'armv7', undefined],
  ] as const)('%s %s gets %s', (platform, arch, name) => {
    expect(find(all, platform, arch)).toBe(name);
  });

  it.each(['latest-linux-arm.yml', 'latest-linux-armv7l.yml'])('armv7 gets %s', (name) => {
    expect(find([name], 'linux', 'armv7')).toBe(name);
  });

  it('takes the document of any channel, and that of latest before others', () => {
    expect(find(['beta.yml'], 'windows', null)).toBe('beta.yml');
    expect(find(['alpha.yml', 'latest.yml'], 'windows', null)).toBe('latest.yml');
    expect(find(['my-team-mac.yml'], 'macos', 'arm64')).toBe('my-team-mac.yml');
  });

  it('never gives a machine the document of another platform or architecture', () => {
    const name = fc
      .tuple(
        fc.constantFrom('latest', 'beta', 'early-birds'),
        fc.constantFrom('', '-mac', '-linux', '-linux-arm64', '-linux-ia32', '-linux-mips'),
      )
      .map(([channel, suffix]) => `${channel}${suffix}.yml`);
    const machine = fc.record({
      platform: fc.constantFrom('windows' as const, 'macos' as const, 'linux' as const),
      arch: fc.constantFrom('x64' as const, 'arm64' as const, 'ia32' as const, 'armv7' as const),
    });
    fc.assert(
      fc.property(fc.array(name), machine, (names, { platform, arch }) => {
        const found = find(names, platform, arch);
        if (found === undefined) return;
        const audience = parseUpdateInfoName(found);
        expect(audience?.platform).toBe(platform);
        if (platform === 'linux') expect(audience?.arch).toBe(arch);
      }),
    );
  });
});

describe('parseLooseVersion', () => {
  it('is strict semver for every text that it accepts, and keeps strict versions', () => {
    const digits = fc.array(fc.nat(), { maxLength: 6 }).map((numbers) => numbers.join('.'));
    fc.assert(
      fc.property(fc.oneof(digits, fc.string()), (text) => {
        const version = parseLooseVersion(text);
        const strict = tryParseVersion(text);
        if (strict !== undefined) expect(version).toEqual(strict);
        if (version !== undefined) {
          expect(tryParseVersion(versionText(version))).toEqual(version);
        }
      }),
    );
  });
});
