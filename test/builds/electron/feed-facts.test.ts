import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { BuildOutput } from '../../../src/builds/build-output.ts';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { elf, temporaryDirectory } from '../materialize.ts';

/** electron-builder's feed states facts about a release and its files, which its client reads. */

const version = '1.0.0';

async function read(contents: Record<string, string | Buffer>): Promise<BuildOutput> {
  const root = await temporaryDirectory();
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(join(root, name), content);
  }
  return readBuildOutput({ paths: [root], version });
}

interface Listed {
  readonly bytes: string | Buffer;
  readonly [fact: string]: unknown;
}

const stateOf = ({ bytes, ...facts }: Listed) => ({
  sha512: createHash('sha512').update(bytes).digest('base64'),
  size: Buffer.byteLength(bytes),
  ...facts,
});

/** A feed with more about the release, and about each file. */
function feed(files: Readonly<Record<string, Listed>>, more: object = {}): string {
  const listed = Object.entries(files).map(([url, file]) => ({ url, ...stateOf(file) }));
  return stringify({ version, files: listed, ...more });
}

/** A file with its block map at its end, as electron-builder writes an AppImage or a `.nsis.7z`. */
function withMap(program: Buffer, covered = program.length): { bytes: Buffer; mapSize: number } {
  const files = [{ name: 'file', offset: 0, checksums: ['a'], sizes: [covered] }];
  const map = deflateRawSync(JSON.stringify({ version: '2', files }));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(map.length);
  return { bytes: Buffer.concat([program, map, size]), mapSize: map.length };
}

const APP_IMAGE = 'App-1.0.0.AppImage';

describe('the block map inside an AppImage', () => {
  it('is found without a feed, so that clients can use it', async () => {
    const { bytes, mapSize } = withMap(elf('x64'));
    const { artifacts } = await read({ [APP_IMAGE]: bytes });
    expect(artifacts).toMatchObject([{ facts: { blockMapSize: mapSize } }]);
  });

  it.each([
    ['has none', elf('x64')],
    ['has one of other bytes', withMap(elf('x64'), 12).bytes],
    ['ends with a size above its own', Buffer.concat([elf('x64'), Buffer.alloc(4, 0xff)])],
    ['has a map that cannot be unpacked', Buffer.concat([elf('x64'), Buffer.from([0, 0, 0, 9])])],
  ])('is not claimed for a file that %s', async (_what, bytes) => {
    const { artifacts } = await read({ [APP_IMAGE]: bytes });
    expect(artifacts).toMatchObject([{ facts: {} }]);
    await expect(
      read({
        [APP_IMAGE]: bytes,
        'latest-linux.yml': feed({ [APP_IMAGE]: { bytes, blockMapSize: 9 } }),
      }),
    ).rejects.toThrow(/block map of 9 bytes for .*AppImage, which has no valid block map/);
  });

  it('must have the size that the feed states', async () => {
    const { bytes, mapSize } = withMap(elf('x64'));
    const stated = (blockMapSize: number) =>
      read({
        [APP_IMAGE]: bytes,
        'latest-linux.yml': feed({ [APP_IMAGE]: { bytes, blockMapSize } }),
      });
    expect((await stated(mapSize)).artifacts).toMatchObject([{ facts: { blockMapSize: mapSize } }]);
    await expect(stated(mapSize + 1)).rejects.toThrow(`which has a block map of ${mapSize} bytes`);
  });
});

describe('an installer', () => {
  const name = 'App-Setup-1.0.0.exe';
  const bytes = 'the installer';

  it('keeps its need of admin rights', async () => {
    const listed = feed({ [name]: { bytes, isAdminRightsRequired: true } });
    const { artifacts } = await read({ [name]: bytes, 'latest.yml': listed });
    expect(artifacts).toMatchObject([{ facts: { needsAdminRights: true } }]);
    const without = await read({ [name]: bytes, 'latest.yml': feed({ [name]: { bytes } }) });
    expect(without.artifacts).toMatchObject([{ facts: {} }]);
  });

  it('can be published without the block map that its feed states', async () => {
    const listed = feed({ [name]: { bytes, blockMapSize: 3 } });
    const { artifacts } = await read({ [name]: bytes, 'latest.yml': listed });
    expect(artifacts).toMatchObject([{ companions: [], facts: {} }]);
  });
});

it('a package of a web installer keeps its architecture, block map and need of admin rights', async () => {
  const { bytes, mapSize } = withMap(Buffer.from('the payload of the installer'));
  const web = { bytes: 'web' };
  const file = 'app-1.0.0.nsis.7z';
  const packages = {
    arm64: {
      path: file,
      ...stateOf({ bytes, blockMapSize: mapSize, isAdminRightsRequired: true }),
    },
  };
  const { artifacts } = await read({
    'App Web Setup 1.0.0.exe': 'web',
    [file]: bytes,
    'latest.yml': feed({ 'App Web Setup 1.0.0.exe': web }, { packages }),
  });
  const facts = { blockMapSize: mapSize, needsAdminRights: true };
  expect(artifacts).toMatchObject([{ companions: [{ kind: 'package', arch: 'arm64', facts }] }]);
});

describe('the name and the notes of a release', () => {
  const name = 'App-Setup-1.0.0.exe';
  const described = async (more: object) =>
    (await read({ [name]: 'exe', 'latest.yml': feed({ [name]: { bytes: 'exe' } }, more) }))
      .described;

  it.each([
    [{}, null, null],
    [{ releaseName: 'Autumn', releaseNotes: 'Faster.\n' }, 'Autumn', 'Faster.\n'],
    [{ releaseName: '', releaseNotes: '  ' }, null, null],
    [{ releaseName: ' Autumn\n\u0007 2026\u0085' }, 'Autumn 2026', null],
    [{ releaseName: '😀'.repeat(200) }, '😀'.repeat(200), null],
    [{ releaseName: 1.5, releaseNotes: null }, '1.5', null],
    [{ releaseNotes: [{ version: '1.0.0', note: 'Faster.' }] }, null, 'Faster.'],
    [
      {
        releaseNotes: [
          { version: '1.0.0', note: 'Faster.' },
          { version: '0.9.9', note: null },
          { version: '0.9.8', note: '- Smaller.' },
        ],
      },
      null,
      '## 1.0.0\n\nFaster.\n\n## 0.9.8\n\n- Smaller.',
    ],
  ])('of %j', async (more, expectedName, notes) => {
    expect(await described(more)).toEqual({ name: expectedName, notes });
  });

  it('are refused when every client would download too much', async () => {
    await expect(described({ releaseNotes: 'a'.repeat(64 * 1024 + 1) })).rejects.toThrow(
      /its releaseNotes have 65537 bytes/,
    );
    await expect(described({ releaseName: 'a'.repeat(201) })).rejects.toThrow(
      /its releaseName has 201 characters/,
    );
  });
});
