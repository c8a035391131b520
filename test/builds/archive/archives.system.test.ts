import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readMacArch } from '../../../src/builds/archive/mac-application.ts';
import { readNupkg } from '../../../src/builds/archive/nupkg.ts';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { machO, pe, tar, tarHeader, temporaryDirectory, zip } from '../materialize.ts';

const PROGRAM = 'App.app/Contents/MacOS/App';

async function saved(name: string, bytes: Buffer): Promise<string> {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, bytes);
  return path;
}

describe('a macOS application in an archive', () => {
  const arm64 = [PROGRAM, machO('arm64')] as const;
  const helper = ['App.app/Contents/MacOS/Helper', machO('x64')] as const;
  const other = ['App.app/Contents/Info.plist', Buffer.from('plist')] as const;

  test.each([
    ['one program', [other, arm64], 'arm64'],
    ['two programs that differ', [arm64, helper], undefined],
    ['no program', [other], undefined],
  ])('with %s', async (_what, files, arch) => {
    expect(await readMacArch(await saved('a.zip', zip(files)), 'zip')).toEqual({
      arch,
      problem: undefined,
    });
    const archive = await saved('App.app.tar.gz', gzipSync(tar(...files)));
    expect(await readMacArch(archive, 'tar.gz')).toEqual({ arch, problem: undefined });
  });

  test('is read from a zip64 too', async () => {
    const path = await saved('a.zip', zip([other, arm64], true));
    expect(await readMacArch(path, 'zip')).toEqual({ arch: 'arm64', problem: undefined });
  });

  test('is read with names of more than 100 characters', async () => {
    const name = `${'long/'.repeat(40)}${PROGRAM}`;
    const attribute = ` path=${name}\n`;
    const record = `${attribute.length + 3}${attribute}`;
    const extended = tarHeader('PaxHeader', record.length);
    extended.write('x', 156);
    extended.fill(' ', 148, 156);
    const checksum = extended.reduce((sum, byte) => sum + byte, 0);
    extended.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
    const pax = Buffer.concat([extended, Buffer.from(record.padEnd(512, '\0'))]);
    const archive = gzipSync(Buffer.concat([pax, tar(['short', machO('x64')])]));
    expect(await readMacArch(await saved('a.app.tar.gz', archive), 'tar.gz')).toMatchObject({
      arch: 'x64',
    });
  });
});

describe('a corrupt archive', () => {
  const whole = gzipSync(tar([PROGRAM, machO('arm64')], ['rest', Buffer.alloc(100_000)]));

  test.each([
    ['App.app.tar.gz', Buffer.from('x'), /not a gzipped tar archive that can be read/],
    ['App.app.tar.gz', gzipSync(Buffer.alloc(2000, 'x')), /not a gzipped tar archive/],
    ['App.app.tar.gz', whole.subarray(0, 40), /not a gzipped tar archive/],
    // The parser of tar would unpack the second layer without a limit.
    ['App.app.tar.gz', gzipSync(whole), /it is compressed twice/],
    ['App.app.zip', Buffer.from('x'), /not a zip archive that can be read/],
    ['App.app.zip', zip([[PROGRAM, machO('x64')]]).subarray(0, -9), /not a zip archive/],
    ['App.nupkg', Buffer.from('x'), /not a NuGet package that can be read/],
  ])('%s is refused with the reason', async (name, bytes, message) => {
    const path = await saved(name, bytes);
    const reading = readBuildOutput({ paths: [`${path},os=macos`], version: '1.0.0' });
    await expect(reading).rejects.toMatchObject({
      code: 'invalid_artifact',
      message: expect.stringMatching(message),
    });
    await expect(reading).rejects.toThrow(/its arch .* is unclear.*arch=…/);
  });

  test('is ignored when something else states the architecture', async () => {
    const path = await saved('App_aarch64.app.tar.gz', Buffer.from('x'));
    const { artifacts } = await readBuildOutput({ paths: [path], version: '1.0.0' });
    expect(artifacts).toMatchObject([{ arch: 'arm64' }]);
  });
});

describe('a hostile archive', () => {
  test('of zeros behind the programs is read no further than the programs', async () => {
    const sound = tar([PROGRAM, machO('arm64')], ['App.app/Contents/rest', Buffer.alloc(1024)]);
    const zeros = Buffer.alloc(64 * 1024 * 1024);
    const archive = await saved('a.app.tar.gz', gzipSync(Buffer.concat([sound, zeros])));
    expect(await readMacArch(archive, 'tar.gz')).toEqual({ arch: 'arm64', problem: undefined });
  });

  test('with a large program is read in pieces', async () => {
    const bomb = Buffer.concat([machO('arm64'), Buffer.alloc(64 * 1024 * 1024)]);
    const archive = await saved('a.app.tar.gz', gzipSync(tar([PROGRAM, bomb])));
    expect(await readMacArch(archive, 'tar.gz')).toEqual({ arch: 'arm64', problem: undefined });
  });

  test('that states a size of terabytes is not read', async () => {
    const header = tarHeader(PROGRAM, 1024 ** 2 * 1000);
    header.writeUInt8(0x80, 124);
    const archive = gzipSync(Buffer.concat([header, machO('x64'), Buffer.alloc(512)]));
    expect(
      (await readMacArch(await saved('a.app.tar.gz', archive), 'tar.gz')).arch,
    ).toBeUndefined();
  });

  test('that is a NuGet package gives its nuspec and its programs', async () => {
    const nuspec = Buffer.from('<metadata><version>1.0.0</version></metadata>');
    const path = await saved(
      'App.nupkg',
      zip([
        ['lib/net45/huge.dat', Buffer.alloc(1024 * 1024)],
        ...Array.from({ length: 40 }, (_, n) => [`lib/net45/${n}.exe`, pe('arm64')] as const),
        ['App.nuspec', nuspec],
      ]),
    );
    expect(await readNupkg(path)).toMatchObject({ version: '1.0.0', machine: { arch: 'arm64' } });
  });

  test('that is a zip with wrong sizes is refused', async () => {
    const bytes = zip([[PROGRAM, deflateRawSync(Buffer.alloc(100_000))]]);
    // The method of the entry: deflated, and not of the size that it states.
    const record = bytes.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'));
    bytes.writeUInt16LE(8, record + 10);
    const { problem } = await readMacArch(await saved('a.zip', bytes), 'zip');
    expect(problem).toMatch(/not a zip archive that can be read/);
  });
});
