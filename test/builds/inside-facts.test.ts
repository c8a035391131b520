import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { unsignedProgram } from '../support/authenticode.ts';
import { tar, temporaryDirectory, zip } from './materialize.ts';

/** What a build states inside: the signature, the version, the keys and publishers that it accepts. */

const FLAG_RUNTIME = 0x10000;

/** A program with one load command, its code signature, as `codesign` writes it. */
function machO(team: string | null, flags: number, signatureAt = 70_000): Buffer {
  const program = Buffer.alloc(signatureAt + 200);
  program.writeUInt32LE(0xfeedfacf, 0);
  program.writeUInt32LE(0x0100000c, 4);
  program.writeUInt32LE(1, 16);
  program.writeUInt32LE(0x1d, 32);
  program.writeUInt32LE(16, 36);
  program.writeUInt32LE(signatureAt, 40);
  program.writeUInt32LE(200, 44);
  const signature = program.subarray(signatureAt);
  signature.writeUInt32BE(0xfade0cc0, 0);
  signature.writeUInt32BE(200, 4);
  signature.writeUInt32BE(1, 8);
  signature.writeUInt32BE(20, 16);
  const directory = signature.subarray(20);
  directory.writeUInt32BE(0xfade0c02, 0);
  directory.writeUInt32BE(0x20500, 8);
  directory.writeUInt32BE(flags, 12);
  if (team !== null) {
    directory.writeUInt32BE(100, 48);
    directory.write(`${team}\0`, 100, 'latin1');
  }
  return program;
}

const PLIST = `<?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "x"><plist><dict>
<key>CFBundleShortVersionString</key>
<string>1.0.0</string>
<key>CFBundleExecutable</key><string>App</string><key>SUPublicEDKey</key><string>KEY=</string></dict></plist>`;

/** `{ CFBundleShortVersionString: '1.0.0', CFBundleExecutable: 'App' }` as a binary property list. */
function binaryPlist(): Buffer {
  const text = (value: string) =>
    Buffer.concat([Buffer.from([0x5f, 0x10, value.length]), Buffer.from(value)]);
  const objects = [
    Buffer.from([0xd2, 1, 2, 3, 4]),
    text('CFBundleShortVersionString'),
    text('CFBundleExecutable'),
    text('1.0.0'),
    text('App'),
  ];
  const magic = Buffer.from('bplist00');
  const offsets = objects.map((_, index) =>
    [magic, ...objects.slice(0, index)].reduce((sum, each) => sum + each.length, 0),
  );
  const body = Buffer.concat([magic, ...objects]);
  const trailer = Buffer.alloc(32);
  trailer[6] = 1;
  trailer[7] = 1;
  trailer.writeBigUInt64BE(5n, 8);
  trailer.writeBigUInt64BE(BigInt(body.length), 24);
  return Buffer.concat([body, Buffer.from(offsets), trailer]);
}

const app = (files: Readonly<Record<string, Buffer | string>>) =>
  Object.entries(files).map(
    ([name, content]) => [`App.app/Contents/${name}`, Buffer.from(content)] as const,
  );

async function read(name: string, content: Buffer) {
  const root = await temporaryDirectory();
  await writeFile(path.join(root, name), content);
  const { artifacts } = await readBuildOutput({
    paths: [`${path.join(root, name)},os=macos,arch=arm64`],
    version: '1.0.0',
  });
  return artifacts[0]?.readInside();
}

describe('an application for macOS states', () => {
  const signed = app({
    CodeResources: 'ticket',
    'Info.plist': PLIST,
    'MacOS/App': machO('ABCDE12345', FLAG_RUNTIME),
  });
  const facts = {
    versionInside: '1.0.0',
    signing: {
      team: 'ABCDE12345',
      hardenedRuntime: true,
      ticket: true,
      trustedKeys: [{ scheme: 'sparkle-ed25519', key: 'KEY=' }],
    },
  };

  it('its team, hardened runtime, ticket, version and key in a zip', async () => {
    expect(await read('App-1.0.0.zip', zip(signed))).toEqual(facts);
  });

  it('the same in a tar archive', async () => {
    expect(await read('App.app.tar.gz', gzipSync(tar(...signed)))).toEqual(facts);
  });

  it('an ad-hoc signature, and a binary Info.plist', async () => {
    const files = app({ 'MacOS/App': machO(null, 2), 'Info.plist': binaryPlist() });
    expect(await read('App-1.0.0.zip', zip(files))).toEqual({
      versionInside: '1.0.0',
      signing: { team: null, hardenedRuntime: false, ticket: false },
    });
  });

  it('nothing in an archive without an application, or one that is cut off', async () => {
    const nothing = {};
    expect(await read('App-1.0.0.zip', zip(app({ 'a.txt': 'x' })))).toEqual(nothing);
    expect(await read('App-1.0.0.zip', zip(signed).subarray(0, 5_000))).toEqual(nothing);
  });

  it.each([1_000, 60_000, 65_000, 65_536, 70_000, 200_000])(
    'its team, wherever its signature begins: after %i bytes',
    async (at) => {
      const program = machO('ABCDE12345', FLAG_RUNTIME, at);
      const files = app({ 'Info.plist': PLIST, 'MacOS/App': program });
      for (const archive of [
        zip(files),
        zip(
          app({ 'Info.plist': PLIST, 'MacOS/App': Buffer.concat([program, Buffer.alloc(90_000)]) }),
        ),
      ]) {
        expect((await read('App-1.0.0.zip', archive))?.signing).toMatchObject({
          team: 'ABCDE12345',
        });
      }
    },
  );

  it('nothing of its signature when that is cut off', async () => {
    const cut = machO('ABCDE12345', FLAG_RUNTIME).subarray(0, 70_010);
    const files = app({ 'Info.plist': PLIST, 'MacOS/App': cut });
    const inside = await read('App-1.0.0.zip', zip(files));
    expect(inside?.signing).toEqual({ ticket: false, trustedKeys: facts.signing.trustedKeys });
  });
});

describe('an installer of electron-builder states', () => {
  const NAME = 'App-Setup-1.0.0.exe';
  const build = async (appUpdate: string | undefined) => {
    const root = await temporaryDirectory();
    await writeFile(path.join(root, NAME), unsignedProgram());
    if (appUpdate !== undefined) {
      const resources = path.join(root, 'win-unpacked/resources');
      await mkdir(resources, { recursive: true });
      await writeFile(path.join(resources, 'app-update.yml'), appUpdate);
    }
    const { artifacts } = await readBuildOutput({
      paths: [root, `${path.join(root, NAME)},arch=x64`],
      version: '1.0.0',
    });
    return (await artifacts[0]?.readInside())?.signing;
  };

  it.each([
    ['publisherName: Acme GmbH\n', ['Acme GmbH']],
    ['publisherName:\n  - CN=Acme\n  - Other\n', ['CN=Acme', 'Other']],
    ['provider: generic\n', []],
  ])('the publishers that it accepts: %j', async (text, acceptedPublishers) => {
    expect(await build(text)).toEqual({ publisher: null, acceptedPublishers });
  });

  it('no publishers without its unpacked folder, or with a configuration that is no YAML', async () => {
    expect(await build(undefined)).toEqual({ publisher: null });
    expect(await build('a: [')).toEqual({ publisher: null });
  });
});
