import { describe, expect, it } from 'vitest';
import { checkNamed, type NamedDigests } from '../../../src/features/trust/named-files.ts';

const hex = (digit: string): string => digit.repeat(64);

const DRAFT = {
  manifest: hex('a'),
  files: [
    { name: 'App.exe', sha256: hex('1') },
    { name: 'App.exe.blockmap', sha256: hex('2') },
    { name: 'latest.yml', sha256: hex('3') },
  ].map((file) => ({
    ...file,
    kind: 'artifact' as const,
    of: null,
    target: null,
    format: null,
    size: 1,
  })),
};
const ALL = DRAFT.files.map(({ name, sha256 }) => ({ name, sha256 }));
const [FIRST, ...OTHERS] = ALL as [(typeof ALL)[number], ...typeof ALL];

describe('the digests that a script names', () => {
  it.each<[string, NamedDigests]>([
    ['none', {}],
    ['the manifest', { manifest: hex('a') }],
    ['every file, in any order', { sha256: [...OTHERS, FIRST] }],
    ['a file twice', { sha256: [...ALL, FIRST] }],
    ['both', { manifest: hex('a'), sha256: ALL }],
  ])('are right: %s', (_name, named) => {
    expect(() => checkNamed(DRAFT, named)).not.toThrow();
  });

  it.each<[string, NamedDigests, string]>([
    [
      'another manifest',
      { manifest: hex('b') },
      `The manifest of the draft has the SHA-256 ${hex('a')}, and --manifest names ${hex('b')}.`,
    ],
    ['another manifest with the right files', { manifest: hex('b'), sha256: ALL }, hex('b')],
    [
      'one file left out',
      { sha256: OTHERS },
      'The draft also has these files, which no --sha256 names: App.exe.',
    ],
    [
      'one file left out beside the right manifest',
      { manifest: hex('a'), sha256: OTHERS },
      'no --sha256 names: App.exe.',
    ],
    [
      'a companion and a document left out',
      { sha256: [FIRST] },
      'names: App.exe.blockmap, latest.yml.',
    ],
    ['no file', { sha256: [] }, 'names: App.exe, App.exe.blockmap, latest.yml.'],
    [
      'another digest of a file',
      { sha256: [{ name: 'App.exe', sha256: hex('9') }, ...OTHERS] },
      `App.exe in the draft has the SHA-256 ${hex('1')}, and --sha256 names ${hex('9')}.`,
    ],
    [
      'the right digest and another one of the same file',
      { sha256: [...ALL, { name: 'App.exe', sha256: hex('9') }] },
      `--sha256 names ${hex('9')}.`,
    ],
    [
      'a file that the draft lacks',
      { sha256: [...ALL, { name: 'App.dmg', sha256: hex('1') }] },
      'The draft has no file App.dmg, which --sha256 names.',
    ],
    [
      'the digests of two files swapped',
      { sha256: [{ name: 'App.exe', sha256: hex('2') }, ...OTHERS] },
      'App.exe in the draft has',
    ],
  ])('are refused: %s', (_name, named, message) => {
    expect(() => checkNamed(DRAFT, named)).toThrow(
      expect.objectContaining({
        code: 'release_differs',
        message: expect.stringContaining(message),
      }),
    );
    expect(() => checkNamed(DRAFT, named)).toThrow('Nothing was signed.');
  });
});
