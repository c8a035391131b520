import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { machO, pe, tar, temporaryDirectory, zip } from '../materialize.ts';

/** An archive that names a file twice: clients may install either, and `publish` would read each. */

const PLIST = 'App.app/Contents/Info.plist';
const PROGRAM = 'App.app/Contents/MacOS/App';
const plist = Buffer.from('<plist><dict><key>CFBundleExecutable</key><string>App</string></dict>');
const nuspec = Buffer.from('<metadata><id>App</id><version>1.0.0</version></metadata>');
const manifest = Buffer.from('<Package><Identity ProcessorArchitecture="x64"/></Package>');

/** Reads a build as `publish` does, with what its packages state inside. */
async function read(name: string, bytes: Buffer, statement = '') {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, bytes);
  const { artifacts } = await readBuildOutput({ paths: [`${path}${statement}`], version: '1.0.0' });
  return Promise.all(artifacts.map((artifact) => artifact.readInside()));
}

type Files = Parameters<typeof zip>[0];
const mac: Files = [
  [PLIST, plist],
  [PROGRAM, machO('arm64')],
];
const packageOf: Files = [
  ['App.nuspec', nuspec],
  ['lib/net45/App.exe', pe('x64')],
];

describe('an archive with two files of one name is refused', () => {
  it.each<[string, string, Files, string]>([
    ['a program', 'App.zip', [...mac, [PROGRAM, machO('x64')]], PROGRAM],
    ['a property list', 'App.zip', [...mac, [PLIST, plist]], PLIST],
    [
      'a property list in another case',
      'App.zip',
      [...mac, ['App.app/Contents/INFO.plist', plist]],
      'App.app/Contents/INFO.plist',
    ],
    ['a name with a dot before it', 'App.zip', [...mac, [`./${PLIST}`, plist]], `./${PLIST}`],
    [
      'a program in another case',
      'App.zip',
      [...mac, ['App.app/Contents/MacOS/APP', machO('x64')]],
      'App.app/Contents/MacOS/APP',
    ],
    ['a nuspec', 'App-1.0.0-full.nupkg', [...packageOf, ['App.nuspec', nuspec]], 'App.nuspec'],
    [
      'a program of a package',
      'App-1.0.0-full.nupkg',
      [...packageOf, ['lib/net45/App.exe', pe('arm64')]],
      'lib/net45/App.exe',
    ],
    [
      'a manifest of MSIX',
      'App.msix',
      [
        ['AppxManifest.xml', manifest],
        ['appxmanifest.xml', manifest],
      ],
      'appxmanifest.xml',
    ],
  ])('%s', async (_what, name, files, entry) => {
    await expect(read(name, zip(files), name.endsWith('.zip') ? ',os=macos' : '')).rejects.toThrow(
      `${name}: it has two files with the name ${JSON.stringify(entry)}, and clients may install either of them. Build again.`,
    );
  });

  it('also when the publisher states the architecture', async () => {
    const archive = zip([...mac, [PROGRAM, machO('x64')]]);
    await expect(read('App.zip', archive, ',os=macos,arch=arm64')).rejects.toMatchObject({
      code: 'invalid_artifact',
      message: expect.stringContaining(`App.zip: it has two files with the name "${PROGRAM}"`),
    });
  });

  it('in a tar archive', async () => {
    const archive = gzipSync(tar(...mac, [PROGRAM, machO('x64')]));
    await expect(read('App_aarch64.app.tar.gz', archive)).rejects.toThrow(
      `App_aarch64.app.tar.gz: it has two files with the name "${PROGRAM}"`,
    );
  });

  it('in another form of Unicode', async () => {
    const folder = 'App.app/Contents/MacOS';
    const names = [`${folder}/\u00e9`, `${folder}/e\u0301`];
    const files = names.map((name) => [name, machO('x64')] as const);
    const archive = gzipSync(tar([PLIST, plist], ...files));
    await expect(read('App_x64.app.tar.gz', archive)).rejects.toThrow('two files with the name');
  });

  it('before it is read 60,000 times', async () => {
    const archive = naming(60_000, PROGRAM, machO('arm64'));
    await expect(read('App.zip', archive, ',os=macos,arch=arm64')).rejects.toThrow('two files');
    const bomb = naming(60_000, 'App.nuspec', nuspec);
    await expect(read('App-1.0.0-full.nupkg', bomb)).rejects.toThrow('two files');
  });
});

describe('an archive is read', () => {
  it('with two files of one name that publishing does not read', async () => {
    const other = ['App.app/Contents/Resources/a.txt', Buffer.from('a')] as const;
    const [inside] = await read('App.zip', zip([...mac, other, other]), ',os=macos');
    expect(inside?.signing).toMatchObject({ ticket: false });
  });

  it('by its first nuspec, without the others', async () => {
    const files: Files = [...packageOf, ['Other.nuspec', Buffer.alloc(70_000)]];
    await expect(read('App-1.0.0-full.nupkg', zip(files))).resolves.toHaveLength(1);
  });
});

/** A zip with one file, whose list names it `count` times. */
function naming(count: number, name: string, content: Buffer): Buffer {
  const once = zip([[name, content]]);
  const listAt = once.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'));
  const endAt = once.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const record = once.subarray(listAt, endAt);
  const end = Buffer.from(once.subarray(endAt));
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(record.length * count, 12);
  return Buffer.concat([
    once.subarray(0, listAt),
    Buffer.alloc(record.length * count, record),
    end,
  ]);
}
