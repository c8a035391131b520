import { describe, expect, it } from 'vitest';
import { countLicenses, findUnknownLicenses } from '../../scripts/maintaining/license-kinds.ts';
import { BUILT_IN } from '../../scripts/maintaining/production-lock.ts';
import { readProjectFile } from '../../scripts/maintaining/project-files.ts';

const lockOf = (license: string | undefined, dev = false): string =>
  JSON.stringify({
    packages: {
      '': { license: 'Apache-2.0' },
      'node_modules/x': { version: '1.0.0', license, dev },
    },
  });

describe('the licences of packages', () => {
  it('are of accepted kinds', () => {
    const lock = readProjectFile('package-lock.json');
    expect(findUnknownLicenses(lock)).toEqual([]);
    const [[, installed = []] = []] = countLicenses(lock);
    expect(installed[0]?.[0]).toBe('MIT');
  });

  it.each([
    undefined,
    'GPL-3.0-or-later',
    'MIT AND GPL-3.0-only',
    'SEE LICENSE IN LICENSE',
    'MPL-2.0',
  ])('%s is found in a package that users install', (license) => {
    expect(findUnknownLicenses(lockOf(license))).toEqual([`x 1.0.0: ${license ?? 'no licence'}`]);
  });

  it.each(['MIT', '(MIT OR EUPL-1.1+)', 'MIT AND BSD-3-Clause'])('%s is accepted', (license) => {
    expect(findUnknownLicenses(lockOf(license))).toEqual([]);
  });

  it('may be MPL-2.0 for tools, but not for what a build puts into the package', () => {
    expect(findUnknownLicenses(lockOf('MPL-2.0', true))).toEqual([]);
    // esbuild puts the code of these developers' packages into files that users get.
    const { packages } = JSON.parse(readProjectFile('package-lock.json'));
    const built = BUILT_IN.map((name) => packages[`node_modules/${name}`]);
    expect(built.map(({ license }) => license)).toEqual(['MIT', 'MIT', 'MIT']);
  });
});
