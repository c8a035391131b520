import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpdaterOptions } from '../../src/client/types.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { type ClientWorld, checked, openClientWorld, type Rule } from './world.ts';

/** A hostile service offers a file that the keys of the channel signed, but for another format or a newer system. */

const temporary = await makeTemporaryDirectory();
let world: ClientWorld;

beforeAll(async () => {
  world = await openClientWorld();
  const make = (filename: string, build: object) =>
    makeArtifact(temporary.path, { filename, content: filename, ...build });
  const artifacts = [
    await make('App-Setup.exe', { format: 'nsis' }),
    await make('App-Web.exe', { format: 'nsis-web' }),
    await make('App.msi', { format: 'msi' }),
    await make('App-arm64.exe', { format: 'nsis', arch: 'arm64', minimumOsVersion: '10.0.22000' }),
    await make('App.dmg', { platform: 'macos', format: 'dmg' }),
    await make('App-mac-arm64.zip', {
      platform: 'macos',
      arch: 'arm64',
      format: 'zip',
      minimumOsVersion: '14.0',
    }),
    await make('App.pacman', { platform: 'linux', format: 'pacman' }),
    await make('App.tar.xz', { platform: 'linux', arch: 'arm64', format: 'tar.xz' }),
  ];
  await world.signed.publish({ version: '1.1.0', artifacts });
});
afterAll(async () => {
  await world.close();
  await temporary.remove();
});

/** The service answers as if the client had asked for something else. */
const asIf =
  (other: object): Rule =>
  async (url, init) => {
    if (!url.endsWith('check-update')) return undefined;
    const body = JSON.stringify({ ...JSON.parse(String(init?.body)), ...other });
    return fetch(url, { ...init, body });
  };

const ARM: Partial<UpdaterOptions> = { arch: 'arm64', osVersion: '10.0.19045' };
const MAC: Partial<UpdaterOptions> = { platform: 'darwin', arch: 'arm64' };

describe('an offer that does not fit', () => {
  it.each<[string, Partial<UpdaterOptions>, object]>([
    ['another format than the installed one', { format: 'nsis' }, { format: 'msi' }],
    ['a web installer, for a client that names no format', {}, { format: 'nsis-web' }],
    ['a build for a newer Windows', { ...ARM, format: 'nsis' }, { os_version: '10.0.26100' }],
    ['a build for a newer macOS', { ...MAC, osVersion: '13.6' }, { os_version: '15.0' }],
    ['a build with a minimum, for an unknown system', MAC, { os_version: '15.0' }],
  ])('%s', async (_name, given, other) => {
    expect(await checked(await world.options(given, asIf(other)))).toBe('offer_not_signed');
  });
});

describe('what an honest service offers', () => {
  it.each<[string, Partial<UpdaterOptions>]>([
    ['the usual format', {}],
    ['a format that the client names', { format: 'msi' }],
    ['a format by another name', { format: 'MSI' }],
    ['a web installer, for a client that asks for it', { format: 'nsis-web' }],
    ['the oldest system that the build runs on', { arch: 'arm64', osVersion: '10.0.22000' }],
    ['a disk image', { platform: 'darwin' }],
    ['a newer macOS', { ...MAC, osVersion: '14.6.1' }],
    ['a package that is not usual', { platform: 'linux' }],
    ['an archive that is not usual', { platform: 'linux', arch: 'arm64' }],
  ])('%s', async (_name, given) => {
    expect(await checked(await world.options(given))).toBe('1.1.0');
  });
});
