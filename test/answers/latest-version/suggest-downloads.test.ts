import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type SuggestionQuery,
  suggestDownloads,
} from '../../../src/answers/latest-version/suggest-downloads.ts';
import { admittedArches } from '../../../src/domain/compatible-arches.ts';
import { type Arch, type Format, PLATFORMS, type Platform } from '../../../src/domain/platform.ts';

interface Listed {
  readonly artifact: {
    readonly platform: Platform;
    readonly arch: Arch;
    readonly format: Format;
    readonly sha256: string;
    readonly filename: string;
  };
}

/** @param text `macos arm64 dmg` */
function file(text: string): Listed {
  const [platform, arch, format] = text.split(' ') as [Platform, Arch, Format];
  return { artifact: { platform, arch, format, sha256: text, filename: text } };
}

/** Lists as the service does: for an architecture, only files that run on it, best first. */
function listOf(files: readonly Listed[], platform: Platform) {
  return async (arch: Arch | null): Promise<readonly Listed[]> => {
    if (arch === null) return files;
    return admittedArches(platform, arch).flatMap((admitted) =>
      files.filter(({ artifact }) => artifact.platform === platform && artifact.arch === admitted),
    );
  };
}

async function suggested(
  listed: readonly string[],
  query: Pick<SuggestionQuery, 'platform' | 'arch'> & Partial<SuggestionQuery>,
): Promise<readonly string[]> {
  const files = await suggestDownloads(
    { formats: [], ...query },
    listOf(listed.map(file), query.platform),
  );
  return files.map(({ artifact }) => artifact.filename);
}

const ALL = [
  'windows x64 nsis',
  'windows x64 msi',
  'windows arm64 nsis',
  'macos arm64 dmg',
  'macos arm64 zip',
  'macos x64 dmg',
  'linux x64 appimage',
  'linux x64 deb',
  'linux arm64 deb',
];
const MAC = { platform: 'macos', arch: null } as const;

describe('suggestDownloads', () => {
  it.each<[Platform, Arch | null, readonly string[]]>([
    ['windows', 'x64', ['windows x64 nsis']],
    ['windows', 'arm64', ['windows arm64 nsis']],
    ['windows', null, ['windows x64 nsis']],
    ['macos', 'arm64', ['macos arm64 dmg']],
    ['macos', 'x64', ['macos x64 dmg']],
    ['macos', null, ['macos arm64 dmg', 'macos x64 dmg']],
    ['linux', 'arm64', ['linux arm64 deb']],
    ['linux', 'ia32', []],
    ['linux', null, ['linux x64 appimage']],
  ])('offers %s %s what runs there', async (platform, arch, expected) => {
    expect(await suggested(ALL, { platform, arch })).toEqual(expected);
  });

  it('offers a Mac of unknown processor one file when it is for both', async () => {
    expect(await suggested(['macos universal dmg', 'macos arm64 dmg'], MAC)).toEqual([
      'macos universal dmg',
    ]);
    // Rosetta runs it.
    expect(await suggested(['macos x64 dmg'], MAC)).toEqual(['macos x64 dmg']);
    expect(await suggested(['macos arm64 dmg'], MAC)).toEqual(['macos arm64 dmg']);
    expect(await suggested(['windows x64 nsis'], MAC)).toEqual([]);
  });

  it('prefers the formats of the website, and leaves no machine without a file for them', async () => {
    const formats = ['msi', 'deb', 'zip'];
    expect(await suggested(ALL, { platform: 'windows', arch: null, formats })).toEqual([
      'windows x64 msi',
    ]);
    expect(await suggested(ALL, { platform: 'linux', arch: 'x64', formats })).toEqual([
      'linux x64 deb',
    ]);
    expect(await suggested(ALL, { ...MAC, formats })).toEqual(['macos arm64 zip', 'macos x64 dmg']);
  });

  it('offers nothing that only runs on another processor than the usual one', async () => {
    expect(await suggested(['linux arm64 deb'], { platform: 'linux', arch: null })).toEqual([]);
    expect(await suggested(['windows ia32 nsis'], { platform: 'windows', arch: null })).toEqual([
      'windows ia32 nsis',
    ]);
  });
});

describe('the piece that websites copy', () => {
  const html = readFileSync(
    path.resolve(import.meta.dirname, '../../../docs/website/download.html'),
    'utf8',
  );
  const rule = /( {2}const USUAL =[\s\S]*?)\n {2}function show/.exec(html)?.[1];
  const choose = new Function('latest', `${rule}\nreturn choose;`) as (
    latest: (query: string) => Promise<readonly Listed['artifact'][]>,
  ) => (
    all: Promise<readonly Listed['artifact'][]>,
    here: { readonly platform: Platform; readonly arch: Arch | undefined },
  ) => Promise<readonly Listed['artifact'][]>;

  it('chooses the same files', async () => {
    const arches = [undefined, 'x64', 'arm64', 'ia32', 'armv7'] as const;
    const texts = [...ALL, 'macos universal dmg', 'windows ia32 nsis', 'linux armv7 deb'];
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(texts),
        fc.constantFrom(...PLATFORMS),
        fc.constantFrom(...arches),
        async (listed, platform, arch) => {
          const list = listOf(listed.map(file), platform);
          const artifacts = async (of: Arch | null) =>
            (await list(of)).map((each) => each.artifact);
          const inPiece = choose((query) =>
            artifacts(new URLSearchParams(query).get('arch') as Arch | null),
          );
          const found = await inPiece(artifacts(null), { platform, arch });
          const expected = await suggested(listed, { platform, arch: arch ?? null });
          expect(found.map(({ filename }) => filename)).toEqual(expected);
        },
      ),
    );
  });
});
